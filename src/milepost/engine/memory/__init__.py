"""What runs remember, and what people do with it."""
