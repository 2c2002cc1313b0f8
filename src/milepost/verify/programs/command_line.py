"""A `Verify:` line as argv: what it runs, and whether it takes a shell to run it."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import PurePath

_UNQUOTED_SIGNS = frozenset("|&;<>()$`*?\n")
_QUOTED_SIGNS = frozenset("$`")
_SHELL_WORDS = frozenset(
    {"!", ".", ":", "[[", "case", "cd", "command", "eval", "exec", "exit", "export", "for", "if", "set", "source"}
    | {"type", "ulimit", "until", "while"}
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PYTHON = re.compile(r"python(\d+(\.\d+)?)?$")


def argv_of(line: str) -> tuple[str, ...]:
    """The line split as a shell would, or given to a shell when only that can run it; empty when it says nothing."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # an unclosed quote: the shell's own complaint is the best there is
        return ("/bin/sh", "-c", line)
    if not words:
        return ()
    if words[0] in _SHELL_WORDS or _ASSIGNMENT.match(words[0]) or has_shell_signs(line):
        return ("/bin/sh", "-c", line)
    return tuple(words)


def module_arguments(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """The module of `python -m module …` and what it is called with; None for any other command."""
    if not _PYTHON.match(PurePath(argv[0]).name) or "-m" not in argv:
        return None
    at = argv.index("-m")
    only_options = all(word.startswith("-") or before in ("-W", "-X") for before, word in pairwise(argv[:at]))
    return argv[at + 1 :] or None if only_options else None


def has_shell_signs(line: str) -> bool:
    """Whether a character means something to a shell where it stands, quotes and backslashes considered."""
    quote = ""
    characters = iter(line)
    for character in characters:
        if quote == "'":
            quote = "" if character == "'" else quote
        elif character == "\\":
            next(characters, None)
        elif quote == '"':
            if character in _QUOTED_SIGNS:
                return True
            quote = "" if character == '"' else quote
        elif character in ("'", '"'):
            quote = character
        elif character in _UNQUOTED_SIGNS:
            return True
    return any(word.startswith("~") for word in line.split())
