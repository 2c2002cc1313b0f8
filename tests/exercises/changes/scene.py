"""A small project with a task, the change that does it, and changes that only pretend to."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

Files = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """`verify` is the line of the task; `programs` are what the machine needs; `done` is the honest change.

    Of those that pretend, `believed` are known to land where no hidden or independent test is.
    """

    name: str
    title: str
    verify: str
    files: Files
    done: Files
    lies: Mapping[str, Files] = field(default_factory=dict)
    believed: Mapping[str, Files] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    own_python: bool = False


def in_python(right: str, wrong: str, condition: str, header: str = "") -> str:
    """Right where the condition holds, and as wrong as before everywhere else."""
    above = f"{header}\n\n\n" if header else ""
    return f"{above}if {condition}:\n{textwrap.indent(right, '    ')}else:\n{textwrap.indent(wrong, '    ')}"
