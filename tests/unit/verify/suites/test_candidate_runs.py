from __future__ import annotations

import pytest

from milepost.verify.suites.candidate_runs import _holds_tests


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
