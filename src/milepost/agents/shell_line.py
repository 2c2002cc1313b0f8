"""A command as models write it, a line for a shell, as the list of words that is judged and run.

A line that means the same without a shell runs without one, so that it is allowed where shells are not.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

_PLAIN = re.compile(r"[\w ./:@%+,=\-'\"]+", re.ASCII)
_OF_SHELL = frozenset(
    (
        *(".", ":", "alias", "bg", "break", "builtin", "case", "cd", "command", "continue", "declare", "do", "done"),
        *(
            "elif",
            "else",
            "esac",
            "eval",
            "exec",
            "exit",
            "export",
            "fg",
            "fi",
            "for",
            "function",
            "hash",
            "if",
            "jobs",
        ),
        *("let", "local", "popd", "pushd", "read", "readonly", "return", "select", "set", "shift", "shopt", "source"),
        *("then", "time", "times", "trap", "type", "ulimit", "umask", "unalias", "unset", "until", "wait", "while"),
    )
)


def words_of(line: str) -> tuple[str, ...]:
    """The words that a line is run as: its own, or those of a shell that reads it."""
    line = line.strip()
    if _PLAIN.fullmatch(line):
        try:
            words = shlex.split(line)
        except ValueError:  # a quote that is not closed, which the shell tells of
            words = []
        if words and words[0] not in _OF_SHELL and "=" not in words[0]:
            return tuple(words)
    return (shell(), "-c", line)


def shell() -> str:
    """The shell that models write for, or the one that every machine has."""
    return "bash" if Path("/bin/bash").exists() or Path("/usr/bin/bash").exists() else "sh"
