"""Questions to people, and what they ask of a run."""
