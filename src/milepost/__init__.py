"""Milepost turns a ROADMAP.md into verified commits.

The library is what is listed in `__init__.pyi` beside this file, which is `__all__`; that, and nothing else, is kept
stable. Nothing is imported before it is asked for.

    import milepost

    plan = milepost.plan("ROADMAP.md")
    ending = milepost.run("ROADMAP.md", agent="command:./agent.sh", on_event=print)
    proof = milepost.proof("1.1")
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

__version__ = "0.1.0"


def _home_of_each() -> dict[str, str]:
    """The module of each name, from the lines that type checkers read: `from HOME import NAME as NAME`."""
    with open(f"{__file__}i", encoding="utf-8") as stub:  # noqa: PTH123 (pathlib would be imported for this alone)
        lines = (line.split() for line in stub if line.startswith("from "))
        return {words[-1]: words[1] for words in lines}


_HOME_OF = _home_of_each()

__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'milepost' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__


class _Library(ModuleType):
    """Where a call has the name of a room, such as `plan`, the call has it: importing the room does not take it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Library
