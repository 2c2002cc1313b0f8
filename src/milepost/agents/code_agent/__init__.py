"""The code agent: a model writes Python, the sandbox runs it, and variables stay from step to step."""
