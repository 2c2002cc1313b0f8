"""The pattern module_creation: a new module with tests that pass."""
