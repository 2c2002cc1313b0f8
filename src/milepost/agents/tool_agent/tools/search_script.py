"""Lines of files that match a regular expression: what runs in the sandbox where there is no ripgrep.

It is given to the guest's own Python as text, so it imports the standard library alone. A regular expression can take
any time, and so it is never tried in the engine's own process.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase

LARGEST_FILE_BYTES = 10_000_000
LONGEST_SHOWN = 500
SKIPPED = frozenset({".git", ".venv", "__pycache__", "node_modules"})


def matches(path: str, pattern: str) -> bool:
    """Whether a path below the workspace is one that a pattern means; without a slash, only the name counts."""
    parts = path.split("/")
    if "/" not in pattern:
        return fnmatchcase(parts[-1], pattern)
    # reached[n]: the first n parts are what the pattern so far means.
    reached = [True] + [False] * len(parts)
    for word in pattern.strip("/").split("/"):
        if word == "**":
            first = reached.index(True) if True in reached else len(reached)
            reached = [at >= first for at in range(len(reached))]
        else:
            reached = [False] + [reached[at] and fnmatchcase(part, word) for at, part in enumerate(parts)]
    return reached[-1]


def found(top: str, expression: re.Pattern[str], glob: str) -> Iterator[str]:
    """Each line below `top` that matches, as `file:number:line`."""
    for path in files(top):
        if not glob or matches(path, glob):
            for number, line in enumerate(lines(path), start=1):
                if expression.search(line):
                    shown = line if len(line) <= LONGEST_SHOWN else line[:LONGEST_SHOWN] + " …"
                    yield f"{path}:{number}:{shown}"


def files(top: str) -> Iterator[str]:
    """The files below `top`, in order; `top` itself when it is one."""
    if os.path.isfile(top):  # noqa: PTH113 - a path is text here
        yield top
        return
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            path = os.path.normpath(f"{folder}/{name}")
            if os.path.isfile(path) and not os.path.islink(path):  # noqa: PTH113, PTH114
                yield path


def lines(path: str) -> list[str]:
    """The lines of a text file; none of what is too large, binary or not to be read."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123
            content = stream.read(LARGEST_FILE_BYTES + 1)
    except OSError:
        return []
    if len(content) > LARGEST_FILE_BYTES or b"\0" in content[:8192]:
        return []
    return [line.removesuffix("\r") for line in content.decode(errors="replace").removesuffix("\n").split("\n")]


def main(asked: str) -> int:
    """Print what was found; exit as grep does."""
    given = json.loads(asked)
    try:
        expression = re.compile(given["pattern"], re.IGNORECASE if given["ignore_case"] else 0)
    except re.error as error:
        sys.stderr.write(f"the pattern is no regular expression: {error}\n")
        return 2
    count = 0
    for line in found(given["path"], expression, given["glob"]):
        sys.stdout.write(line + "\n")
        count += 1
        if count > given["at_most"]:
            break
    return 0 if count else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1]))
