"""A roadmap's bytes to tasks."""
