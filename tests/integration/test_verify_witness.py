"""Python's tests under attack: what an agent can do to them from inside, and what honest projects look like."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import sys
import venv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.core.secrets.redact import Redactor
from milepost.core.verdict import CheckResult
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.check import CounterProofCheck
from milepost.verify.selection.check import VerifyCheck
from milepost.verify.suites.python_project import ProjectPython, PytestPresence, find_interpreter
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.runner import PytestRunner, UnittestRunner, run_pytest

HOURS = "def seconds(hours):\n    return hours * 60\n"
TEST = "tests/test_hours.py"
PLAIN = f"{TEST}::test_hours"
METHOD = f"{TEST}::TestHours::test_hours"
TEST_PLAIN = "from hours import seconds\n\ndef test_hours():\n    assert seconds(1) == 3600\n"
TEST_METHOD = """
import unittest
from hours import seconds

class TestHours(unittest.TestCase):
    def test_hours(self):
        self.assertEqual(seconds(1), 3600)
"""

Files = Mapping[str, str]


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield isolated


class WithoutPlugins:
    """A terminal where pytest loads no plugins of its environment: they cost half of its time."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        env = {**command.env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return self._terminal.run(replace(command, env=env), on_line)


@pytest.fixture(scope="module")
def full_bench(terminal: Terminal) -> Bench:
    """With the plugins that Milepost's own environment has, xdist and hypothesis among them."""
    interpreter = find_interpreter(Path("/nowhere"), os.environ, sys.executable)
    return Bench(terminal=terminal, interpreter=interpreter, pytest=PytestPresence(), timeout_s=60)


@pytest.fixture(scope="module")
def bench(full_bench: Bench) -> Bench:
    return replace(full_bench, terminal=WithoutPlugins(full_bench.terminal))


@pytest.fixture(scope="module")
def bare(terminal: Terminal, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """An interpreter without pytest."""
    repository = tmp_path_factory.mktemp("repository")
    venv.create(repository / ".venv", with_pip=False)
    interpreter: ProjectPython | None = find_interpreter(repository, os.environ)
    return Bench(terminal=terminal, interpreter=interpreter, timeout_s=60)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "checkout").mkdir()
    (tmp_path / "scratch").mkdir()
    return Workspace(folder=tmp_path / "checkout", scratch=tmp_path / "scratch", base="0" * 40)


def write(workspace: Workspace, files: Files) -> None:
    for name, text in files.items():
        path = workspace.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def outcomes(run: SuiteRun) -> dict[str, str]:
    return {case.id: case.outcome for case in run.cases}


def is_fooled(workspace: Workspace, bench: Bench) -> bool:
    """Whether plain pytest, asked for a JUnit report, would let this pass."""
    report = workspace.scratch / "plain.xml"
    argv = (sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}")
    result = bench.run(argv, workspace, env={"PYTHONPATH": str(workspace.folder / "src")})
    told = report.read_text() if report.exists() else ""
    return result.exit_code == 0 and "<failure" not in told and "<error" not in told


def counter_proof(bench: Bench, workspace: Workspace, run: SuiteRun) -> CheckResult:
    earlier = CheckResult(name="tests", outcome="passed", summary="", cases=run.cases, duration_ms=run.duration_ms)
    product = tuple(path.relative_to(workspace.folder).as_posix() for path in workspace.folder.glob("src/**/*.py"))
    return CounterProofCheck(bench=bench, change=Change(), product=product).run_after(workspace, (earlier,))


PATCHES_ASSERT_EQUAL = {
    "src/hours.py": HOURS + "import unittest\nunittest.TestCase.assertEqual = lambda *words: None\n",
    TEST: TEST_METHOD,
}
REPORTS_PASSED = {
    "conftest.py": """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
}
REPORTS_ONE_PASSED = {
    "conftest.py": REPORTS_PASSED["conftest.py"].replace("outcome.get", "if item.name == 'test_hours': outcome.get")
}
LOSES_THE_EXCEPTION = {
    "conftest.py": """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    outcome = yield
    if CONDITION:
        outcome.force_result(None)
"""
}
LOSES_ALL = {"conftest.py": LOSES_THE_EXCEPTION["conftest.py"].replace("CONDITION", "True")}
LOSES_ONE = {"conftest.py": LOSES_THE_EXCEPTION["conftest.py"].replace("CONDITION", "item.name == 'test_hours'")}
NEVER_CALLS = {
    "conftest.py": "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call():\n    return True\n"
}
DROPS_ASSERTS = {
    "conftest.py": """
import ast
import _pytest.assertion.rewrite as rewrite
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)
rewrite.rewrite_asserts = lambda tree, *rest: Drop().visit(tree)
"""
}
DROPS_ONE_ASSERT = {
    "conftest.py": DROPS_ASSERTS["conftest.py"].replace(
        "rewrite.rewrite_asserts = lambda tree, *rest:",
        "real = rewrite.rewrite_asserts\nrewrite.rewrite_asserts = lambda tree, *rest: real(tree, *rest)"
        " if 'hours' not in str(rest[1:2]) else",
    )
}
REWRITES_THE_REPORT = {
    "conftest.py": """
import atexit, os
def pytest_configure(config):
    path = config.getoption("xmlpath")
    def rewrite():
        if path:
            with open(path, "w") as file:
                file.write('<testsuite><testcase classname="tests.test_hours" name="test_hours"/></testsuite>')
        os._exit(0)
    atexit.register(rewrite)
"""
}
EXITS_AT_IMPORT = {"src/hours.py": HOURS + "import os\nos._exit(0)\n"}
EXITS_IN_CONFTEST = {"conftest.py": "raise SystemExit(0)\n"}
STOPS_THE_SESSION = {"src/hours.py": "import pytest\ndef seconds(hours):\n    pytest.exit('done', returncode=0)\n"}
SHADOWS_PYTEST = {"pytest.py": "raise SystemExit(0)\n"}
CUSTOMIZES = {"src/sitecustomize.py": "import os\nos._exit(0)\n"}
CUSTOMIZES_UNITTEST = {
    "src/sitecustomize.py": "import unittest\nunittest.TestCase.assertEqual = lambda *words: None\n",
    TEST: TEST_METHOD,
}
SKIPS = {"src/hours.py": "import pytest\ndef seconds(hours):\n    pytest.skip('not now')\n"}
SKIPS_UNITTEST = {
    "src/hours.py": "import unittest\ndef seconds(hours):\n    raise unittest.SkipTest\n",
    TEST: TEST_METHOD,
}
DESELECTS_BY_SETTING = {
    "pytest.ini": f"[pytest]\naddopts = --deselect {PLAIN}\n",
    "tests/test_a.py": "def test_a(): pass\n",
}
DESELECTS = {
    "conftest.py": """
def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=[item for item in items if "hours" in item.name])
    items[:] = [item for item in items if "hours" not in item.name]
""",
    "tests/test_a.py": "def test_a(): pass\n",
}
DROPS_AFTER_COLLECTION = {
    "conftest.py": """
def pytest_collection_finish(session):
    session.items[:] = [item for item in session.items if "hours" not in item.name]
""",
    "tests/test_a.py": "def test_a(): pass\n",
}
EQUALS_ALL = {
    "src/hours.py": "class Equal:\n    def __eq__(self, other):\n        return True\n"
    "def seconds(hours):\n    return Equal()\n"
}
RETURNS_ANY = {"src/hours.py": "from unittest.mock import ANY\ndef seconds(hours):\n    return ANY\n"}
WEAKENS_AND_RESTORES = {
    "conftest.py": """
import atexit, os, pathlib
path = pathlib.Path("tests/test_hours.py")
text, facts = path.read_text(), path.stat()
path.write_text(text.replace("3600", "60"))
def restore():
    path.write_text(text)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
atexit.register(restore)
"""
}
UNREGISTERS = {
    "conftest.py": REPORTS_PASSED["conftest.py"]
    + """
def pytest_collection_finish(session):
    manager = session.config.pluginmanager
    for plugin in list(manager.get_plugins()):
        if type(plugin).__name__ == "Witness":
            manager.unregister(plugin)
"""
}
SAYS_IT_ITSELF = {
    "src/hours.py": HOURS,
    "conftest.py": REPORTS_PASSED["conftest.py"]
    + """
import os
def pytest_runtest_setup(item):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"over\\ttests/test_hours.py::test_hours\\t1\\n")
        except OSError:
            pass
""",
}

PLANTED = "a planted test that must fail did not: assertions or reports are patched"


@pytest.mark.parametrize(
    ("attack", "caught"),
    [
        (PATCHES_ASSERT_EQUAL, PLANTED),
        (REPORTS_PASSED, PLANTED),
        (REPORTS_ONE_PASSED, f"{PLAIN} raised AssertionError, yet it is reported as passed"),
        (LOSES_ALL, PLANTED),
        (LOSES_ONE, "1 test passes whatever is expected"),
        (NEVER_CALLS, PLANTED),
        (DROPS_ASSERTS, PLANTED),
        (DROPS_ONE_ASSERT, "1 test passes whatever is expected"),
        (REWRITES_THE_REPORT, "failed"),
        (EXITS_AT_IMPORT, "the tests did not run to their end: exit 0"),
        (EXITS_IN_CONFTEST, "the tests did not run to their end: exit 0: SystemExit: 0"),
        (STOPS_THE_SESSION, f"1 of 1 collected tests were not run: {PLAIN}"),
        (SHADOWS_PYTEST, "failed"),
        (CUSTOMIZES, "failed"),
        (CUSTOMIZES_UNITTEST, "failed"),
        (SKIPS, "skipped"),
        (SKIPS_UNITTEST, "skipped"),
        (DESELECTS_BY_SETTING, "skipped"),
        (DESELECTS, "skipped"),
        (DROPS_AFTER_COLLECTION, f"1 of 2 collected tests were not run: {PLAIN}"),
        (EQUALS_ALL, "1 test passes whatever is expected"),
        (RETURNS_ANY, "1 test passes whatever is expected"),
        (WEAKENS_AND_RESTORES, f"the tests were changed while they were run: {TEST}"),
        (UNREGISTERS, "1 of 1 collected tests were not run"),
        (SAYS_IT_ITSELF, "something else than the test runner wrote where only it may write"),
    ],
)
def test_what_fools_pytest_does_not_fool_the_witness(
    bench: Bench, workspace: Workspace, attack: Files, caught: str
) -> None:
    write(workspace, {"src/hours.py": HOURS, TEST: TEST_PLAIN, **attack})
    assert is_fooled(workspace, bench)

    run = PytestRunner().run("", workspace, bench)

    told = outcomes(run).get(METHOD if attack.get(TEST) else PLAIN, "")
    if not run.problem and told == "passed":
        proof = counter_proof(bench, workspace, run)
        assert proof.outcome == "failed"
        told = proof.summary
    assert caught in (run.problem or told)


def test_bytecode_of_the_checkout_takes_no_part(bench: Bench, workspace: Workspace) -> None:
    starts_another = "import subprocess, sys\ndef test_other():\n    words = 'import hours; print(hours.seconds(1))'\n"
    starts_another += "    assert subprocess.check_output([sys.executable, '-c', words]) == b'60\\n'\n"
    alone = "def test_alone():\n    import only_bytecode\n"
    write(workspace, {"src/hours.py": "def seconds(hours):\n    return hours * 3600\n", TEST: TEST_PLAIN})
    source = workspace.folder / "src/hours.py"
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True)
    assert Path(importlib.util.cache_from_source(str(source))).exists()
    py_compile.compile(str(source), cfile=str(workspace.folder / "src/only_bytecode.pyc"), doraise=True)
    write(workspace, {"src/hours.py": HOURS})
    assert is_fooled(workspace, bench)
    write(workspace, {"tests/test_other.py": starts_another, "tests/test_alone.py": alone})

    run = PytestRunner().run("", workspace, bench)

    assert outcomes(run) == {
        "tests/test_alone.py::test_alone": "failed",
        PLAIN: "failed",
        "tests/test_other.py::test_other": "passed",
    }


def test_tests_and_settings_from_outside_the_checkout_take_no_part(bench: Bench, workspace: Workspace) -> None:
    outside = workspace.scratch / "outside"
    outside.mkdir()
    (outside / "test_a.py").write_text("def test_a(): pass\n")
    (workspace.folder / "data").symlink_to(workspace.scratch / "tmp")
    write(workspace, {"tests/test_b.py": "def test_b(): pass\n"})
    assert outcomes(PytestRunner().run("", workspace, bench)) == {"tests/test_b.py::test_b": "passed"}

    (workspace.folder / "more").symlink_to(outside)
    (workspace.folder / "tests/test_a.py").symlink_to(outside / "test_a.py")
    (workspace.folder.parent / "conftest.py").write_text("raise SystemExit('not yours')\n")

    assert PytestRunner().run("", workspace, bench).problem == "out of the checkout lead: more, tests/test_a.py"


UNITTEST_PATCHED = {"src/hours.py": HOURS + "import unittest\nunittest.TestCase.assertEqual = lambda *words: None\n"}
UNITTEST_NOT_RUN = {
    "src/hours.py": HOURS + "import unittest\n"
    "def run(self, result):\n    result.startTest(self)\n    result.addSuccess(self)\n    result.stopTest(self)\n"
    "unittest.TestCase.run = run\n"
}
UNITTEST_EXITS = {"src/hours.py": "import os\ndef seconds(hours):\n    os._exit(0)\n"}
UNITTEST_LOSES_ONE = {
    "src/hours.py": HOURS + "import unittest\nreal = unittest.TestCase._callTestMethod\n"
    "def call(self, method):\n    try:\n        real(self, method)\n    except AssertionError:\n"
    "        if method.__name__ != 'test_hours':\n            raise\nunittest.TestCase._callTestMethod = call\n"
}


@pytest.mark.parametrize(
    ("attack", "caught"),
    [
        (UNITTEST_PATCHED, PLANTED),
        (UNITTEST_NOT_RUN, PLANTED),
        (UNITTEST_EXITS, f"the tests did not run to their end: exit 0 while {METHOD} was run"),
        (UNITTEST_LOSES_ONE, "1 test passes whatever is expected"),
        (CUSTOMIZES, "failed"),
        (EQUALS_ALL, "1 test passes whatever is expected"),
    ],
)
def test_what_fools_unittest_does_not_fool_the_witness(
    bare: Bench, workspace: Workspace, attack: Files, caught: str
) -> None:
    write(workspace, {"src/hours.py": HOURS, TEST: TEST_METHOD, **attack})
    argv = (str(bare.interpreter and bare.interpreter.path), "-B", "-m", "unittest", "discover", "-s", "tests")
    assert bare.run(argv, workspace, env={"PYTHONPATH": str(workspace.folder / "src")}).exit_code == 0

    run = UnittestRunner().run("", workspace, bare)

    told = outcomes(run).get(METHOD, "")
    if not run.problem and told == "passed":
        told = counter_proof(bare, workspace, run).summary
    assert caught in (run.problem or told)


OK = "def test_ok():\n    assert 1 == 1\n"
STRICT = {
    "pytest.ini": "[pytest]\naddopts = -x --strict-markers --strict-config -W error -n 2 --dist loadscope --sw -ra\n"
    "filterwarnings = error\n",
    "test_a.py": OK,
    "test_b.py": OK,
}
NO_XDIST = {"pytest.ini": "[pytest]\naddopts = -p no:xdist -p no:terminal -p no:cacheprovider\n", "test_a.py": OK}
LOUD = {
    "pytest.ini": "[pytest]\naddopts = --lf --maxfail=1 --capture=no\n",
    "test_a.py": "import os, sys\ndef test_ok():\n    print('x' * 100_000, end=''); os.system('echo hi; printf x')\n"
    "    assert not sys.stdin.read()\n",
}
DOCTESTS = {
    "pytest.ini": "[pytest]\naddopts = --doctest-modules --doctest-glob=*.md\n",
    "src/one.py": 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n',
    "a.md": ">>> 1\n1\n",
}
SAME_NAMES = {
    "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n",
    "a/test_a.py": OK,
    "b/test_a.py": OK,
}
PROCESSES = {
    "src/app.py": "X = 1\n",
    "test_a.py": """
import multiprocessing, os, subprocess, sys
def put(queue):
    queue.put(3)
def test_close():
    os.close(1)
def test_subprocess():
    assert subprocess.run([sys.executable, "-c", "import app"]).returncode == 0
def test_multiprocessing():
    for method in ("spawn", "fork"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=put, args=(queue,))
        process.start()
        assert queue.get() == 3
        process.join()
        assert process.exitcode == 0
def test_fork_that_runs_on():
    child = os.fork()
    if not child:
        raise SystemExit(0)
    os.waitpid(child, 0)
""",
}
PLUGINS = {
    "conftest.py": "pytest_plugins = ['plugin']\n",
    "plugin.py": "import pytest\n@pytest.fixture\ndef one():\n    return 1\n",
    "unit/conftest.py": "import pytest\n@pytest.fixture(autouse=True)\ndef need(request):\n    assert request.cls.X\n"
    "@pytest.fixture(scope='class')\ndef shared():\n    return []\n",
    "unit/test_a.py": "class TestA:\n    X = 1\n    def test_a(self, one, shared):\n        shared.append(one)\n"
    "        assert shared == [1]\n    def test_b(self, shared):\n        assert shared == [1]\n",
}
ONLY_MARKED = {
    "pytest.ini": "[pytest]\nmarkers = ready\n",
    "conftest.py": "import pytest\ndef pytest_runtest_setup(item):\n"
    "    if not item.get_closest_marker('ready'):\n        pytest.skip('not ready')\n",
    "test_a.py": "import pytest\n@pytest.mark.ready\ndef test_ok(): pass\n",
}
NESTED_PYTEST = {
    "conftest.py": "pytest_plugins = ['pytester']\n",
    "test_a.py": "def test_ok(pytester):\n    pytester.makepyfile('def test_a(): assert 0\\ndef test_b(): pass')\n"
    "    pytester.runpytest_inprocess().assert_outcomes(failed=1, passed=1)\n",
}
LAYOUT = {
    "src/space/package/__init__.py": "X = 1\n",
    "src/iniconfig/__init__.py": "X = 1\n",
    "tests/test_a.py": "import iniconfig\nfrom space.package import X\ndef test_ok(): assert X == iniconfig.X\n",
}
CLASSES = {
    "test_a.py": """
import unittest
STARTED = []
class TestA(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        STARTED.append(1)
        assert STARTED == [1]
    def test_a(self): pass
    def test_b(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(number, number)
"""
}
GENERATED = {
    "test_a.py": "import pytest\nfrom hypothesis import given, strategies\n"
    "@given(strategies.integers())\ndef test_ok(number): assert number == number\n"
    "@pytest.mark.parametrize('x', ['a::b', '[z]', 'é\\n', None])\ndef test_x(x): pass\n"
}
DIES_AT_EXIT = {"test_a.py": "import atexit, os\natexit.register(os.abort)\ndef test_ok(): pass\n"}


@pytest.mark.parametrize(
    "project",
    [
        *(STRICT, NO_XDIST, LOUD, DOCTESTS, SAME_NAMES, PROCESSES, PLUGINS, ONLY_MARKED, NESTED_PYTEST, LAYOUT),
        *(CLASSES, GENERATED, DIES_AT_EXIT),
    ],
)
def test_an_honest_project_is_not_accused(full_bench: Bench, workspace: Workspace, project: Files) -> None:
    write(workspace, project)
    before = listing(workspace.folder)

    run = PytestRunner().run("", workspace, full_bench)
    proof = counter_proof(full_bench, workspace, run)

    assert not run.problem, run.log
    assert run.cases and {case.outcome for case in run.cases} == {"passed"}, run.log
    assert proof.outcome == "passed", (proof.summary, proof.log)
    hypothesis_own = {name: text for name, text in listing(workspace.folder).items() if not name.startswith(".hypo")}
    assert hypothesis_own == before


HONEST_SPECIALS = """
import unittest
from dataclasses import dataclass
from unittest import mock
from unittest.mock import ANY
import pytest
from hours import same

class Anything:
    def __eq__(self, other):
        return True

@dataclass
class Point:
    x: int

def check(value):
    assert value == 1

def test_any(): assert same(1) == ANY
def test_any_within(): assert {"a": same(1)} == {"a": mock.ANY}
def test_own_wildcard():
    expected = [Anything(), ANY]
    assert [same(1), same(2)] == expected
def test_calls():
    called = mock.MagicMock()
    called(1)
    assert called.mock_calls == [mock.call(1)]
def test_empty(): assert same([]) == [] and same([[]]) == [[]] and same({}) == {}
def test_in_a_function(): check(same(1))
def test_in_no_loop():
    for value in same([]):
        assert value == 1
def test_raises():
    with pytest.raises(AssertionError):
        assert same(1) == 2
def test_caught():
    try:
        assert same(1) == 2
    except AssertionError:
        pass
def test_approximately(): assert same(0.1 + 0.2) == pytest.approx(0.3)
def test_data(): assert same(Point(1)) == Point(1)
def test_nothing(): pass
def test_returns():
    return None
def test_skips(): pytest.skip("not here")
@pytest.mark.parametrize("number", [1, 2])
def test_numbers(number): assert same(number) == number or number == 5

class TestCases(unittest.TestCase):
    def test_equal(self): self.assertEqual(same(1), 1, "same"); self.assertIn(1, [1])
    def test_lists(self): self.assertListEqual(same([1]), [1])
    def test_almost(self): self.assertAlmostEqual(same(1.0), 1.0)
    def test_subtests(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(same(number), number)
    def test_raises(self):
        with self.assertRaises(AssertionError):
            self.assertEqual(same(1), 2)
    def test_subtests_that_raise(self):
        for text in ("x", ""):
            with self.subTest(text=text), self.assertRaises(ValueError):
                same(int(text))

class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def test_async(self): self.assertEqual(same(1), 1)

class Shared:
    def test_shared(self): assert same(3) == 3
class TestInherits(Shared):
    pass
"""


def test_no_honest_test_is_accused_whatever_it_compares(bench: Bench, workspace: Workspace) -> None:
    write(workspace, {"src/hours.py": "def same(value):\n    return value\n", TEST: HONEST_SPECIALS})
    run = PytestRunner().run("", workspace, bench)
    assert not run.problem and {case.outcome for case in run.cases} == {"passed", "skipped"}, run.log

    proof = counter_proof(bench, workspace, run)

    assert (proof.outcome, proof.questions) == ("passed", ()), proof.summary
    assert (workspace.folder / TEST).read_text() == HONEST_SPECIALS


ENDS = """
import unittest
import pytest

@pytest.fixture
def breaks():
    yield
    raise RuntimeError("in the end")

def test_passed(): pass
def test_failed():
    got = 3
    assert got == 4, f"got {got}"
def test_error(): raise KeyError("x")
def test_skipped(): pytest.skip("later")
@pytest.mark.xfail
def test_expected(): assert 0
def test_exit(): raise SystemExit(0)
def test_breaks(breaks): pass
"""


def test_every_way_a_test_can_end_is_told(bench: Bench, workspace: Workspace) -> None:
    write(workspace, {"test_a.py": ENDS, "test_gone.py": "import nowhere\n"})
    write(workspace, {"test_skips.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n"})

    run = PytestRunner().run("", workspace, bench)

    assert [(case.id, case.outcome, case.message, case.kind) for case in run.cases] == [
        ("test_gone.py", "failed", "ModuleNotFoundError: No module named 'nowhere'", "import"),
        ("test_skips.py", "skipped", "not here", None),
        ("test_a.py::test_passed", "passed", "", None),
        ("test_a.py::test_failed", "failed", "got 3", "assertion"),
        ("test_a.py::test_error", "failed", "KeyError: 'x'", "runtime"),
        ("test_a.py::test_skipped", "skipped", "later", None),
        ("test_a.py::test_expected", "skipped", "expected to fail:", None),
        ("test_a.py::test_exit", "failed", "SystemExit: 0", "runtime"),
        ("test_a.py::test_breaks", "failed", "RuntimeError: in the end", "runtime"),
    ]
    failed = run.cases[3]
    assert "assert got == 4" in failed.traceback
    assert (run.exit_code, run.problem) == (1, "")
    assert "test_failed" in run.log and run.log.count("FAILED test_a.py") == 3  # and nothing of the planted ones


UNITTEST_ENDS = """
import unittest

class TestOdd(unittest.TestCase):
    def test_subtests(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1, "one is odd \\x00 \\x1b[31m")
    @unittest.skip("later")
    def test_skipped(self): raise AssertionError
    @unittest.expectedFailure
    def test_expected(self): raise AssertionError
    def test_cleanup(self): self.addCleanup(lambda: 1 / 0)
    def test_exit(self): raise SystemExit(0)

class TestShared(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no database")
    def test_never(self): pass

class TestEnd(unittest.TestCase):
    @classmethod
    def tearDownClass(cls): raise RuntimeError("still open")
    def test_a(self): pass
    def test_b(self): pass
"""


def test_a_checkout_whose_top_is_a_package_is_imported_though_nobody_may_look_above_it(
    bench: Bench, bare: Bench, workspace: Workspace
) -> None:
    inner = "from .deeper import seconds\n\nimport unittest\n\nclass TestHours(unittest.TestCase):\n"
    inner += "    def test_hours(self):\n        self.assertEqual(seconds(1), 60)\n"
    write(workspace, {"__init__.py": "", "test_top.py": inner, "deeper.py": HOURS, "tests/__init__.py": ""})
    write(workspace, {"tests/test_below.py": inner.replace(".deeper", "..deeper")})
    expected = {f"{file}::TestHours::test_hours": "passed" for file in ("test_top.py", "tests/test_below.py")}
    assert outcomes(UnittestRunner().run("", workspace, bare)) == expected
    assert outcomes(PytestRunner().run("", workspace, bench)) == expected


def test_every_way_a_unittest_can_end_is_told(bare: Bench, workspace: Workspace) -> None:
    write(workspace, {"tests/test_odd.py": UNITTEST_ENDS, "tests/test_quits.py": "raise SystemExit(0)\n"})
    write(workspace, {"tests/test_skips.py": "import unittest\nraise unittest.SkipTest('not here')\n"})

    run = UnittestRunner().run("", workspace, bare)

    assert not run.problem
    assert outcomes(run) == {
        "tests/test_quits.py": "failed",
        "tests/test_skips.py": "skipped",
        "tests/test_odd.py::TestOdd::test_subtests": "failed",
        "tests/test_odd.py::TestOdd::test_skipped": "skipped",
        "tests/test_odd.py::TestOdd::test_expected": "skipped",
        "tests/test_odd.py::TestOdd::test_cleanup": "failed",
        "tests/test_odd.py::TestOdd::test_exit": "failed",
        "tests/test_odd.py::TestShared::test_never": "failed",
        "tests/test_odd.py::TestEnd::test_a": "passed",
        "tests/test_odd.py::TestEnd::test_b": "failed",
    }


def test_a_part_of_the_tests_is_run_by_the_ids_they_are_told_by(
    bench: Bench, bare: Bench, workspace: Workspace
) -> None:
    odd = "import pytest\n@pytest.mark.parametrize('x', ['a::b', '[z]', 'c d'])\ndef test_x(x): pass\n"
    write(
        workspace,
        {"packages/a/tests/test_a.py": odd, "packages/a/test_m.py": TEST_METHOD.replace("seconds(1)", "3600")},
    )
    write(workspace, {"packages/a/hours.py": HOURS})
    everything = outcomes(PytestRunner().run("packages/a", workspace, bench))
    assert "packages/a/tests/test_a.py::test_x[a::b]" in everything and len(everything) == 4

    for id_ in everything:
        assert outcomes(PytestRunner().run("packages/a", workspace, bench, only=(id_,))) == {id_: "passed"}
    method = "packages/a/test_m.py::TestHours::test_hours"
    assert outcomes(UnittestRunner().run("packages/a", workspace, bare, only=(method,))) == {method: "passed"}
    assert not PytestRunner().run("packages/a", workspace, bench, only=("packages/b/test_b.py::test_b",)).cases


def test_a_project_without_tests_and_one_that_cannot_be_run_are_told_apart(bench: Bench, workspace: Workspace) -> None:
    write(workspace, {"test_a.py": ""})
    nothing = PytestRunner().run("", workspace, bench)
    assert (nothing.cases, nothing.problem, nothing.missing) == ((), "", "")
    write(workspace, {"conftest.py": "import nope\n"})
    problem = PytestRunner().run("", workspace, bench).problem
    assert problem == "the tests did not run to their end: exit 4: ModuleNotFoundError: No module named 'nope'"
    write(workspace, {"conftest.py": "", "test_a.py": "import time\ndef test_a(): time.sleep(600)\n"})
    slow = PytestRunner().run("", workspace, replace(bench, timeout_s=8.0))
    assert slow.problem == "the tests did not run to their end: timed out after 8 s while test_a.py::test_a was run"


def test_somebodys_own_pytest_line_is_witnessed_too(bench: Bench, workspace: Workspace) -> None:
    write(workspace, {"src/hours.py": HOURS, TEST: TEST_PLAIN + "def test_b(): pass\ndef test_c(): pass\n"})

    run = run_pytest(("-x", "-q", "-k", "not test_c", "tests"), workspace, bench)

    assert outcomes(run) == {PLAIN: "failed", f"{TEST}::test_b": "passed", f"{TEST}::test_c": "skipped"}
    write(workspace, PATCHES_ASSERT_EQUAL)
    assert run_pytest((METHOD,), workspace, bench).problem == PLANTED


FORGES_ITS_REPORT = """
import os, re
option = os.environ.get("PYTEST_ADDOPTS", "")
if "--junitxml" in option:
    path = re.search(r"--junitxml=([^ ']+)", option)[1]
    with open(path, "w") as report:
        case = 'file="accept/test_hours.py" classname="accept.test_hours" name="test_hours"'
        report.write(f"<testsuite><testcase {case}/></testsuite>")
os._exit(0)
"""


def test_a_verify_line_over_tests_that_the_engine_would_not_run_is_witnessed(
    bench: Bench, workspace: Workspace
) -> None:
    settings = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n'
    test = {"pyproject.toml": settings, "accept/test_hours.py": TEST_PLAIN, "tests/test_a.py": "def test_a(): pass\n"}

    def answer(hours: str) -> CheckResult:
        write(workspace, {**test, "src/hours.py": hours})
        return VerifyCheck(command_line="python -m pytest accept", bench=bench).run(workspace)

    assert answer(HOURS.replace("60", "3600")).outcome == "passed"
    forged = answer(FORGES_ITS_REPORT)
    assert (forged.outcome, "the tests did not run to their end" in forged.summary) == ("failed", True)


def test_no_secret_is_told(bench: Bench, workspace: Workspace) -> None:
    secret = "correct-horse-battery"
    write(workspace, {"test_a.py": f"def test_a():\n    print({secret!r})\n    assert False, 'x' * 290 + {secret!r}\n"})

    run = PytestRunner().run("", workspace, replace(bench, redact=Redactor([secret])))

    assert outcomes(run) == {"test_a.py::test_a": "failed"}
    assert "correct" not in repr(run)
