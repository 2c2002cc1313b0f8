"""Building artifacts and deploying them."""
