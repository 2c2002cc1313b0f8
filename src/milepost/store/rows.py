"""What goes to a database and comes from it: a statement with its values, and rows."""

from __future__ import annotations

from typing import Any

Row = tuple[Any, ...]
Statement = tuple[str, tuple[object, ...]]
