"""The check that a change brings no package with a known vulnerability."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.commands import CommandResult
from milepost.core.verdict import CheckResult
from milepost.verify.command_runner import Bench
from milepost.verify.programs.auditors import Auditor, Vulnerability, auditor_of
from milepost.verify.programs.project_tools import answer, plain_files, python_program, text_of, why_not
from milepost.verify.programs.tracked import is_of_checkout

NAME = "vulnerabilities"
_MOST_TOLD = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class VulnerabilitiesCheck:
    """Asks pip-audit about changed requirements, and npm about changed lock files, each before and after the change.

    Only what the change brings counts. Without an answer, as where there is no network, nothing is claimed.
    """

    change: Change
    bench: Bench

    def run(self, workspace: Workspace) -> CheckResult:
        files = plain_files(self.change)
        asked = [(auditor, file) for file in files if (auditor := auditor_of(file.path)) is not None]
        if not asked:
            return answer(NAME, "absent", "no manifest was changed that can be audited")
        new: set[Vulnerability] = set()
        problems: list[str] = []
        results: list[CommandResult] = []
        for auditor, file in asked:
            program = self._program(auditor, workspace.folder)
            if program is None:
                problems.append(f"{auditor.tool} is not installed: {file.path} was not audited")
                continue
            found = self._found(auditor, program, file, workspace, results, is_after=True)
            before = self._found(auditor, program, file, workspace, results, is_after=False) if found else frozenset()
            if isinstance(found, str) or isinstance(before, str):
                problems.append(f"{file.path} was not audited: {found if isinstance(found, str) else before}")
            else:
                new |= found - before
        if new:
            named = "; ".join(map(str, sorted(new)[:_MOST_TOLD]))
            more = f" and {len(new) - _MOST_TOLD} more" if len(new) > _MOST_TOLD else ""
            log = "\n".join(map(str, sorted(new)))
            return answer(
                NAME, "failed", f"brings known vulnerabilities: {named}{more}", results=tuple(results), log=log
            )
        if problems:
            return answer(NAME, "absent", "; ".join(problems), results=tuple(results))
        names = " and ".join(sorted({auditor.tool for auditor, _ in asked}))
        return answer(NAME, "passed", f"{names} knows of nothing new", results=tuple(results))

    def _found(
        self,
        auditor: Auditor,
        program: Path,
        file: ChangedFile,
        workspace: Workspace,
        results: list[CommandResult],
        *,
        is_after: bool,
    ) -> frozenset[Vulnerability] | str:
        """What is known about a manifest as it is after the change, or was before; or why nothing is."""
        if not is_after and file.is_new:
            return frozenset()
        with tempfile.TemporaryDirectory(dir=workspace.scratch, prefix="audit-") as place:
            for name, text in self._texts(auditor, file, workspace.folder, is_after=is_after).items():
                Path(place, name).write_text(text, encoding="utf-8")
            argv = auditor.on_folder(program, Path(place))
            result = self.bench.run(argv, workspace, timeout_s=self.bench.timeout_s)
        results.append(result)
        found = auditor.read(result.stdout)
        return why_not(result, auditor.tool, self.bench.timeout_s) if found is None else found

    def _texts(self, auditor: Auditor, file: ChangedFile, checkout: Path, *, is_after: bool) -> dict[str, str]:
        text = file.text_after if is_after else file.text_before
        if auditor.tool == "pip-audit":
            return {"requirements.txt": text}
        beside = f"{file.path.rpartition('/')[0]}/package.json".lstrip("/")
        changed = self.change.file(beside)
        manifest = changed.text_before if changed is not None and not is_after else text_of(checkout, beside)
        return {"package-lock.json": text, "package.json": manifest or "{}"}

    def _program(self, auditor: Auditor, checkout: Path) -> Path | None:
        """The project's own program, else the one on PATH; never one that lies in the checkout."""
        found = python_program(self.bench, auditor.tool) if auditor.tool == "pip-audit" else None
        named = shutil.which(auditor.tool, path=self.bench.path)
        program = found or (Path(named) if named else None)
        return None if program is None or is_of_checkout(program, checkout) else program
