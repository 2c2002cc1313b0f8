from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from milepost.core.verdict import CheckResult, TestCase
from milepost.verify.deciding import of_base
from milepost.verify.judging.split import Split


def test_a_test_that_only_the_attempt_has_is_none_of_the_base() -> None:
    kept, new, elsewhere = (
        TestCase(id=name, outcome="passed") for name in ("test_a.py::kept", "test_a.py::new", "test_b.py::by_a_line")
    )
    split = Split(judged=("a.py",), restored=("test_a.py",), tests=("test_a.py",))
    runs: Any = SimpleNamespace(trees=SimpleNamespace(split=split), on_bench=((None, SimpleNamespace(cases=(kept,))),))
    line = CheckResult(name="verify", outcome="passed", summary="", cases=(kept, new, elsewhere))

    assert of_base(runs, (line,), own=()) == (kept, elsewhere)
