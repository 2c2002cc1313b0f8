"""Tests that another agent wrote: what they decide, and what they do not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.ports import Terminal
from milepost.core.verdict import CheckResult
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.checks.independent import IndependentTests, IndependentTestsCheck
from milepost.verify.command_runner import Bench
from milepost.verify.suites.python_project import find_interpreter
from tests import lean
from tests.integration.suites import names_in, workspace_in

PYTHON = {"tests/test_square.py": "from area import square\n\ndef test_it():\n    assert square(3) == 9\n"}
NODE = {
    "test/square.test.mjs": "import {test} from 'node:test';\nimport assert from 'node:assert';\n"
    "import {square} from '../area.mjs';\ntest('squares', () => assert.strictEqual(square(3), 9));\n"
}


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield isolated


def asked(
    tests: IndependentTests, files: dict[str, str], terminal: Terminal, folder: Path, **more: object
) -> CheckResult:
    bench = Bench(terminal=terminal, interpreter=find_interpreter(folder, os.environ, str(lean.python())), timeout_s=60)
    workspace = workspace_in(folder, files)
    found = IndependentTestsCheck(tests=tests, worker="claude", bench=bench, **more).run(workspace)  # type: ignore[arg-type]
    assert names_in(workspace.folder) == set(files), "nothing is left of them"
    return found


def test_a_test_that_was_red_decides_and_both_agents_are_named(terminal: Terminal, tmp_path: Path) -> None:
    tests = IndependentTests(tester="codex", files=PYTHON, at_base={"tests/test_square.py": "failed"})
    found = asked(tests, {"area.py": "def square(x):\n    return x * x\n"}, terminal, tmp_path)
    assert (found.outcome, found.decisive, found.before) == ("passed", True, "failed")
    assert found.summary == "1 test that codex wrote before claude worked on the task passes"


def test_wrong_work_fails_by_name_alone(terminal: Terminal, tmp_path: Path) -> None:
    tests = IndependentTests(tester="claude", files=PYTHON, at_base={"tests/test_square.py": "failed"})
    found = asked(tests, {"area.py": "def square(x):\n    return x\n"}, terminal, tmp_path)
    assert (found.outcome, found.decisive) == ("failed", True)
    assert "tests/test_square.py::test_it" in found.summary and "claude, the same agent" in found.summary
    assert "def test_it" not in repr(found)


def test_tests_that_can_never_be_imported_decide_nothing(terminal: Terminal, tmp_path: Path) -> None:
    tests = IndependentTests(tester="codex", files=PYTHON, at_base={"tests/test_square.py": "failed"})
    found = asked(tests, {"shapes.py": "def square(x):\n    return x * x\n"}, terminal, tmp_path)
    assert (found.outcome, found.decisive, found.needed) == ("absent", False, False)
    assert "could not be run" in found.summary


@pytest.mark.parametrize(("keeps", "decisive"), [(True, True), (False, False)])
def test_tests_that_passed_before_decide_only_where_behaviour_stays(
    keeps: bool, decisive: bool, terminal: Terminal, tmp_path: Path
) -> None:
    tests = IndependentTests(tester="codex", files=PYTHON, at_base={"tests/test_square.py::test_it": "passed"})
    product = {"area.py": "def square(x):\n    return x**2\n"}
    found = asked(tests, product, terminal, tmp_path, keeps_behaviour=keeps)
    assert (found.outcome, found.decisive) == ("passed", decisive)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize(("body", "outcome"), [("x * x", "passed"), ("x", "failed")])
def test_tests_of_other_languages_are_run_by_the_projects_runner(
    body: str, outcome: str, terminal: Terminal, tmp_path: Path
) -> None:
    tests = IndependentTests(tester="codex", files=NODE, at_base={"test/square.test.mjs": "failed"})
    files = {
        "package.json": '{"scripts": {"test": "node --test"}}\n',
        "area.mjs": f"export const square = (x) => {body};\n",
    }
    found = asked(tests, files, terminal, tmp_path)
    assert found.outcome == outcome, found
    assert [case.outcome for case in found.cases] == [outcome]
