"""Hidden tests: laid into the checkout for their run alone, run with and without a runner, told without source."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.ports import Terminal
from milepost.core.verdict import CheckResult
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.checks.hidden import HiddenTestsCheck
from milepost.verify.command_runner import Bench
from milepost.verify.laid_tests import QUOTES, Material
from milepost.verify.suites.python_project import find_interpreter
from tests import lean
from tests.integration.suites import names_in, workspace_in

SECRET = "a remark that nobody may read"
TESTS = f"""from area import square

def test_small():
    # {SECRET}
    assert square(3) == 9

def test_large():
    assert square(12) == 144 and square(1) == 1
"""
RIGHT = "def square(x):\n    return x * x\n"


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield isolated


def material(text: str = TESTS, **more: str) -> Material:
    files = {"hidden/test_square.py": text, **more}
    return Material(files={path: content.encode() for path, content in files.items()})


@pytest.fixture
def bench(terminal: Terminal, tmp_path: Path) -> Bench:
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    found = Bench(
        terminal=terminal, interpreter=find_interpreter(tmp_path, os.environ, str(lean.python())), timeout_s=60
    )
    return replace(found, equipment=replace(found.equipment, variables=env))


def asked(
    product: str, bench: Bench, folder: Path, *, line: str = "pytest -q hidden", tests: Material | None = None
) -> tuple[CheckResult, Workspace]:
    workspace = workspace_in(folder, {"area.py": product})
    return HiddenTestsCheck(command_line=line, bench=bench, material=tests or material()).run(workspace), workspace


def test_right_work_passes_with_and_without_a_runner_and_nothing_is_left(bench: Bench, tmp_path: Path) -> None:
    found, workspace = asked(RIGHT, bench, tmp_path)
    assert (found.outcome, found.decisive) == ("passed", True)
    assert found.summary == "2 hidden tests passed, 2 of them also without a runner"
    assert names_in(workspace.folder) == {"area.py"}


def test_a_failure_is_told_by_name_and_message_without_the_source(bench: Bench, tmp_path: Path) -> None:
    found, _ = asked("def square(x):\n    return 9\n", bench, tmp_path)
    assert found.outcome == "failed"
    assert "hidden/test_square.py::test_large" in found.summary
    assert SECRET not in repr(found)
    assert not any(case.traceback for case in found.cases)
    assert found.log == ""


@pytest.mark.parametrize(
    "product",
    [
        "import sys\n\ndef square(x):\n    return x * x if '_pytest' in sys.modules else None\n",
        "import os\n\ndef square(x):\n    return x * x if 'PYTEST_CURRENT_TEST' in os.environ else 9\n",
        "class Anything(int):\n    def __eq__(self, other):\n        return True\n\n"
        "def square(x):\n    return Anything()\n",
        "class Number:\n    def __eq__(self, other):\n        return isinstance(other, int)\n\n"
        "def square(x):\n    return Number()\n",
        "import sys\nif 'pytest' not in sys.modules:\n    raise ImportError('area')\n" + RIGHT,
        "import atexit, os, sys\nif 'pytest' not in sys.modules:\n    os._exit(0)\n" + RIGHT,
    ],
)
def test_work_that_is_right_only_under_a_runner_or_equal_to_all_fails(
    product: str, bench: Bench, tmp_path: Path
) -> None:
    found, _ = asked(product, bench, tmp_path)
    assert found.outcome == "failed"
    assert "without a test runner" in found.summary


@pytest.mark.parametrize(
    ("tests", "product"),
    [
        ("assert size() == 5", "import enum\nclass S(enum.IntEnum):\n    A = 5\ndef size():\n    return S.A\n"),
        ("assert size() == (1, 2)", "from collections import namedtuple\nP = namedtuple('P', 'a b')\n"
         "def size():\n    return P(1, 2)\n"),
        ("assert size() == {'a': 1}", "from collections import Counter\ndef size():\n    return Counter('a')\n"),
        ("assert size() == 5", "class Money:\n    def __init__(self, n): self.n = n\n"
         "    def __eq__(self, other): return self.n == other\ndef size():\n    return Money(5)\n"),
        ("assert not size() == 4 and (size() == 3 or size() == 5)", "def size():\n    return 5\n"),
        ("import pytest\n    assert size() == pytest.approx(0.3)", "def size():\n    return 0.1 + 0.2\n"),
        ("from unittest.mock import ANY\n    assert size() == [1, ANY]", "def size():\n    return [1, object()]\n"),
    ],
)  # fmt: skip
def test_honest_values_of_other_classes_are_equal_without_a_runner(
    tests: str, product: str, bench: Bench, tmp_path: Path
) -> None:
    hidden = material(f"from area import size\n\ndef test_size():\n    {tests}\n")
    found, _ = asked(product, bench, tmp_path, tests=hidden)
    assert (found.outcome, found.summary) == ("passed", "1 hidden test passed, 1 of them also without a runner")


def test_tests_with_fixtures_are_run_under_the_runner_alone(bench: Bench, tmp_path: Path) -> None:
    hidden = material("from area import square\n\ndef test_it(capsys):\n    assert square(2) == 4\n")
    found, _ = asked(RIGHT, bench, tmp_path, tests=hidden)
    assert (found.outcome, found.summary) == ("passed", "1 hidden test passed")


def test_work_that_prints_the_hidden_tests_learns_nothing(bench: Bench, tmp_path: Path) -> None:
    product = (
        "import pathlib\n\ndef square(x):\n    raise ValueError([*pathlib.Path('hidden').glob('*')][0].read_text())\n"
    )
    found, _ = asked(product, bench, tmp_path)
    assert found.outcome == "failed"
    assert {case.message for case in found.cases} == {QUOTES}
    assert SECRET not in repr(found)


def test_what_the_work_put_in_their_place_takes_no_part_and_is_there_afterwards(bench: Bench, tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path, {"area.py": "", "hidden/test_square.py": "def test_small():\n    pass\n"})
    found = HiddenTestsCheck(command_line="pytest hidden", bench=bench, material=material()).run(workspace)
    assert found.outcome == "failed"
    assert (workspace.folder / "hidden/test_square.py").read_text() == "def test_small():\n    pass\n"


def test_another_runner_gives_names_alone(bench: Bench, tmp_path: Path) -> None:
    script = f"echo 'not ok 1 - squares numbers'; echo '{SECRET}'; exit 1"
    hidden = Material(files={"hidden/run.sh": script.encode()})
    found, _ = asked(RIGHT, bench, tmp_path, line="sh hidden/run.sh", tests=hidden)
    assert (found.outcome, found.summary) == ("failed", "hidden test failed: squares numbers")
    assert SECRET not in repr(found)


@pytest.mark.parametrize("line", ["no-such-program hidden"])
def test_a_check_that_cannot_be_made_here_is_needed(line: str, bench: Bench, tmp_path: Path) -> None:
    found, _ = asked(RIGHT, bench, tmp_path, line=line)
    assert (found.outcome, found.needed, found.decisive) == ("absent", True, False)
