"""What is worth a look in a roadmap before money is spent on it."""
