from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult
from milepost.verify.checks.second_look import Audit, SecondLook
from milepost.verify.suites.detect import CARGO, GO, PYTHON
from milepost.verify.suites.suite import SuiteRun


def audited(runner: Any, path: str, text: str) -> CheckResult:
    """The audit of a change of one file, whose tests were run by this runner and noted nothing."""
    ran = (SimpleNamespace(runner=runner), SuiteRun(argv=("test",), exit_code=0))
    runs = cast(Any, SimpleNamespace(on_bench=(ran,), as_they_are=(ran,)))
    change = Change(files=(ChangedFile(path=path, before=b"", after=text.encode()),))
    workspace = Workspace(folder=Path("/nowhere"), base="", scratch=Path("/nowhere"))
    look = SecondLook(change=change, product=(path,), runs=runs)
    return Audit(look=look, at_base=()).run_after(workspace, ())


@pytest.mark.parametrize(("runner", "path"), [(GO, "hours.go"), (CARGO, "src/lib.rs")])
def test_a_language_that_nobody_watches_has_no_audit(runner: Any, path: str) -> None:
    found = audited(runner, path, "")
    assert (found.outcome, found.summary) == ("absent", "no audit for this language")


def test_a_run_that_was_watched_and_noted_nothing_has_passed_its_audit() -> None:
    assert audited(PYTHON[0], "hours.py", "").outcome == "passed"


def test_compiled_code_that_asks_for_a_test_run_is_shown_with_its_place() -> None:
    found = audited(GO, "hours.go", "package hours\n\nvar quiet = testing.Testing()\n")
    assert (found.outcome, found.summary) == ("held", "hours.go:3 asks whether it runs under test")
