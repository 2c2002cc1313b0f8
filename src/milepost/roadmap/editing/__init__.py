"""Single tasks changed in place: every other byte stays."""
