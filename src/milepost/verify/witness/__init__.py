"""Python's tests, run so that what they came to cannot be forged by the code they run."""
