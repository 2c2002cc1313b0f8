"""What an agent is shown of the repository, within a budget of tokens."""
