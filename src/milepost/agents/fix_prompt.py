"""The prompt for a fix: a failure, told to an agent that answers with a diff."""

from __future__ import annotations

from collections.abc import Mapping

from milepost.agents.prompts import filled, quoted
from milepost.core.failures import Failure
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Evidence

LONGEST_FILE = 20_000
LONGEST_ALL_FILES = 60_000
LONGEST_LOG = 6_000
LONGEST_CHECK = 60_000
TESTS_SHOWN = 10


def fix_prompt(task: Task, failure: Failure, evidence: Evidence, files: Mapping[str, str]) -> str:
    """The prompt that asks for a diff; `files` are those it is likely to be about, by path, with their text."""
    failed = [check for check in evidence.checks if check.outcome == "failed"]
    named = sorted({path for part in task.walk() for path in part.files})
    scope = f"Change only these files: {', '.join(named)}." if task.only_its_files and named else ""
    return filled(
        "fix",
        task=_line(task.id),
        title=_line(task.title),
        text=f"\n{quoted(task.text)}\n" if task.text.strip() else "",
        kind=failure.kind.value,
        evidence="\n\n".join(_told(check) for check in failed) or quoted(failure.summary),
        files=_shown(files) or "None are given: the diff may be about any file that the evidence names.\n",
        scope=scope,
    )


def _told(check: CheckResult) -> str:
    """A failed check: what it is called, what it says, the end of its log."""
    cases = [case for case in check.cases if case.outcome == "failed"][:TESTS_SHOWN]
    lines = [
        check.summary,
        *(f"{case.id}: {case.traceback or case.message}" for case in cases),
        check.log[-LONGEST_LOG:],
    ]
    said = "\n".join(line for line in lines if line.strip())
    return f"{_line(check.name)}:\n\n{quoted(said, limit=LONGEST_CHECK)}"


def _shown(files: Mapping[str, str]) -> str:
    """The files that fit whole; a part of one would invite a diff that does not apply."""
    shown, left_out, room = [], [], LONGEST_ALL_FILES
    for path, text in files.items():
        if len(text) > min(room, LONGEST_FILE):
            left_out.append(_line(path))
            continue
        room -= len(text)
        shown.append(f"{_line(path)}:\n\n{quoted(text, limit=LONGEST_FILE)}\n")
    if left_out:
        shown.append(f"Too long to show: {', '.join(left_out)}\n")
    return "\n".join(shown)


def _line(text: str) -> str:
    """Text for a line of our own: it cannot begin another one."""
    return " ".join(text.split())
