"""Programs that run in the sandbox, with nothing but the standard library."""
