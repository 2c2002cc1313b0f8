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
from milepost.verify.counterproof.expectations_elsewhere import altered, is_shell, may_be_altered
from milepost.verify.judging.paths import is_test_path
from milepost.verify.walk_checkout import files_below
from milepost.verify.witness.swap import read_plainly, swapped

MOST_FILES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherJudges:
    """`judges` are the programs of the repository that the line runs; `product` are the changed files."""

    argv: tuple[str, ...]
    bench: Bench
    judges: tuple[str, ...]
    product: tuple[str, ...]
    seed: str

    def run(self, workspace: Workspace) -> CheckResult:
        files = self._altered(workspace)
        line = f"`{' '.join(self.argv)}`"
        if not files:
            return _result("absent", f"exit code alone, and the expectations of {line} could not be replaced")
        if not self._passes(workspace, files) or not self._passes(workspace, files):
            return _result("passed", f"{line} fails, as it must, with other expectations in {len(files)} files")
        if not self._passes(workspace, {}) or not self._are_used(workspace, files):
            return _result("absent", f"exit code alone: what {line} expects was not found")
        said = f"{line} passes whatever is expected: {listed(tuple(files))} expect other values"
        question = Question(kind="counter-proof", text=f"{said}. Does it judge the work?", path=next(iter(files)))
        return replace(_result("held", said), questions=(question,))

    def _are_used(self, workspace: Workspace, files: dict[str, bytes | None]) -> bool:
        """Whether the line is about these files: without them it fails."""
        return not self._passes(workspace, dict.fromkeys(files))

    def _altered(self, workspace: Workspace) -> dict[str, bytes | None]:
        found: dict[str, bytes | None] = {}
        below = (path.relative_to(workspace.folder).as_posix() for path in files_below(workspace.folder))
        for path in below:
            if path in self.product or not (path in self.judges or (is_test_path(path) and may_be_altered(path))):
                continue
            source = read_plainly(workspace.folder, path)
            new = altered(path, source, self.seed, is_shell=is_shell(path, source)) if source is not None else None
            if new is not None and len(found) < MOST_FILES:
                found[path] = new
        return found

    def _passes(self, workspace: Workspace, files: dict[str, bytes | None]) -> bool:
        with swapped(workspace.folder, files):
            return replace(self.bench, about=ABOUT).run(self.argv, workspace).succeeded


def _result(outcome: str, summary: str) -> CheckResult:
    return CheckResult(name=NAME, outcome=outcome, summary=summary)  # type: ignore[arg-type]
