"""The rows of the memory: tables, and what is written to and read from them."""
