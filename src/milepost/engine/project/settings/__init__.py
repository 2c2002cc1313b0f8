"""The settings of milepost.toml, one module a group of sections."""
