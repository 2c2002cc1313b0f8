"""Which tests a `Verify:` line selects, and what they come to when the engine runs them itself."""
