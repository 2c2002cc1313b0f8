"""Searching the lines of files, in the sandbox: by ripgrep, which leaves out what git ignores, or else by Python."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from milepost.core.commands import CommandResult, ending_in_words
from milepost.core.folders import TOOLS
from milepost.sandbox.confined import PathRefused

MOST_LINES = 200
LONGEST_SHOWN = 500
OUTPUT_BYTES = 400_000
SECONDS = 60.0
NO_LINES = "no line matches"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What is looked for, in which files below `path`; an empty `glob` means all."""

    pattern: str
    path: str = "."
    glob: str = ""
    ignore_case: bool = False


def ripgrep_argv(question: SearchQuery) -> tuple[str, ...]:
    """How ripgrep is asked; nothing that the model says can be taken for an option."""
    left_out = [f"--glob=!{name}" for name in sorted(TOOLS)]
    return (
        *("rg", "--no-config", "--no-require-git", "--hidden", "--line-number", "--no-heading", "--with-filename"),
        *("--color=never", "--sort=path", f"--max-columns={LONGEST_SHOWN}", "--max-columns-preview"),
        *([f"--glob={question.glob}"] if question.glob else []),
        *left_out,
        *(["--ignore-case"] if question.ignore_case else []),
        *(f"--regexp={question.pattern}", "--", question.path),
    )


def python_argv(question: SearchQuery) -> tuple[str, ...]:
    """How Python is asked where there is no ripgrep."""
    asked = {
        "pattern": question.pattern,
        "path": question.path,
        "glob": question.glob,
        "ignore_case": question.ignore_case,
        "at_most": MOST_LINES,
    }
    return ("python3", "-I", "-S", "-c", _program(), json.dumps(asked))


def lines_found(result: CommandResult, *, timeout_s: float) -> str:
    """What a search came to, for the model; raises Refused when it came to nothing that is known."""
    lines = [line.removeprefix("./") for line in result.stdout.splitlines()]
    if lines:
        more = [f"… more than {MOST_LINES} lines: narrow the search"] if len(lines) > MOST_LINES else []
        return "\n".join([line[: 2 * LONGEST_SHOWN] for line in lines[:MOST_LINES]] + more)
    if result.termination == "exited" and result.exit_code == 1:
        return NO_LINES
    reason = " ".join(result.stderr.split())[:LONGEST_SHOWN]
    raise PathRefused(reason or f"the search {ending_in_words(result, program='the search', timeout_s=timeout_s)}")


@cache
def _program() -> str:
    return files(__package__).joinpath("search_script.py").read_text(encoding="utf-8")
