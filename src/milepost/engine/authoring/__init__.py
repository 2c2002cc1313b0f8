"""Writing and changing roadmaps."""
