"""The project's own tests: found, run, compared with how they were at the base."""
