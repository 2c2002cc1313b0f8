"""The counter-proof of a line that decides by its exit code alone, where programs in shell, C or C++ judge.

What they expect is replaced, all at once: the line must fail. What makes their comparisons do nothing, ends them well
before these, or reads the answer where it is written, passes all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.verdict import CheckResult, Question
from milepost.verify.checks.files import listed
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.check import ABOUT, NAME
from milepost.verify.counterproof.expectations_elsewhere import altered, failing, is_shell, may_be_altered
from milepost.verify.judging.paths import is_test_path
from milepost.verify.walk_checkout import files_below
from milepost.verify.witness.swap import read_plainly, swapped

MOST_FILES = 200

Files = dict[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherJudges:
    """`judges` are the programs of the repository that the line runs; `product` are the changed files."""

    argv: tuple[str, ...]
    bench: Bench
    judges: tuple[str, ...]
    product: tuple[str, ...]
    seed: str

    def run(self, workspace: Workspace) -> CheckResult:
        files, ended = self._altered(workspace)
        line = f"`{' '.join(self.argv)}`"
        if not files:
            return _result("absent", f"exit code alone, and the expectations of {line} could not be replaced")
        if not self._passes(workspace, files):
            return _result("passed", f"{line} fails, as it must, with other expectations: {listed(tuple(files))}")
        if self._passes(workspace, ended):
            return _result("absent", f"exit code alone: {line} runs no file whose expectations could be replaced")
        if not self._passes(workspace, files):
            return _result("absent", f"{line} ends differently from run to run")
        said = f"{line} passes whatever is expected: {listed(tuple(files))} expect other values"
        question = Question(kind="counter-proof", text=f"{said}. Does it judge the work?", path=next(iter(files)))
        return replace(_result("held", said), questions=(question,))

    def _altered(self, workspace: Workspace) -> tuple[Files, Files]:
        """The judging files with other expectations, and the same as they fail wherever they are used at all."""
        found: Files = {}
        ended: Files = {}
        below = (path.relative_to(workspace.folder).as_posix() for path in files_below(workspace.folder))
        for path in below:
            if path in self.product or not (path in self.judges or (is_test_path(path) and may_be_altered(path))):
                continue
            source = read_plainly(workspace.folder, path)
            shell = source is not None and is_shell(path, source)
            new = altered(path, source, self.seed, is_shell=shell) if source is not None else None
            if source is not None and new is not None and len(found) < MOST_FILES:
                found[path], ended[path] = new, failing(path, source, is_shell=shell)
        return found, ended

    def _passes(self, workspace: Workspace, files: Files) -> bool:
        with swapped(workspace.folder, files):
            return replace(self.bench, about=ABOUT).run(self.argv, workspace).succeeded


def _result(outcome: str, summary: str) -> CheckResult:
    return CheckResult(name=NAME, outcome=outcome, summary=summary)  # type: ignore[arg-type]
