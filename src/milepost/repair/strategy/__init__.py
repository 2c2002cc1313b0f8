"""What is done about a failed attempt."""
