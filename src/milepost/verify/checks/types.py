"""The check that the project's type checkers find nothing new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckResult
from milepost.verify.checks.tool_findings import ToolFinding, fresh, keys, printable, told
from milepost.verify.command_runner import Bench
from milepost.verify.programs.project_tools import answer
from milepost.verify.programs.type_checkers import MYPY_FILES, PYRIGHT_FILES, PYTHON, TYPESCRIPT, Typing, ask

NAME = "types"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypesCheck:
    """Asks mypy, pyright and tsc, each where the project has settings for it and its environment has it.

    `before` answers what `type_errors` said at the base. A type checker that gave no answer there fails nothing.
    """

    change: Change
    bench: Bench
    before: Callable[[], frozenset[str] | None]

    def run(self, workspace: Workspace) -> CheckResult:
        if not any(path.endswith((*PYTHON, *TYPESCRIPT, *MYPY_FILES)) for path in self.change.paths):
            return answer(NAME, "absent", "no file with types was changed")
        parts = ask(self.bench, workspace, self.change)
        if not parts:
            return answer(NAME, "absent", "the project has no type checker configured")
        complains = any(part.findings or part.problem for part in parts)
        before = (self.before() if complains else None) or frozenset()
        new = tuple(finding for part in parts for finding in self._new(part, before))
        notes = [note for part in parts if (note := _note(part, before))]
        judged = any(not part.problem and (not part.findings or _answered(part.tool) in before) for part in parts)
        return answer(
            NAME,
            "failed" if new else "passed" if judged else "absent",
            told(new) if new else "; ".join(notes) + self._settings(),
            bench=self.bench,
            argv=parts[0].argv,
            results=tuple(result for part in parts for result in part.results),
            log="\n".join(map(str, new or [finding for part in parts for finding in part.findings])),
        )

    def _new(self, part: Typing, before: frozenset[str]) -> tuple[ToolFinding, ...]:
        """What the attempt is to blame for: errors that were not there, or that there is no answer any more."""
        if _answered(part.tool) not in before:
            return ()
        if part.problem:
            return (ToolFinding(path="", message=f"{part.problem}; before the attempt it gave a result"),)
        created = frozenset(file.path for file in self.change.files if file.is_new)
        gone = frozenset(file.path for file in self.change.files if file.is_gone)
        return fresh(part.findings, before, new=created, gone=gone)

    def _settings(self) -> str:
        """Says that the settings were changed with the work: fewer errors may be due to that."""
        settings = {*MYPY_FILES, *PYRIGHT_FILES, "tsconfig.json"}
        changed = [path for path in self.change.paths if path.rpartition("/")[2] in settings]
        return f" (the attempt changed {', '.join(map(printable, changed))})" if changed else ""


def type_errors(workspace: Workspace, bench: Bench) -> frozenset[str] | None:
    """What the type checkers say of a checkout, and which of them gave an answer; None where none did."""
    parts = [part for part in ask(bench, workspace) if not part.problem]
    found = [frozenset({_answered(part.tool)}) | keys(part.findings) for part in parts]
    return frozenset().union(*found) if found else None


def _answered(tool: str) -> str:
    (key,) = keys([ToolFinding(path="", message=f"{tool} gave an answer")])
    return key


def _note(part: Typing, before: frozenset[str]) -> str:
    if not part.findings and not part.problem:
        return f"{part.tool} found nothing"
    if _answered(part.tool) in before:
        return f"{part.tool} found nothing new"
    return f"{part.problem or part.tool + ' found errors'}; its result before the attempt is not known"
