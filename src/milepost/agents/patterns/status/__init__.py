"""The patterns that write a page about a project: what is implemented, what is automated."""
