"""Real agent programs, installed into a folder of their own, for tests that drive them against a scripted model."""
