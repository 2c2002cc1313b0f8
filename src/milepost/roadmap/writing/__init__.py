"""A new roadmap as Markdown."""
