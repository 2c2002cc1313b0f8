"""Lessons: learnt from what was verified, believed and dropped by what they did."""
