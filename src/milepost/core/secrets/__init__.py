"""What is a secret, and text without it."""
