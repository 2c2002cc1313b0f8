"""Values of the memory as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def to_json(value: object) -> Any:
    """A value of the memory, such as an episode or a lesson, as `milepost memory … --json` prints it."""
    from milepost.memory.store.as_json import plain

    return plain(value)
