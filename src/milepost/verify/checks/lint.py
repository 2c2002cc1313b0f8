"""The check that the project's linter finds nothing new in the changed files."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.commands import CommandResult
from milepost.core.verdict import CheckResult
from milepost.verify.checks.tool_findings import ToolFinding, fresh, keys, told
from milepost.verify.command_runner import Bench
from milepost.verify.programs.linters import Linter, linters
from milepost.verify.programs.project_tools import answer, plain_files, why_not
from milepost.verify.suites import report_file

NAME = "lint"
AT_ONCE = 500


class NoAnswer(Exception):
    """A linter did not say what it was asked for; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintCheck:
    """Asks ruff and eslint, each where the project has settings for it and has it, about the changed files alone.

    A finding that the same file had at the base is old: the linter, as it is set up now, is asked about that text, too.
    """

    change: Change
    bench: Bench

    def run(self, workspace: Workspace) -> CheckResult:
        asked = [
            (linter, files)
            for linter in linters(self.change, self.bench, workspace.folder)
            if (files := [file for file in plain_files(self.change) if file.path.endswith(linter.endings)])
        ]
        if not asked:
            return answer(NAME, "absent", "the project has no linter for what was changed")
        new: list[ToolFinding] = []
        problem = ""
        with tempfile.TemporaryDirectory(dir=workspace.scratch, prefix="lint-") as place:
            session = _Session(bench=self.bench, workspace=workspace, output=Path(place, "findings.json"))
            for linter, files in asked:
                try:
                    new.extend(self._new(linter, files, session))
                except NoAnswer as reason:
                    problem = str(reason)
        results, argv = tuple(session.results), session.argv
        if new:
            log = "\n".join(map(str, new))
            return answer(NAME, "failed", told(new), bench=self.bench, argv=argv, results=results, log=log)
        if problem:
            return answer(NAME, "absent", problem, bench=self.bench, argv=argv, results=results)
        names = " and ".join(linter.tool for linter, _ in asked)
        return answer(NAME, "passed", f"{names} found nothing new", bench=self.bench, argv=argv, results=results)

    def _new(self, linter: Linter, files: list[ChangedFile], session: _Session) -> tuple[ToolFinding, ...]:
        now: list[ToolFinding] = []
        for start in range(0, len(files), AT_ONCE):
            paths = tuple(file.path for file in files[start : start + AT_ONCE])
            now.extend(session.ask(linter, linter.on_files(paths, session.output)))
        before: list[ToolFinding] = []
        for file in self._comparable({finding.path for finding in now}, linter):
            said = session.ask(linter, linter.on_text(file.path, session.output), file.text_before)
            before.extend(replace(finding, path=file.path) for finding in said)
        created = frozenset(file.path for file in files if file.is_new)
        gone = frozenset(file.path for file in self.change.files if file.is_gone)
        return fresh(tuple(now), keys(before), new=created, gone=gone)

    def _comparable(self, remarked: set[str], linter: Linter) -> list[ChangedFile]:
        """The files whose text at the base tells which findings are old; those that are gone may have moved."""
        moved = any(file.is_new and file.path in remarked for file in self.change.files)
        return [
            file
            for file in self.change.files
            if file.before is not None
            and file.path.endswith(linter.endings)
            and (file.path in remarked or (moved and file.is_gone))
        ]


@dataclass(slots=True, kw_only=True)
class _Session:
    """The commands of one check, which share its time."""

    bench: Bench
    workspace: Workspace
    output: Path
    results: list[CommandResult] = field(default_factory=list)
    argv: tuple[str, ...] = ()
    started: float = field(default_factory=time.monotonic)

    def ask(self, linter: Linter, argv: tuple[str, ...], text: str = "") -> tuple[ToolFinding, ...]:
        left_s = self.bench.timeout_s - (time.monotonic() - self.started)
        if left_s <= 0:
            raise NoAnswer(f"{linter.tool} found something, and there was no time to see whether it is new")
        self.argv = self.argv or argv
        result = self.bench.run(argv, self.workspace, stdin=text, timeout_s=left_s)
        self.results.append(result)
        written = report_file.read(self.output)
        report_file.clear(self.output)
        found = linter.read(written, self.workspace.folder) if written else None
        if found is None:
            raise NoAnswer(f"{linter.tool} {why_not(result, linter.tool, left_s)}")
        return found
