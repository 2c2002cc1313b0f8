"""Detached runs: each in a process of its own, which outlives the one that started it."""
