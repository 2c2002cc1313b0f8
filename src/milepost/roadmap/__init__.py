"""ROADMAP.md to tasks and back: read, tick."""
