"""The check that compiled modules of Python are not older than the sources that the change touches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckResult, Question
from milepost.sources.compiled_modules import is_compiled_from, is_compiled_module
from milepost.verify.checks.files import listed
from milepost.verify.judging.paths import is_test_path
from milepost.verify.walk_checkout import files_below

NAME = "compiled modules"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledModulesCheck:
    """Checkouts have the modules that the user has built. After a change of their sources these say nothing about it,
    so that a person is asked."""

    change: Change

    def run(self, workspace: Workspace) -> CheckResult:
        old = self.older(workspace.folder)
        if not old:
            return CheckResult(name=NAME, outcome="absent", summary="nothing that is compiled changed")
        sources = tuple(filter(_is_source, self.change.paths))
        text = f"{listed(old)} was built before the change of {listed(sources)}: its tests say nothing about that"
        question = Question(kind="not shown", text=text, path=sources[0])
        return CheckResult(name=NAME, outcome="held", summary=text, questions=(question,))

    def older(self, checkout: Path) -> tuple[str, ...]:
        """The modules of a checkout that may be compiled from what changed."""
        if not any(map(_is_source, self.change.paths)):
            return ()
        found = (file.relative_to(checkout).as_posix() for file in files_below(checkout))
        return tuple(path for path in found if is_compiled_module(path.rpartition("/")[2]))


def _is_source(path: str) -> bool:
    return is_compiled_from(path) and not is_test_path(path)
