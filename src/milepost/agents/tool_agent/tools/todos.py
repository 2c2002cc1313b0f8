"""What a model has noted that is to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

STATES = ("pending", "in_progress", "completed")
MOST_TODOS = 100
LONGEST_TODO = 500

_SIGNS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}


def listed(todos: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """A list that fits its schema, as lines; longer ones are cut."""
    return tuple(f"{_SIGNS[todo['status']]} {_line(todo['content'])}" for todo in todos[:MOST_TODOS])


def _line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_TODO]
