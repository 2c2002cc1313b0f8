from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, TestCase, TestOutcome
from milepost.verify.checks.done import DoneCheck, is_about_tests
from milepost.verify.judging.behaviour import about, keeps_behaviour
from milepost.verify.judging.split import Split
from milepost.verify.own_tests import own_tests
from milepost.verify.suites.candidate_runs import CandidateRuns

HERE = Workspace(folder=Path("/nowhere"), scratch=Path("/nowhere"), base="0" * 40)
GREEN = CheckResult(name="tests", outcome="passed", summary="2 passed")
SHOWN = CheckResult(name="verify", outcome="passed", summary="1 did not pass before", decisive=True)


def changed(*paths: str) -> Change:
    return Change(files=tuple(ChangedFile(path=path, before=b"a = 1\n", after=b"a = 2\n") for path in paths))


def runs(
    split: Split, now: Mapping[str, TestOutcome] | None = None, old: Mapping[str, TestOutcome] | None = None
) -> CandidateRuns:
    cases = {name: TestCase(id=name, outcome=outcome) for name, outcome in (now or {}).items()}
    trees = SimpleNamespace(split=split, differ=True)
    found: Any = SimpleNamespace(trees=trees, on_bench=(), now=cases, on_old_source=old or {}, fail_alone=frozenset())
    return cast(CandidateRuns, found)


def answered(change: Change, found: CandidateRuns, *earlier: CheckResult, **more: Any) -> tuple[str, bool]:
    result = DoneCheck(change=change, runs=found, **more).run_after(HERE, earlier)
    return result.outcome, result.decisive


PRODUCT = Split(judged=("a.py",))
BOTH = Split(judged=("a.py",), left_out=("tests/test_a.py",), tests=("tests/test_a.py",))
OWN: dict[str, TestOutcome] = {"tests/test_a.py::test_a": "passed"}
LINE = CheckResult(
    name="verify", outcome="passed", summary="", cases=(TestCase(id="tests/test_a.py::test_a", outcome="passed"),)
)


@pytest.mark.parametrize(
    ("earlier", "more", "expected"),
    [
        pytest.param((GREEN, SHOWN), {}, ("passed", False), id="something was red before"),
        pytest.param((GREEN,), {}, ("held", False), id="green before is no proof"),
        pytest.param((GREEN,), {"keeps_behaviour": True}, ("passed", True), id="no behaviour changes"),
        pytest.param((), {"keeps_behaviour": True}, ("held", False), id="nothing was run"),
        pytest.param((), {}, ("held", False), id="no test and no line"),
    ],
)
def test_what_shows_that_a_task_was_done(
    earlier: tuple[CheckResult, ...], more: dict[str, Any], expected: tuple[str, bool]
) -> None:
    assert answered(changed("a.py"), runs(PRODUCT), *earlier, **more) == expected


@pytest.mark.parametrize(
    ("old", "earlier", "more", "expected"),
    [
        pytest.param({}, (GREEN, LINE), {}, ("passed", True), id="a line of the user's runs them"),
        pytest.param({}, (GREEN,), {}, ("held", False), id="nobody asked for them"),
        pytest.param({}, (GREEN,), {"own_tests": "accept"}, ("passed", True), id="the settings accept them"),
        pytest.param({}, (GREEN,), {"own_tests": "refuse"}, ("failed", False), id="the settings refuse them"),
        pytest.param({}, (GREEN,), {"by_pattern": True}, ("passed", True), id="no model wrote them"),
        pytest.param(OWN, (GREEN, LINE), {}, ("held", False), id="they pass on the old source, too"),
    ],
)
def test_tests_of_the_attempts_own_count_where_somebody_asked_for_them(
    old: dict[str, TestOutcome], earlier: tuple[CheckResult, ...], more: dict[str, Any], expected: tuple[str, bool]
) -> None:
    assert answered(changed("a.py", "tests/test_a.py"), runs(BOTH, OWN, old), *earlier, **more) == expected


def test_documentation_that_the_task_names_is_shown_by_what_stays_green() -> None:
    docs = changed("docs/faq.md")
    split = Split(judged=("docs/faq.md",))

    assert answered(docs, runs(split), GREEN, files=("docs/faq.md",)) == ("passed", True)
    assert answered(docs, runs(split), GREEN) == ("held", False)
    assert answered(docs, runs(split), files=("docs/faq.md",)) == ("held", False), "nothing was asked at all"
    assert answered(docs, runs(split), GREEN, files=("docs/faq.md", "a.py")) == ("held", False), "code was to change"


@pytest.mark.parametrize(("files", "expected"), [(("a.py",), ("passed", True)), (("b.py",), ("held", False))])
def test_a_command_without_tests_shows_work_in_the_files_of_the_task_alone(
    files: tuple[str, ...], expected: tuple[str, bool]
) -> None:
    found = runs(BOTH)
    cast(Any, found).line_on_old_source = lambda line: {line: "failed"}
    line = CheckResult(name="verify", outcome="passed", summary="", argv=("run", "them"))

    said = answered(changed("a.py", "tests/test_a.py"), found, line, lines=("run them",), files=files)

    assert said == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('"""Sums."""\na = 1\n', '"""Adds."""\na = 1\n', ("passed", True)),
        ("a = 1  # one\n", "a = 1  # the first\n", ("passed", True)),
        ("a = 1\n", "a = 2  # two\n", ("held", False)),
        ("a = 1\n", "a = 1\n\n", ("held", False)),
    ],
    ids=["a docstring", "a comment", "code as well", "layout alone"],
)
def test_words_alone_are_done_where_the_task_is_about_them(before: str, after: str, expected: tuple[str, bool]) -> None:
    file = ChangedFile(path="a.py", before=before.encode(), after=after.encode())

    seen = replace(GREEN, cases=LINE.cases)

    assert answered(Change(files=(file,)), runs(PRODUCT), seen, about_words=True) == expected
    assert answered(Change(files=(file,)), runs(PRODUCT), GREEN, about_words=True) == ("held", False), (
        "no test was seen"
    )
    assert answered(Change(files=(file,)), runs(PRODUCT), GREEN) == ("held", False)


@pytest.mark.parametrize(
    ("title", "files", "expected"),
    [
        ("Write a better docstring for total", {"notes.json": None, "LICENSE": None}, "held"),
        ("Write a better docstring for total", {"shop/price.py": b"def total(): 1\n"}, "passed"),
        ("Refactor the price module", {"LICENSE": None}, "held"),
        ("Refactor the price module", {"README.md": b"# Shop\n"}, "held"),
        ("Refactor the price module", {"notes.json": None}, "held"),
        ("Refactor the price module", {"notes.json": None, "shop/price.py": b"def total(): 1\n"}, "passed"),
        ("Refactor the price module", {"notes.json": None, "shop/price.py": b"x = 2  # two\n"}, "held"),
        ("Refactor the page", {"page.css": b"h1 {}\n"}, "passed"),
        ("Add type stubs", {"shop/price.pyi": None}, "passed"),
        ("Document the price module", {"notes.json": None}, "held"),
        ("Document the price module", {"docs/price.md": None}, "passed"),
    ],
)
def test_a_green_suite_shows_a_task_done_only_where_something_of_what_it_is_about_changed(
    title: str, files: dict[str, bytes | None], expected: str
) -> None:
    task = Task(id="1", title=title, status="open", line=1)
    change = Change(files=tuple(ChangedFile(path=path, before=old, after=b"x = 2\n") for path, old in files.items()))

    said = answered(
        change, runs(Split(judged=tuple(files))), GREEN, keeps_behaviour=keeps_behaviour(task), about=about(task)
    )

    assert said[0] == expected


def test_prose_beside_the_code_is_no_docstring() -> None:
    licence = Change(files=(ChangedFile(path="LICENSE", before=None, after=b"MIT\n"),))
    seen = replace(GREEN, cases=LINE.cases)

    said = answered(licence, runs(PRODUCT), seen, about_words=True, keeps_behaviour=True, about="words in code")

    assert said == ("held", False)


def test_a_check_that_could_not_be_made_is_named_and_leaves_it_unverified() -> None:
    missing = CheckResult(name="tests", outcome="absent", summary="the tests could not be run: node is not installed")

    result = DoneCheck(change=changed("a.js"), runs=runs(Split(judged=("a.js",)))).run_after(HERE, (missing,))

    assert (result.outcome, result.needed, result.summary) == ("absent", True, missing.summary)


def test_a_task_about_tests_is_one_by_its_words_or_its_files_and_changes_nothing_else() -> None:
    def about(title: str, *paths: str, files: tuple[str, ...] = ()) -> bool:
        task = Task(id="1", title=title, status="open", line=1, files=files)
        return is_about_tests(task, changed(*paths), tuple(path for path in paths if "test" in path))

    assert about("Close the coverage gaps", "tests/test_a.py")
    assert about("Use the fixture", "tests/test_a.py", files=("tests/test_a.py",))
    assert about("Close the coverage gaps", "tests/test_a.py", "Makefile", "CHANGES.md"), "taken from the base"
    assert not about("Close the coverage gaps", "Makefile"), "settings are no tests"
    assert not about("Close the coverage gaps", "tests/test_a.py", "package.json"), "it may be the product's"
    assert not about("Close the coverage gaps", "tests/test_a.py", "a.py")
    assert not about("Add a parser", "tests/test_a.py")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("pub fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test] fn f() { assert!(true); }\n}\n", ("passed", True)),
        ("pub fn f() {}\n#[cfg(test)]\nmod tests {\n    // }\n    #[test] fn f() {}\n}\n", ("held", False)),
        ("pub fn g() {}\n#[cfg(test)]\nmod tests {\n    #[test] fn f() { assert!(true); }\n}\n", None),
    ],
    ids=["another test", "a comment alone", "the product as well"],
)
def test_tests_inside_of_a_rust_file_are_tests(after: str, expected: tuple[str, bool] | None) -> None:
    before = "pub fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test] fn f() {}\n}\n"
    change = Change(files=(ChangedFile(path="src/a.rs", before=before.encode(), after=after.encode()),))
    split = Split(judged=("src/a.rs",), examples=("src/a.rs",))
    found = runs(split, {"src/a.rs::tests::f": "passed"})

    about = is_about_tests(Task(id="1", title="Add tests of f", status="open", line=1), change, ())

    assert about is (expected is not None)
    if about:
        assert answered(change, found, GREEN, about_tests=True) == expected


def test_tests_that_fail_without_their_neighbours_show_nothing() -> None:
    found = runs(BOTH, OWN)
    found.fail_alone = frozenset(OWN)

    assert own_tests(found) == ()
