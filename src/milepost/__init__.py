"""Milepost turns a ROADMAP.md into verified commits.

The names of `__all__` are listed in `__init__.pyi` beside this file. More is in the public modules `milepost.attempts`,
`milepost.events`, `milepost.runs` … (see docs/library.md). These names are stable, all others are not. Nothing is
imported before it is used.

    import milepost

    plan = milepost.plan("ROADMAP.md")
    ending = milepost.run("ROADMAP.md", agent="command:./agent.sh", on_event=print)
    proof = milepost.proof("1.1")
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__version__ = "0.1.0"


def _exports(file: str) -> dict[str, tuple[str, str]]:
    """Where each public name comes from, by the lines that type checkers read: `from MODULE import NAME as PUBLIC`."""
    with open(file, encoding="utf-8") as source:  # noqa: PTH123 (pathlib would be imported for this alone)
        lines = (line.split() for line in source)
        return {line[5]: (line[1], line[3]) for line in lines if line[::2] == ["from", "import", "as"]}


def _lazy(module: str, file: str) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a public module whose names are imported on first use."""
    exports = _exports(file)
    names = sorted(exports)

    def get(name: str) -> object:
        if name not in exports:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, there = exports[name]
        return getattr(import_module(home), there)

    return names, get, lambda: names


__all__, __getattr__, __dir__ = _lazy(__name__, f"{__file__}i")


class _Library(ModuleType):
    """Keeps the call where a call and a package have the same name, such as `plan`, when the package is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Library
