"""What an agent is shown of the repository."""
