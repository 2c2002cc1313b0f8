from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from milepost.core.verdict import CheckResult, TestCase, TestOutcome
from milepost.verify.judging.split import Split
from milepost.verify.own_tests import OwnWork, own_tests, own_work
from milepost.verify.suites.candidate_runs import CandidateRuns

BOTH = Split(judged=("a.js",), left_out=("test/b.js",), tests=("test/b.js",))
NEW = TestCase(id="test/b.js::new", outcome="passed")
OLD = TestCase(id="test/a.js::old", outcome="passed", before="passed")


def runs(old: Mapping[str, TestOutcome] | None, split: Split = BOTH) -> CandidateRuns:
    """Runs of a project whose own suite sees none of the tests."""
    trees = SimpleNamespace(split=split, differ=True)
    found: Any = SimpleNamespace(
        trees=trees, on_bench=(), now={}, on_old_source={}, fail_alone=frozenset(), line_on_old_source=lambda line: old
    )
    return cast(CandidateRuns, found)


def ended(*cases: TestCase, outcome: Any = "passed") -> CheckResult:
    return CheckResult(name="verify", outcome=outcome, summary="", argv=("run", "them"), cases=cases)


@pytest.mark.parametrize(
    ("old", "check", "expected"),
    [
        pytest.param({}, ended(OLD, NEW), OwnWork(ids=(NEW.id,), asked_for=True), id="not there at the base"),
        pytest.param({NEW.id: "failed"}, ended(NEW), OwnWork(ids=(NEW.id,), asked_for=True), id="red before"),
        pytest.param({NEW.id: "passed"}, ended(NEW), OwnWork(asked_for=True), id="green before"),
        pytest.param({}, ended(OLD), OwnWork(asked_for=True), id="it runs none of them"),
        pytest.param(None, ended(NEW), OwnWork(asked_for=True), id="nobody knows"),
        pytest.param({"run them": "failed"}, ended(), OwnWork(lines=("run them",), asked_for=True), id="its exit code"),
        pytest.param({"run them": "passed"}, ended(), OwnWork(asked_for=True), id="an exit code that is the same"),
        pytest.param({"run them": "failed"}, ended(outcome="failed"), OwnWork(asked_for=True), id="it fails now"),
    ],
)
def test_what_only_a_line_runs_shows_the_work_where_it_fails_on_the_old_source(
    old: Mapping[str, TestOutcome] | None, check: CheckResult, expected: OwnWork
) -> None:
    found = own_work(runs(old), ("run them",), (check,))

    assert (found.ids, found.lines) == (expected.ids, expected.lines)


def test_a_line_shows_nothing_of_a_change_without_a_test_or_without_a_product() -> None:
    red: Mapping[str, TestOutcome] = {"run them": "failed"}

    assert not own_work(runs(red, Split(judged=("a.js",))), ("run them",), (ended(),))
    assert not own_work(runs(red, Split(left_out=("test/b.js",), tests=("test/b.js",))), ("run them",), (ended(),))


def test_a_test_that_stayed_as_it_was_decides_nothing_in_a_file_that_the_old_source_cannot_load(
    tmp_path: Path,
) -> None:
    texts = {"bench": "def test_kept():\n    pass\n", "as_it_is": "import new\ndef test_kept():\n    pass\n"}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "test_a.py").write_text(text)
    trees = {name: SimpleNamespace(workspace=SimpleNamespace(folder=tmp_path / name)) for name in texts}
    split = Split(judged=("a.py",), restored=("test_a.py",), tests=("test_a.py",))
    kept, new = (TestCase(id=f"test_a.py::{name}", outcome="passed") for name in ("test_kept", "test_new"))
    found: Any = SimpleNamespace(
        trees=SimpleNamespace(split=split, differ=True, **trees),
        on_bench=((None, SimpleNamespace(cases=(kept,))),),
        now={case.id: case for case in (kept, new)},
        on_old_source={"test_a.py": "failed"},
        fail_alone=frozenset(),
    )

    assert own_tests(found) == (new.id,)
    found.on_old_source = {kept.id: "failed"}
    assert own_tests(found) == (kept.id, new.id), "the old source loads the file"


def test_a_go_test_that_passes_only_as_it_was_changed_is_the_attempts_own() -> None:
    split = Split(judged=("flag.go",), restored=("flag_test.go",), tests=("flag_test.go",))
    names = (".::TestHelp", ".::TestOther", "sub::TestHelp")
    was: Any = {".::TestHelp": "failed", ".::TestOther": "passed", "sub::TestHelp": "failed"}
    found: Any = SimpleNamespace(
        trees=SimpleNamespace(split=split, differ=True),
        on_bench=((None, SimpleNamespace(cases=[TestCase(id=name, outcome=was[name]) for name in names])),),
        now={name: TestCase(id=name, outcome="passed") for name in names},
        on_old_source=dict.fromkeys(names, "failed"),
        fail_alone=frozenset(),
    )

    assert own_tests(found) == (".::TestHelp",)


def test_a_rust_test_is_of_the_file_of_its_module() -> None:
    names = ("src/lib.rs::snake::tests::a", "src/lib.rs::kebab::tests::a", "src/lib.rs::deep::tests::a")
    found: Any = SimpleNamespace(
        trees=SimpleNamespace(split=Split(judged=("src/snake.rs", "src/deep/mod.rs")), differ=False),
        on_bench=((None, SimpleNamespace(cases=[TestCase(id=name, outcome="passed") for name in names])),),
        now={name: TestCase(id=name, outcome="passed") for name in names},
    )

    assert own_tests(found, about_tests=True) == (names[0], names[2])
