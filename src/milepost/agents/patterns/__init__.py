"""Work that needs no model: patterns that write files from inputs."""
