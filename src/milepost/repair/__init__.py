"""What is done about a failed verdict."""
