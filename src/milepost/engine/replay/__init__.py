"""A finished run, recorded and done again."""
