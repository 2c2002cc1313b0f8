"""The pattern config_setup: a configuration file, its schema, a typed loader and tests."""
