"""How a candidate is verified."""
