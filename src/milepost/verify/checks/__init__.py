"""The checks, one a module: each puts one question to a candidate."""
