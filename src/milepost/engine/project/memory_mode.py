"""What the mode of a memory allows: `on`, `read-only` or `off`, by milepost.toml or by the environment."""

from __future__ import annotations

import os

from milepost.core.errors import Misuse

MODE_VARIABLE = "MILEPOST_MEMORY"


def require_writing(mode: str, *, correcting: bool = False) -> None:
    """Where the memory is off nothing is written; where it is only read, people may still correct it."""
    if mode == "on" or (correcting and mode == "read-only"):
        return
    if os.environ.get(MODE_VARIABLE):
        raise Misuse(f"the memory is {mode}, set by {MODE_VARIABLE} in the environment", f"unset {MODE_VARIABLE}")
    raise Misuse(
        f"the memory of this project is {mode}, set in milepost.toml", 'set mode = "on" under [memory] in milepost.toml'
    )


def why_silent(mode: str, is_there: bool) -> tuple[str, ...]:
    """Why attempts are told nothing, whatever they are about; empty where they may be told something."""
    if mode == "off":
        by = f"{MODE_VARIABLE} in the environment" if os.environ.get(MODE_VARIABLE) else "[memory] mode"
        return (f"the memory is off, set by {by}: attempts get no lessons",)
    return () if is_there else ("the memory is empty",)
