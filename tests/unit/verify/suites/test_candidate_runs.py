from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from milepost.core.verdict import TestCase, TestOutcome
from milepost.verify.suites.candidate_runs import CandidateRuns, _holds_tests
from milepost.verify.suites.suite import SuiteRun


@pytest.mark.parametrize(
    ("path", "alone"),
    [
        ("tests/test_a.py", True),
        ("a.test.ts", True),
        ("tests/conftest.py", False),
        ("tests/__init__.py", False),
        ("tests/typing/sample.py", False),
        ("tests/data.json", False),
    ],
)
def test_only_files_that_hold_tests_of_their_own_are_run_alone(path: str, alone: bool) -> None:
    assert _holds_tests(path) is alone


@pytest.mark.parametrize(
    ("broken", "before", "alone"),
    [
        ("tests/test_a.py::Base::test", "passed", True),
        ("tests/test_b.py::Base::test", "passed", False),
        ("tests/test_b.py::Base::test", "failed", True),
    ],
    ids=["its own", "one that inherits from it", "one that failed before"],
)
def test_a_changed_file_is_not_run_alone_where_tests_of_others_break_with_it(
    broken: str, before: TestOutcome, alone: bool
) -> None:
    known = SimpleNamespace(tests=lambda: {broken: before})
    runs = CandidateRuns(cast(Any, None), cast(Any, known), {})
    failed = SuiteRun(argv=(), exit_code=1, cases=(TestCase(id=broken, outcome="failed"),))
    vars(runs).update(on_bench=((None, failed),), _alone=(), _changed=("tests/test_a.py",))

    assert runs.only_changed == (("tests/test_a.py",) if alone else ())
