"""Folders of a project that hold nobody's source. What walks over one says what it adds to these or leaves out."""

from __future__ import annotations

# What tools keep under a name that is theirs alone. What runs inside the sandbox has this list of its own.
TOOLS = frozenset({".git", ".venv", "__pycache__", "node_modules"})
# With what is installed under a name that a project could use too.
NOT_SOURCE = TOOLS | {"site-packages", "venv"}
BUILT = frozenset({"build", "dist", "target"})
