from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult, TestOutcome
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.checks.originals import OriginalsCheck
from milepost.verify.checks.tests import TestsCheck, outcomes, parameters
from milepost.verify.command_runner import Bench
from milepost.verify.suites.python_project import find_interpreter
from milepost.verify.witness.swap import read_plainly, swapped

BASE = {
    "hours.py": "def seconds(hours):\n    return hours * 60\n\ndef minutes(hours):\n    return hours * 60\n",
    "tests/test_hours.py": "from hours import seconds\ndef test_hours():\n    assert seconds(1) == 3600\n",
    "tests/test_minutes.py": "from hours import minutes\ndef test_minutes():\n    assert minutes(1) == 60\n",
}
HOURS = "tests/test_hours.py::test_hours"
MINUTES = "tests/test_minutes.py::test_minutes"
FIXED = {"hours.py": BASE["hours.py"].replace("* 60\n\n", "* 3600\n\n")}
WEAKER = {"tests/test_hours.py": BASE["tests/test_hours.py"].replace("== 3600", "> 0")}
BROKEN = {"hours.py": FIXED["hours.py"].replace("* 60\n", "* 61\n")}
BROKEN_TEST = {"tests/test_minutes.py": BASE["tests/test_minutes.py"].replace("60", "61")}
IGNORED = {"pytest.ini": "[pytest]\naddopts = --ignore=tests/test_minutes.py\n"}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with WalledTerminal() as terminal:
        interpreter = find_interpreter(Path("/nowhere"), os.environ, sys.executable)
        yield Bench(terminal=terminal, interpreter=interpreter, timeout_s=60)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "checkout").mkdir()
    (tmp_path / "scratch").mkdir()
    return Workspace(folder=tmp_path / "checkout", scratch=tmp_path / "scratch", base="0" * 40)


def put(workspace: Workspace, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        path = workspace.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)


def attempt(bench: Bench, workspace: Workspace, after: dict[str, str | None], may_change: bool = False) -> CheckResult:
    """The original tests' answer on what an attempt made of the base; the checkout must be left as it was."""
    put(workspace, dict(BASE))
    put(workspace, after)
    files = tuple(
        ChangedFile(
            path=path,
            before=BASE[path].encode() if path in BASE else None,
            after=text.encode() if text is not None else None,
        )
        for path, text in after.items()
    )
    before: dict[str, TestOutcome] = {HOURS: "failed", MINUTES: "passed"}
    told = TestsCheck(bench=bench, before=before, reruns=0).run(workspace)
    listing = {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()}

    result = OriginalsCheck(change=Change(files=files), bench=bench, before=before, may_change=may_change).run_after(
        workspace, (told,)
    )

    assert {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()} == listing
    return result


def test_an_attempt_that_leaves_the_tests_alone_is_not_asked(bench: Bench, workspace: Workspace) -> None:
    assert attempt(bench, workspace, {**FIXED, "tests/test_new.py": "def test_new(): pass\n"}).outcome == "absent"
    assert attempt(bench, workspace, {**WEAKER}, may_change=True).outcome == "absent"


@pytest.mark.parametrize(
    ("after", "summary"),
    [
        (WEAKER, f"{HOURS} passes only in the rewritten form"),
        ({**BROKEN, **BROKEN_TEST}, f"no longer passes in its original form: {MINUTES}: assert 61 == 60"),
        ({**BROKEN, **IGNORED}, f"no longer passes in its original form: {MINUTES}: assert 61 == 60"),
        (
            {**BROKEN, "tests/test_minutes.py": None},
            f"no longer passes in its original form: {MINUTES}: assert 61 == 60",
        ),
    ],
)
def test_a_rewritten_test_does_not_help(
    bench: Bench, workspace: Workspace, after: dict[str, str | None], summary: str
) -> None:
    result = attempt(bench, workspace, after)

    assert (result.outcome, result.summary) == ("failed", summary)


def test_an_honest_change_of_a_test_passes(bench: Bench, workspace: Workspace) -> None:
    more = BASE["tests/test_hours.py"] + "def test_more():\n    assert seconds(2) == 7200\n"

    result = attempt(bench, workspace, {**FIXED, "tests/test_hours.py": more, "conftest.py": "import os\n"})

    assert (result.outcome, result.summary) == ("passed", "2 passed in their original form")
    assert outcomes(result) == {HOURS: "passed", MINUTES: "passed"}


def test_files_come_back_whatever_was_done_to_their_places_meanwhile(tmp_path: Path) -> None:
    checkout, outside = tmp_path / "checkout", tmp_path / "outside"
    (checkout / "tests").mkdir(parents=True)
    outside.mkdir()
    (outside / "a.py").write_text("not yours")
    (checkout / "tests/a.py").write_bytes(b"a\r\n\xff")
    (checkout / "tests/a.py").chmod(0o755)
    (checkout / "tests/link.py").symlink_to("a.py")

    with swapped(checkout, {"tests/a.py": b"b", "tests/link.py": b"c", "new/b.py": b"d", "tests/gone.py": None}):
        assert (checkout / "tests/a.py").read_bytes() == b"b"
        assert (checkout / "new/b.py").read_bytes() == b"d"
        (checkout / "tests").rename(checkout / "moved")
        (checkout / "tests").symlink_to(outside)

    assert (checkout / "tests/a.py").read_bytes() == b"a\r\n\xff"
    assert (checkout / "tests/a.py").stat().st_mode & 0o777 == 0o755
    assert (checkout / "tests/link.py").readlink() == Path("a.py")
    assert not (checkout / "new/b.py").exists()
    assert [path.name for path in outside.iterdir()] == ["a.py"] and (outside / "a.py").read_text() == "not yours"
    assert read_plainly(checkout, "tests/link.py") is None


COMPUTED = """
import pytest
from hours import minutes

def cases():
    return [[1, 60], [2, 120]]

@pytest.mark.parametrize("case", cases())
def test_case(case):
    assert minutes(case[0]) == case[1]
"""


@pytest.mark.parametrize(
    ("now", "tests", "originals"),
    [
        ("[[1, 60], [3, 180], [2, 120]]", "3 passed", "2 passed in their original form"),
        ("[[1, 60], [0, 0]]", "2 passed", "parameters were removed from the tests: test_case.py::test_case[case1]"),
    ],
    ids=["one more between", "one replaced under its number"],
)
def test_parameters_that_were_taken_are_named_whatever_has_their_number(
    bench: Bench, workspace: Workspace, now: str, tests: str, originals: str
) -> None:
    put(workspace, {"hours.py": BASE["hours.py"], "test_case.py": COMPUTED})
    base = TestsCheck(bench=bench).run(workspace)
    after = COMPUTED.replace("[[1, 60], [2, 120]]", now)
    put(workspace, {"test_case.py": after})
    change = Change(files=(ChangedFile(path="test_case.py", before=COMPUTED.encode(), after=after.encode()),))
    before, told = outcomes(base), parameters(base)

    seen = TestsCheck(bench=bench, before=before, parameters=told, reruns=0).run(workspace)
    result = OriginalsCheck(change=change, bench=bench, before=before, parameters=told).run_after(workspace, (seen,))

    assert (seen.outcome, seen.summary, result.summary) == ("passed", tests, originals)
