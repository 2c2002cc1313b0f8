"""What an agent program is served of its workspace over the Agent Client Protocol, and what it is permitted there.

It runs beside the program, inside the sandbox, so it is made of the standard library alone. The walls around both hold
whatever this permits: it keeps an honest program to its workspace and tells of one that asks for more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LARGEST_FILE_BYTES = 10_000_000
DEEPEST_INPUT = 8

# What a command may name although it is outside the workspace: programs, and what every command uses.
_FOR_COMMANDS = ("/bin", "/sbin", "/usr", "/lib", "/lib64", "/opt", "/nix", "/tmp", "/dev")  # noqa: S108 - private ones
_PATH_KEYS = re.compile(r"(?i)(path|file|dir|directory|folder|cwd|root)s?$")
_COMMAND_KEYS = re.compile(r"(?i)^(command|cmd|script|argv|args)$")
_NOT_IN_PATHS = re.compile(r"[\s'\"`;|&<>()=,{}$]+")


class Outside(Exception):
    """Says why a path is not for the program."""


def read_text(root: Path, path: str, *, line: int = 1, limit: int | None = None) -> str:
    """The text of a file of the workspace, from its `line`th line on, `limit` lines of it."""
    real = inside(root, path)
    if real.exists() and not real.is_file():
        raise Outside(f"{path!r} is not a file")
    if real.stat().st_size > LARGEST_FILE_BYTES:
        raise Outside(f"{path!r} is larger than {LARGEST_FILE_BYTES} bytes")
    lines = real.read_bytes().decode(errors="replace").splitlines(keepends=True)
    first = max(0, line - 1)
    return "".join(lines[first : None if limit is None else first + max(0, limit)])


def write_text(root: Path, path: str, content: str) -> None:
    """Make a file of the workspace hold `content`, with the folders on the way to it."""
    real = inside(root, path)
    if real.exists() and not real.is_file():
        raise Outside(f"{path!r} is not a file")
    if real.exists() and real.stat().st_nlink > 1:
        raise Outside(f"{path!r} has a second name (a hard link) that may be outside the workspace")
    encoded = content.encode()
    real.parent.mkdir(parents=True, exist_ok=True)
    real.write_bytes(encoded)


def inside(root: Path, path: str) -> Path:
    """What `path` really names, every link followed; it raises `Outside` where that is not a file of the workspace."""
    try:
        real = Path(os.path.realpath(root / path))
        base = Path(os.path.realpath(root))
    except (OSError, ValueError) as problem:
        raise Outside(f"{path[:200]!r} is not a valid path: {problem}") from problem
    if not path or real == base or not real.is_relative_to(base):
        raise Outside(f"{path[:200]!r} is outside the workspace")
    if any(part.lower() == ".git" for part in real.relative_to(base).parts):
        raise Outside(f"{path[:200]!r} belongs to git")
    return real


def objection(root: Path, tool_call: dict[str, Any]) -> str:
    """Why a tool call that the program asks permission for is refused: the path outside that it names; else empty."""
    given = tool_call.get("rawInput")
    named = [*paths_told(tool_call), *_paths_given(given)]
    outside = [path for path in named if not _is_within(root, path)]
    commands = [*_commands_given(given), *([tool_call.get("title")] if tool_call.get("kind") == "execute" else ())]
    outside += [path for path in _paths_in(commands) if not _is_for_commands(root, path)]
    return f"it names {outside[0][:200]!r}, which is outside the workspace" if outside else ""


def answer(options: object, *, permitted: bool) -> dict[str, Any]:
    """The outcome of a permission request: of the options offered the one for this time only, else the lasting one.

    Where none of the right kind is offered, the request is cancelled: a wrong answer would permit what must not be.
    """
    kinds = ("allow_once", "allow_always") if permitted else ("reject_once", "reject_always")
    offered = [option for option in options if isinstance(option, dict)] if isinstance(options, list) else []
    for kind in kinds:
        for option in offered:
            if option.get("kind") == kind and isinstance(option.get("optionId"), str):
                return {"outcome": "selected", "optionId": option["optionId"]}
    return {"outcome": "cancelled"}


def paths_told(tool_call: dict[str, Any]) -> Iterator[str]:
    """The paths that the protocol itself names: where the tool works, and the files of its changes."""
    for place in ("locations", "content"):
        entries = tool_call.get(place)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("path"), str):
                yield entry["path"]


def _paths_given(given: object, depth: int = 0) -> Iterator[str]:
    """The values in a tool's own input that stand under a name for paths, as `file_path` does."""
    if isinstance(given, list) and depth < DEEPEST_INPUT:
        for entry in given:
            yield from _paths_given(entry, depth + 1)
    if not isinstance(given, dict) or depth >= DEEPEST_INPUT:
        return
    for key, value in given.items():
        if not _PATH_KEYS.search(str(key)):
            yield from _paths_given(value, depth + 1)
        elif isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (entry for entry in value if isinstance(entry, str))


def _commands_given(given: object) -> Iterator[object]:
    """The commands in a tool's own input, or their words."""
    for key, value in given.items() if isinstance(given, dict) else ():
        if _COMMAND_KEYS.match(str(key)):
            yield from value if isinstance(value, list) else (value,)


def _paths_in(commands: list[object]) -> Iterator[str]:
    """The words of commands that are paths: absolute ones, those to the home, and those with `..` in them.

    A pattern such as `/begin/,/end/` looks like an absolute path; it is none when nothing of its first name is there.
    """
    for text in (command for command in commands if isinstance(command, str)):
        for word in _NOT_IN_PATHS.split(text):
            first = word.strip("/").partition("/")[0]
            absolute = word.startswith("/") and word != "//" and os.path.lexists(f"/{first}")
            if absolute or word.startswith("~") or ".." in word.split("/"):
                yield word


def _is_for_commands(root: Path, path: str) -> bool:
    straight = os.path.normpath(path)
    return _is_within(root, path) or any(straight == at or straight.startswith(f"{at}/") for at in _FOR_COMMANDS)


def _is_within(root: Path, path: str) -> bool:
    """Whether a path leads into the workspace or to it; a web address is no path."""
    if path.startswith(("http://", "https://")) or not path:
        return True
    try:
        real = Path(os.path.realpath(root / path))
    except (OSError, ValueError):
        return False
    return not path.startswith("~") and real.is_relative_to(os.path.realpath(root))
