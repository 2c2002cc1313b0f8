"""What is remembered of attempts."""
