"""The tools, a module for each family; every one is a function whose signature is its schema."""
