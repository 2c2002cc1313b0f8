"""Watching: from looks at a target to what is done about it, and what is written down."""
