"""What is written down of a run: its values, and the tables they are kept in."""
