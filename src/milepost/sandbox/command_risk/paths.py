"""Where a path leads: into the workspace, to all of it, or out of it."""

from __future__ import annotations

import posixpath
import re
from typing import Literal

from milepost.sandbox.command_risk.kinds import Piece

Place = Literal["inside", "whole", "repository", "outside", "unknown"]

TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108
STREAMS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd", "/proc/self/fd")

_HERE = re.compile(r"\$(PWD|\{PWD\}|\(pwd\)|\(git rev-parse --show-toplevel\))(?=/|$)")
_TEMPORARY = re.compile(r"\$(\{?(TMPDIR|TMP|TEMP|RUNNER_TEMP)\b|\(\s*mktemp\b)")
_HOME = re.compile(r"~|\$\{?HOME\b")
_EVERYTHING = re.compile(r"(\*+|\.\*|\.\[[!^]\.\]\*|\.\?\?\*|\{\*,\.\*\}|\{\.\*,\*\}|\{,\.\}\*|\{\.,\}\*)$")
_HISTORY = frozenset({".git", ".git/objects", ".git/refs", ".git/HEAD", ".git/packed-refs"})


def place_of(path: str, piece: Piece) -> Place:
    """Where a path of a piece leads."""
    path = _HERE.sub(".", path, count=1)
    if _TEMPORARY.match(path) or not path:
        return "inside"
    if _HOME.match(path):
        return "outside"
    if path.startswith(("$", "`")):
        return "unknown"
    if piece.cwd == "?" and not path.startswith("/"):
        return "unknown" if posixpath.normpath(whole_of(path)).startswith(".") else "inside"
    if _HOME.match(piece.cwd) and not path.startswith("/"):
        return "outside"
    return _absolute_or_below(posixpath.normpath(whole_of(posixpath.join(piece.cwd, path))), piece.inside)


def leads_out(path: str, piece: Piece) -> bool:
    """Whether what is written to a path ends up outside of the workspace."""
    return place_of(path, piece) == "outside" and not path.startswith(STREAMS)


def moved(cwd: str, target: str) -> str:
    """Where `cd` leads: `?` when that cannot be known."""
    target = _HERE.sub(".", target, count=1)
    if _HOME.match(target):
        return "~"
    if _TEMPORARY.match(target):
        return TEMPORARY[0] + "/x"
    if target.startswith(("$", "`", "-")) or (cwd == "?" and not target.startswith("/")):
        return "?"
    where = posixpath.normpath(posixpath.join(cwd, target))
    return "" if where == "." else where


def _absolute_or_below(path: str, inside: tuple[str, ...]) -> Place:
    if path.startswith("/"):
        path = "/" + path.lstrip("/")
        for number, root in enumerate(inside):
            if path == root and number == 0:
                return "whole"
            if path == root or path.startswith(root.rstrip("/") + "/"):
                return _absolute_or_below(path[len(root.rstrip("/")) + 1 :], ()) if number == 0 else "inside"
        return "inside" if any(path.startswith(f"{folder}/") for folder in TEMPORARY) else "outside"
    if path in (".", ""):
        return "whole"
    if path == ".." or path.startswith("../"):
        return "outside"
    return "repository" if path in _HISTORY else "inside"


def whole_of(path: str) -> str:
    """The folder that a pattern for everything in it stands for."""
    while True:
        shorter = _EVERYTHING.sub("", path.rstrip("/") if path != "/" else path)
        if shorter == path.rstrip("/") or path == "/":
            return shorter or "/"
        path = shorter or "."
        if path == ".":
            return path
