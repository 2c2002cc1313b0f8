from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.ports import Terminal
from milepost.core.verdict import TestOutcome
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.checks.tests import find_flaky, outcomes, ran_to_the_end
from milepost.verify.command_runner import Bench
from tests.fakes.suite_check import run_tests
from tests.integration.suites import workspace_in, write
from tests.tools import needs

pytestmark = needs("node")

COUNTS = """
    const test = require("node:test");
    const assert = require("node:assert");
    const { seconds } = require("./hours.js");
    test("counts", () => assert.strictEqual(seconds(2), 7200));
    test("of nothing", () => assert.strictEqual(seconds(0), 0));
"""
# Fails the first time it is run in a checkout, and every other time from there on.
SOMETIMES = """
    const test = require("node:test");
    const fs = require("node:fs");
    test("sometimes", () => {
      const mark = __dirname + "/.ran";
      if (fs.existsSync(mark)) { fs.unlinkSync(mark); return; }
      fs.writeFileSync(mark, "");
      throw new Error("not this time");
    });
"""
HOURS = "exports.seconds = (hours) => hours * {factor};\n"
PROJECT = {"package.json": "{}", "hours.js": HOURS.format(factor=3600), "hours.test.js": COUNTS}
FLAKY_ID = "luck.test.js::sometimes"


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield isolated


@pytest.fixture
def bench(terminal: Terminal) -> Bench:
    return Bench(terminal=terminal, timeout_s=60)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return workspace_in(tmp_path, PROJECT)


def test_a_fixed_test_gets_the_credit_and_a_broken_one_fails(bench: Bench, workspace: Workspace) -> None:
    write(workspace, {"hours.js": HOURS.format(factor=60)})
    base = outcomes(run_tests(bench, workspace))
    write(workspace, {"hours.js": HOURS.format(factor=3600)})
    fixed = run_tests(bench, workspace, before=base)
    write(workspace, {"hours.js": HOURS.format(factor=60)})
    broken = run_tests(bench, workspace, before=outcomes(fixed))

    assert base == {"hours.test.js::counts": "failed", "hours.test.js::of nothing": "passed"}
    assert (fixed.outcome, fixed.decisive, fixed.summary) == ("passed", True, "2 passed, 1 of them did not pass before")
    assert {case.id: case.before for case in fixed.cases} == base
    assert "node v" in fixed.environment
    assert broken.outcome == "failed"
    assert broken.summary.startswith("hours.test.js::counts: Expected values to be strictly equal: 120 !== 7200")
    assert "hours.test.js::counts" in broken.log


def test_a_test_that_fails_now_and_then_fails_the_task_unless_it_did_so_before(
    bench: Bench, workspace: Workspace, tmp_path: Path
) -> None:
    write(workspace, {"luck.test.js": SOMETIMES})
    base = {**dict.fromkeys(("hours.test.js::counts", "hours.test.js::of nothing", FLAKY_ID), "passed")}
    asked: list[tuple[str, ...]] = []

    def also_at_base(ids: tuple[str, ...]) -> frozenset[str]:
        asked.append(ids)
        return frozenset(ids)

    new = run_tests(bench, workspace, before=base, flaky_at_base=lambda ids: frozenset())
    (workspace.folder / ".ran").unlink(missing_ok=True)
    old = run_tests(bench, workspace, before=base, flaky_at_base=also_at_base)

    assert (new.outcome, new.summary) == (
        "failed",
        f"{FLAKY_ID}: not this time (failed 1 of 2 times, but not on the base commit)",
    )
    assert old.summary == f"2 passed, 1 flaky, as on the base commit: {FLAKY_ID}"
    assert (old.outcome, old.decisive, asked) == ("passed", False, [(FLAKY_ID,)])
    assert [case.id for case in old.cases if case.flaky] == [FLAKY_ID]
    assert outcomes(old)[FLAKY_ID] == "passed"


def test_flaky_tests_are_found_by_running_them_again(bench: Bench, workspace: Workspace) -> None:
    write(workspace, {"luck.test.js": SOMETIMES, "hours.js": HOURS.format(factor=60)})

    found = find_flaky((FLAKY_ID, "hours.test.js::counts", "hours.test.js::of nothing"), workspace, bench, times=3)

    assert found == {FLAKY_ID}


def test_luck_at_the_base_earns_no_credit(bench: Bench, workspace: Workspace) -> None:
    write(workspace, {"luck.test.js": SOMETIMES})
    base = outcomes(run_tests(bench, workspace))
    (workspace.folder / ".ran").write_text("")  # it will pass now

    result = run_tests(bench, workspace, before=base)

    assert (result.outcome, result.decisive, result.summary) == ("passed", False, "3 passed")


def test_the_suites_of_several_languages_are_one_answer(bench: Bench, tmp_path: Path) -> None:
    script = {"package.json": json.dumps({"scripts": {"test": "node --test"}})}
    files = {f"packages/web/{name}": text for name, text in (PROJECT | script).items()}
    lost = {"packages/old/package.json": json.dumps({"scripts": {"test": "vitest run"}})}
    workspace = workspace_in(tmp_path, files | lost | {"packages/c/Makefile": "test:\n\t@true\n"})

    result = run_tests(bench, workspace)
    write(workspace, {"packages/web/hours.js": "process.exit(0);\n"})
    problem = run_tests(bench, workspace, before=outcomes(result))

    assert set(outcomes(result)) == {f"packages/web/hours.test.js::{name}" for name in ("counts", "of nothing")}
    assert result.summary == "2 passed, not run: packages/old (vitest): vitest is not installed"
    assert ran_to_the_end(result)
    assert problem.outcome == "failed"
    assert not ran_to_the_end(problem)


def test_a_suite_that_cannot_be_run_here_is_no_baseline_and_fails_what_had_tests(bench: Bench, tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path, {"package.json": json.dumps({"scripts": {"test": "vitest run"}})})

    alone = run_tests(bench, workspace)
    lost = run_tests(bench, workspace, before={"a.test.js::counts": "passed"})

    assert (alone.outcome, alone.summary) == ("absent", "the tests could not be run: vitest is not installed")
    assert not ran_to_the_end(alone)
    assert lost.outcome == "failed"
    assert "vitest is not installed" in lost.summary


def test_a_test_that_passes_by_luck_earns_no_credit_where_nothing_else_decides(
    bench: Bench, workspace: Workspace
) -> None:
    base: dict[str, TestOutcome] = {"hours.test.js::counts": "failed", "hours.test.js::of nothing": "passed"}
    lucky = run_tests(bench, workspace, before=base, is_all=True, flaky_at_base=frozenset)
    assert (lucky.outcome, lucky.decisive) == ("passed", False)
    assert "flaky" in lucky.summary
    assert run_tests(bench, workspace, before=base, is_all=True, flaky_at_base=lambda _: frozenset()).decisive
    assert run_tests(bench, workspace, before=base, flaky_at_base=frozenset).decisive, (
        "a Verify line is there to decide"
    )


def test_a_suite_that_could_not_be_run_at_the_base_either_is_nobodys_fault(bench: Bench, workspace: Workspace) -> None:
    kills = "const test = require('node:test');\ntest('kills', () => process.kill(process.ppid, 'SIGKILL'));\n"
    write(workspace, {"hours.test.js": kills})
    assert run_tests(bench, workspace).outcome == "failed"
    excused = run_tests(bench, workspace, at_base_either=True)
    assert excused.outcome == "absent"
    assert not ran_to_the_end(excused), "and the next attempt is not compared with nothing"
