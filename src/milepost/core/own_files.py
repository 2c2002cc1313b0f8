"""The names of Milepost's own files in a project."""

from __future__ import annotations

SETTINGS_FILE = "milepost.toml"
