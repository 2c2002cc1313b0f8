"""A test suite of a project, and the port that every test runner has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestCase
from milepost.verify.command_runner import Bench


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditNote:
    """What a file of the product was seen to do while tests were run; `line` is 0 where that is not known."""

    what: str
    path: str
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """One run of a suite. `problem` is why the answers cannot be trusted, empty when they can.

    `missing` is what this machine lacks to run the suite at all: nothing was asked then. Ids of cases are
    relative to the checkout, whatever folder the suite lives in. Without a case, a problem or something missing
    the runner came to its end and there was no test. `notes` is empty where nothing was watched.
    """

    argv: tuple[str, ...]
    exit_code: int | None
    cases: tuple[TestCase, ...] = ()
    problem: str = ""
    missing: str = ""
    log: str = ""
    duration_ms: int = 0
    enforced: tuple[str, ...] = ()
    environment: str = ""
    notes: tuple[AuditNote, ...] = ()


class Runner(Protocol):
    """Runs the tests of one kind that live in one folder of a checkout."""

    @property
    def name(self) -> str: ...

    def finds(self, folder: Path) -> bool:
        """Whether `folder` (absolute) is the top of a suite of this kind; reads files, starts nothing."""
        ...

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        """Run the suite in `folder` (relative to the checkout, "" for its top), or only the tests of these ids."""
        ...
