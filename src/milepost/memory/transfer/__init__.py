"""Memory as files: exported, imported; what is forgotten."""
