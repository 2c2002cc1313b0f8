"""Where a roadmap lives: its repository, settings and state directory."""
