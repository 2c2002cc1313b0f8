"""Events: told, kept, followed, sent to a collector."""
