"""What an episode was worth, and what comes again in episodes."""
