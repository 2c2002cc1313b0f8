"""A roadmap in the commands that are proposed to people: named where they would take another one, or none."""

from __future__ import annotations

import re
import shlex
from contextvars import ContextVar
from pathlib import Path

import milepost
from milepost import roadmaps
from milepost.cli.format_text import from_here

# The commands that take a roadmap: as their argument, or behind an option.
ARGUMENT = frozenset(
    (
        *("chaos", "costs", "events", "failures", "log", "marks", "pause", "plan"),
        *("report", "resume", "roadmap normalise", "run", "status", "stop", "sync", "web"),
    )
)
OPTION = frozenset(
    (
        *(
            "accept",
            "adopt",
            "approve",
            "attempts",
            "clean",
            "context",
            "delegate",
            "package",
            "deploy",
            "diff",
            "edit",
            "gates",
            "logs",
            "mark",
            "proof",
        ),
        *("reject", "releases", "replay", "restore", "retry", "rollback", "scale", "skip", "steer", "targets", "undo"),
        *("proof", "verify", "watch", "alerts", "incidents"),
    )
)
# One that has a path is told already.
_COMMAND = re.compile(rf"\bmilepost (?P<verb>{'|'.join(sorted(ARGUMENT | OPTION))})(?![\w-]| /)")
_given: ContextVar[Path | None] = ContextVar("given", default=None)


def remember(roadmap: Path | None) -> Path | None:
    """Keep which roadmap this command was given, for what it will propose."""
    _given.set(roadmap)
    return roadmap


def proposed(text: str) -> str:
    """The text with each command in it so that it takes the roadmap that this one was given."""
    if "milepost " not in text or not (name := _name(_given.get())):
        return text
    return _COMMAND.sub(lambda found: f"{found[0]}{' --roadmap' if found['verb'] in OPTION else ''} {name}", text)


def _name(roadmap: Path | None) -> str:
    """What a command needs to be told; nothing where it takes this roadmap by itself."""
    path, by_itself = _found(roadmap), _found(None)
    return shlex.quote(from_here(path)) if roadmap is not None and path is not None and path != by_itself else ""


def _found(roadmap: Path | None) -> Path | None:
    try:
        return roadmaps.find(roadmap)
    except milepost.MilepostError:  # whoever is asked to work on it says so
        return None
