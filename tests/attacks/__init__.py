"""Attacks on the sandbox, each first tried without one: what does not work bare proves nothing when it is held."""
