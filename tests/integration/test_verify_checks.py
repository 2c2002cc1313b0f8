from __future__ import annotations

import os
import venv
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.core.verdict import CheckOutcome, CheckResult, TestOutcome, Verdict
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.baseline_port import UnknownBefore
from milepost.verify.checks.tests import outcomes, ran_to_the_end
from milepost.verify.command_runner import Bench
from milepost.verify.selection.at_base import LineAtBase
from milepost.verify.selection.check import VerifyCheck
from milepost.verify.selection.line import read_line
from milepost.verify.suites.python_project import ProjectPython, PytestPresence, find_interpreter
from milepost.verify.trees import Trees
from milepost.verify.verify import Question, Subject, checks_for, verify
from tests import lean
from tests.fakes.suite_check import one_tree, run_tests

HOURS = "def seconds(hours: float) -> float:\n    return hours * {factor}\n"
TEST_HOURS = """
import unittest
from hours import seconds

class TestHours(unittest.TestCase):
    def test_hours(self):
        self.assertEqual(seconds(1.5), 5400, "hours are wrong")

    def test_nothing(self):
        self.assertEqual(seconds(0), 0)
"""


class PlainPytest:
    """A terminal where pytest loads no plugins: those of Milepost's own environment cost half of its time."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        env = {**command.env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return self._terminal.run(replace(command, env=env), on_line)


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield PlainPytest(isolated)


@pytest.fixture(scope="module")
def presence() -> PytestPresence:
    return PytestPresence()


@pytest.fixture(scope="module")
def with_pytest() -> ProjectPython:
    found = find_interpreter(Path("/nowhere"), os.environ, str(lean.python()))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def without_pytest(tmp_path_factory: pytest.TempPathFactory) -> ProjectPython:
    repository = tmp_path_factory.mktemp("repository")
    venv.create(repository / ".venv", with_pip=False)
    found = find_interpreter(repository, os.environ)
    assert found is not None
    return found


@pytest.fixture(params=["with pytest", "without pytest"])
def bench(
    request: pytest.FixtureRequest,
    terminal: Terminal,
    presence: PytestPresence,
    with_pytest: ProjectPython,
    without_pytest: ProjectPython,
) -> Bench:
    interpreter = with_pytest if request.param == "with pytest" else without_pytest
    return Bench(terminal=terminal, interpreter=interpreter, pytest=presence, timeout_s=60)


@pytest.fixture
def pytest_bench(terminal: Terminal, presence: PytestPresence, with_pytest: ProjectPython) -> Bench:
    return Bench(terminal=terminal, interpreter=with_pytest, pytest=presence, timeout_s=60)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "checkout").mkdir()
    (tmp_path / "scratch").mkdir()
    return Workspace(folder=tmp_path / "checkout", scratch=tmp_path / "scratch", base="0" * 40)


def write(workspace: Workspace, **files: str) -> None:
    """Write files, named with `__` for `/` and without their `.py`."""
    for name, text in files.items():
        path = workspace.folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_the_same_tests_give_the_same_answer_with_and_without_pytest(bench: Bench, workspace: Workspace) -> None:
    write(workspace, src__hours=HOURS.format(factor=60), tests__test_hours=TEST_HOURS)
    before = listing(workspace.folder)

    result = run_tests(bench, workspace)

    assert result.outcome == "failed"
    assert result.summary == "tests/test_hours.py::TestHours::test_hours: 90.0 != 5400 : hours are wrong"
    assert outcomes(result) == {
        "tests/test_hours.py::TestHours::test_hours": "failed",
        "tests/test_hours.py::TestHours::test_nothing": "passed",
    }
    assert "hours are wrong" in result.log
    assert result.argv[0] == str(bench.interpreter and bench.interpreter.path)
    assert listing(workspace.folder) == before


def test_a_fixed_test_decides(bench: Bench, workspace: Workspace) -> None:
    write(workspace, hours=HOURS.format(factor=60), tests__test_hours=TEST_HOURS)
    base = outcomes(run_tests(bench, workspace))
    write(workspace, hours=HOURS.format(factor=3600))

    result = run_tests(bench, workspace, before=base)

    assert (result.outcome, result.decisive) == ("passed", True)
    assert result.summary == "2 passed, 1 of them did not pass before"


def test_tests_written_before_their_module_decide_once_it_is_there(bench: Bench, workspace: Workspace) -> None:
    write(workspace, tests__test_hours=TEST_HOURS, tests__test_days="import days\n" + TEST_HOURS)
    base = outcomes(run_tests(bench, workspace))
    assert base == {"tests/test_days.py": "failed", "tests/test_hours.py": "failed"}
    write(workspace, hours=HOURS.format(factor=3600))

    result = run_tests(bench, workspace, before=base)

    assert (result.outcome, result.decisive) == ("passed", True)
    assert result.summary == "2 passed, 2 of them did not pass before, 1 failed already before"


def test_a_file_that_can_no_longer_be_imported_fails_with_the_reason(bench: Bench, workspace: Workspace) -> None:
    write(workspace, hours=HOURS.format(factor=3600), test_hours=TEST_HOURS)
    base = outcomes(run_tests(bench, workspace))
    write(workspace, hours="import no_such_module\n")

    result = run_tests(bench, workspace, before=base)

    assert result.outcome == "failed"
    assert result.summary == "test_hours.py: ModuleNotFoundError: No module named 'no_such_module'"


HIDE_THE_END = """
import os
def pytest_runtest_logreport(report):
    if report.when == "teardown":
        os._exit(0)
"""
FORGE_A_REPORT = """
import os
def pytest_configure(config):
    path = config.option.xmlpath
    os.mkfifo(path)
    os._exit(0)
"""
LINK_A_REPORT = """
import os
def pytest_configure(config):
    real = config.rootpath / "real.xml"
    real.write_text('<testsuite><testcase classname="t" name="a"/></testsuite>')
    os.symlink(real, config.option.xmlpath)
    os._exit(0)
"""
WRITE_RUBBISH = """
import os
def pytest_configure(config):
    open(config.option.xmlpath, "w").write("<testsuites>")
    os._exit(0)
"""
CLAIM_SUCCESS = """
def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
SKIP_ALL = """
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.skip("all is well"))
"""


@pytest.mark.parametrize(
    "conftest", [HIDE_THE_END, FORGE_A_REPORT, LINK_A_REPORT, WRITE_RUBBISH, CLAIM_SUCCESS, SKIP_ALL]
)
def test_exit_zero_without_tests_that_passed_is_not_believed(
    pytest_bench: Bench, workspace: Workspace, conftest: str
) -> None:
    write(workspace, hours=HOURS.format(factor=60), test_hours=TEST_HOURS, conftest=conftest)
    line = VerifyCheck(command_line="python -m pytest -q", bench=pytest_bench)
    before: dict[str, TestOutcome] = {"test_hours.py::TestHours::test_nothing": "passed"}

    verify_line, tests = line.run(workspace), run_tests(pytest_bench, workspace, before=before)

    assert verify_line.outcome == "failed"
    assert tests.outcome == "failed"


@pytest.mark.parametrize(
    ("conftest", "reason"),
    [
        ("import nope\n", "exit 4: ModuleNotFoundError: No module named 'nope'"),
        ("import os\nos.abort()\n", "the tests did not run to their end"),
    ],
)
def test_a_runner_that_crashes_fails_the_check(
    pytest_bench: Bench, workspace: Workspace, conftest: str, reason: str
) -> None:
    write(workspace, test_a="def test_a():\n    pass\n", conftest=conftest)

    result = run_tests(pytest_bench, workspace)

    assert result.outcome == "failed"
    assert reason in result.summary
    assert not ran_to_the_end(result)


def test_tests_that_ran_to_their_end_are_told_from_those_that_did_not(bench: Bench, workspace: Workspace) -> None:
    def ran() -> bool:
        return ran_to_the_end(run_tests(bench, workspace))

    assert ran()
    write(workspace, hours=HOURS.format(factor=60), test_hours=TEST_HOURS)
    assert ran()
    write(workspace, test_hours="import missing\n")
    assert ran()
    write(workspace, test_hours="import os\nos._exit(0)\n")
    assert not ran()
    write(workspace, test_hours="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert not ran()
    write(workspace, test_hours="import time\ntime.sleep(600)\n")
    assert not ran_to_the_end(run_tests(replace(bench, timeout_s=1.0), workspace))
    assert not ran_to_the_end(run_tests(replace(bench, interpreter=None), workspace))


def test_a_project_without_tests_has_nothing_to_ask_unless_it_had_some(bench: Bench, workspace: Workspace) -> None:
    assert run_tests(bench, workspace).outcome == "absent"
    write(workspace, tests__test_empty="")
    assert run_tests(bench, workspace).outcome == "absent"
    assert run_tests(bench, workspace, before={"t::a": "passed"}).outcome == "failed"


def run_line(bench: Bench, workspace: Workspace, line: str) -> CheckResult:
    return VerifyCheck(command_line=line, bench=bench).run(workspace)


def test_a_verify_line_passes_by_its_exit_code(pytest_bench: Bench, workspace: Workspace) -> None:
    result = run_line(pytest_bench, workspace, "python -c 'print(1)'")

    assert (result.outcome, result.summary) == (
        "passed",
        "`python -c 'print(1)'` exit 0: exit code alone, no test runner was seen to start",
    )
    assert result.argv == ("python", "-c", "print(1)")
    assert result.log == "1"


def test_a_verify_line_of_shell_syntax_is_run_by_a_shell(pytest_bench: Bench, workspace: Workspace) -> None:
    line = "echo hello | grep -q hello && echo told > out.txt"

    assert run_line(pytest_bench, workspace, line).outcome == "passed"
    assert (workspace.folder / "out.txt").read_text() == "told\n"


@pytest.mark.parametrize(
    ("line", "summary"),
    [
        ("python -c 'raise KeyError(5)'", "`python -c 'raise KeyError(5)'` exit 1: KeyError: 5"),
        ("no-such-program --now", "`no-such-program --now` not found: no-such-program"),
        ("", "the Verify line is empty"),
        ("python -m unittest", "it selects no test"),
        ("python -m unittest test_skips", "every test was skipped"),
        ("python -m pytest empty", "it selects no test"),
        ("python -m pytest test_skips.py -k nothing", "it selects no test"),
        ("python -m pytest tests/test_new.py", "tests/test_new.py: there is no such file, module or test"),
        ("python -m unittest tests.test_new", "tests.test_new: there is no such file, module or test"),
        ("python -m pytest test_skips.py", "every test was skipped"),
        ("no-such-program || no-other-program", "not found: "),
    ],
)
def test_a_verify_line_that_fails_or_proves_nothing_says_why(
    pytest_bench: Bench, workspace: Workspace, line: str, summary: str
) -> None:
    (workspace.folder / "empty").mkdir()
    if "skips" in line:
        skipped = "import unittest\nclass T(unittest.TestCase):\n    @unittest.skip('')\n    def test_a(self): pass\n"
        write(workspace, test_skips=skipped)

    result = run_line(pytest_bench, workspace, line)

    assert result.outcome == "failed"
    assert summary in result.summary


def test_a_pytest_line_tells_the_test_and_what_it_expected(pytest_bench: Bench, workspace: Workspace) -> None:
    test = (
        "from hours import seconds\ndef test_hours():\n"
        "    got = seconds(1.5)\n    assert got == 5400, f'expected 5400, got {got}'\n"
    )
    write(workspace, hours=HOURS.format(factor=60), tests__test_x=test)

    failed = run_line(pytest_bench, workspace, "python -m pytest tests/test_x.py")
    write(workspace, hours=HOURS.format(factor=3600))
    passed = run_line(pytest_bench, workspace, "python -m pytest tests/test_x.py")

    assert failed.summary.endswith(": tests/test_x.py::test_hours: expected 5400, got 90.0")
    assert (passed.outcome, outcomes(passed)) == ("passed", {"tests/test_x.py::test_hours": "passed"})


def test_a_command_that_takes_too_long_is_ended(pytest_bench: Bench, workspace: Workspace) -> None:
    result = run_line(replace(pytest_bench, timeout_s=0.5), workspace, "sleep 600")

    assert (result.outcome, result.summary) == ("failed", "`sleep 600` timed out after 0.5 s")
    assert result.exit_code is None


def test_settings_above_the_checkout_are_the_users_own_affair(pytest_bench: Bench, workspace: Workspace) -> None:
    above = workspace.folder.parent
    (above / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--no-such-option'\n")
    (above / "conftest.py").write_text("raise SystemExit('not yours')\n")
    (workspace.folder / "pyproject.toml").write_text("[project]\nname = 'app'\n")
    write(workspace, test_a="def test_a():\n    pass\n")

    assert run_tests(pytest_bench, workspace).summary == "1 passed"
    assert run_line(pytest_bench, workspace, "python -m pytest test_a.py").summary.endswith(": 1 passed")


@pytest.mark.parametrize("place", ["", "packages/a"])
def test_settings_in_the_checkout_hold(pytest_bench: Bench, workspace: Workspace, place: str) -> None:
    folder = workspace.folder / place
    write(workspace, **{f"{place}/tests/test_a".lstrip("/"): "def test_a():\n    import helper\n"})
    write(workspace, **{f"{place}/lib/helper".lstrip("/"): ""})
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = lib\n")

    result = run_line(pytest_bench, workspace, f"python -m pytest {folder.relative_to(workspace.folder)}/tests")

    assert result.outcome == "passed", result.log


TASK = Task(
    id="hours",
    title="Hours",
    status="open",
    line=1,
    files=("hours.py",),
    subtasks=(Task(id="hours.1", title="Test it", status="open", line=2, verify=("python -m unittest test_hours",)),),
)


class NoTestsBefore(UnknownBefore):
    """A base that is known to have had no test."""

    def tests(self) -> dict[str, TestOutcome]:
        return {}

    def command(self, line: str) -> LineAtBase:
        return LineAtBase(outcome="failed", selections=read_line(line).selections, is_runner=True)


def asked_of(task: Task, trees: Trees, *changed: str, agent: str = "") -> tuple[Question, ...]:
    files = tuple(ChangedFile(path=path, before=b"", after=b"x = 1\n") for path in changed)
    change = Change(files=files)
    return checks_for(
        Subject(tree="1" * 40, task=task, change=change, agent=agent, trees=trees, before=NoTestsBefore())
    )


def test_the_verdict_follows_the_evidence(pytest_bench: Bench, workspace: Workspace) -> None:
    trees = one_tree(pytest_bench, workspace)

    def judged(task: Task, agent: str = "") -> Verdict:
        checks = asked_of(task, trees, "hours.py", agent=agent)
        return verify(trees, checks, "1" * 40, Redactor()).verdict

    without_line = replace(TASK, subtasks=())
    write(workspace, hours=HOURS.format(factor=3600), test_hours=TEST_HOURS)
    assert judged(TASK) is Verdict.PASSED
    assert judged(without_line) is Verdict.HELD
    write(workspace, hours=HOURS.format(factor=60))
    assert judged(TASK) is Verdict.FAILED
    assert judged(without_line) is Verdict.FAILED


def test_all_checks_run_but_nothing_runs_after_a_change_that_is_none(pytest_bench: Bench, workspace: Workspace) -> None:
    write(workspace, hours=HOURS.format(factor=60), test_hours=TEST_HOURS)
    seen: list[str] = []
    trees = one_tree(pytest_bench, workspace)

    def run(changed: tuple[str, ...]) -> list[str]:
        checks = asked_of(TASK, trees, *changed)
        evidence = verify(trees, checks, "1" * 40, Redactor(), lambda result: seen.append(result.name))
        assert evidence.verdict is Verdict.FAILED
        return [check.name for check in evidence.checks if check.outcome == "failed"]

    assert run(()) == ["files"]
    assert seen == ["files"]
    assert run(("hours.py",)) == ["tests", "verify"]


def test_no_secret_is_kept(pytest_bench: Bench, workspace: Workspace) -> None:
    secret = "correct-horse-battery"
    redact = Redactor([secret])
    leak = f"def test_leak():\n    print({secret!r})\n    assert False, 'x' * 290 + {secret!r}\n"
    write(workspace, a="x = 1\n", test_leak=leak)
    task = replace(TASK, files=(), subtasks=(), verify=(f"echo {secret}; exit 3", "python -m pytest"))
    trees = one_tree(replace(pytest_bench, redact=redact), workspace)

    evidence = verify(trees, asked_of(task, trees, "a.py"), "1" * 40, redact)

    assert [check.name for check in evidence.checks if check.outcome == "failed"] == ["tests", "verify", "verify"]
    assert "correct" not in repr(evidence)


def test_pytest_is_asked_for_once_and_an_agents_pytest_file_is_not_the_answer(
    terminal: Terminal, without_pytest: ProjectPython, workspace: Workspace
) -> None:
    asked: list[tuple[str, ...]] = []

    class Listening:
        def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
            asked.append(command.argv)
            return terminal.run(command, on_line)

    write(workspace, test_hours=TEST_HOURS, hours=HOURS.format(factor=3600), pytest="raise SystemExit(0)\n")
    bench = Bench(terminal=Listening(), interpreter=without_pytest)

    results = [run_tests(bench, workspace) for _ in range(2)]

    assert [result.summary for result in results] == ["2 passed", "2 passed"]
    assert sum("import pytest" in argv for argv in asked) == 1


@pytest.mark.parametrize(("before", "decides"), [("passed", False), ("failed", True), (None, False)])
def test_a_line_decides_only_where_it_was_red_before(
    pytest_bench: Bench, workspace: Workspace, before: CheckOutcome | None, decides: bool
) -> None:
    stood = LineAtBase(outcome=before, unseen="no test runner was seen to start") if before else None

    result = VerifyCheck(command_line="true", bench=pytest_bench, before=stood).run(workspace)

    assert (result.outcome, result.decisive, result.before) == ("passed", decides, before)
    assert "exit code alone" in result.summary
