from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.verify.guard.check import findings

TASK = Task(id="1", title="Add a total", status="open", line=1)
BASE = """
import pytest
from app import total, load

EXPECTED = 5


@pytest.fixture
def prices():
    return [1, 2]


def check_total(value):
    assert value > 0


@pytest.mark.parametrize("value", [1, 2, 3])
def test_each(value):
    assert total([value]) == value


def test_total(prices):
    result = total(prices)
    assert result == 3
    assert result != 4, "must not be four"


def test_constant():
    assert total([5]) == EXPECTED


def test_helper():
    check_total(total([1]))


def test_error():
    with pytest.raises(ValueError):
        load("x")


def test_close():
    assert total([0.1, 0.2]) == pytest.approx(0.3, abs=1e-9)


def test_runs():
    load("y")


def test_many():
    for text in ["a", "b"]:
        assert load(text)


class TestLoad:
    def test_a(self):
        assert load("a") == 1
"""
UNITTEST = """
import unittest
from app import total


class Totals(unittest.TestCase):
    def setUp(self):
        self.wanted = 3

    def test_total(self):
        self.assertEqual(total([1, 2]), self.wanted)
        self.assertTrue(total([1]))
"""


def found(before: str | None, after: str | None, path: str = "tests/test_app.py", task: Task = TASK) -> list[str]:
    file = ChangedFile(
        path=path,
        before=before.encode() if before is not None else None,
        after=after.encode() if after is not None else None,
    )
    return [finding.what for finding in findings(Change(files=(file,)), task)]


def edited(old: str, new: str, source: str = BASE) -> str:
    assert old in source
    return source.replace(old, new, 1)


LIES = {
    "a test deleted": ('class TestLoad:\n    def test_a(self):\n        assert load("a") == 1\n', ""),
    "a test commented out": ('def test_runs():\n    load("y")\n', '# def test_runs():\n#     load("y")\n'),
    "a test renamed so that nobody collects it": ("def test_runs", "def check_runs"),
    "a class renamed so that nobody collects it": ("class TestLoad", "class Load"),
    "a test skipped": ("def test_runs", "@pytest.mark.skip\ndef test_runs"),
    "a test skipped on a condition": ("def test_runs", "@pytest.mark.skipif(True, reason='')\ndef test_runs"),
    "a test expected to fail": ("def test_runs", "@pytest.mark.xfail\ndef test_runs"),
    "a class skipped": ("class TestLoad", "@pytest.mark.skip\nclass TestLoad"),
    "a file skipped": ("EXPECTED = 5", "EXPECTED = 5\npytestmark = pytest.mark.skip"),
    "a file skipped among other marks": ("EXPECTED = 5", "EXPECTED = 5\npytestmark = [pytest.mark.skip(reason='x')]"),
    "a file skipped at its top": ("EXPECTED = 5", "EXPECTED = 5\npytest.skip('x', allow_module_level=True)"),
    "a file that needs what is not there": ("EXPECTED = 5", "EXPECTED = 5\npytest.importorskip('nosuch')"),
    "a skip inside": ("    result = total", "    pytest.skip('later')\n    result = total"),
    "a raised skip": ("    result = total", "    import unittest\n    raise unittest.SkipTest\n    result = total"),
    "a skipping fixture for every test": (
        "def check_total",
        "@pytest.fixture(autouse=True)\ndef off():\n    pytest.skip('x')\n\n\ndef check_total",
    ),
    "not collected by a mark of its own": ("    def test_a", "    __test__ = False\n\n    def test_a"),
    "not collected, said at the end": ("== 1\n", "== 1\n\n\ntest_runs.__test__ = False\n"),
    "overwritten at the end": ("== 1\n", "== 1\n\n\ntest_total = None\n"),
    "taken away at the end": ("== 1\n", "== 1\n\n\ndel test_total\n"),
    "defined again at the end": ("== 1\n", "== 1\n\n\ndef test_total():\n    pass\n"),
    "an assertion removed": ("    assert result == 3\n", ""),
    "an assertion changed": ("assert result == 3", "assert result == 4"),
    "an assertion weakened": ("assert result == 3", "assert result is not None"),
    "always true": ("assert result == 3", "assert True"),
    "true by a second way": ("assert result == 3", "assert result == 3 or True"),
    "a tuple": ("assert result == 3", "assert (result == 3, 'three')"),
    "compared with itself": ("assert result == 3", "assert result == result"),
    "the value replaced": ("    assert result == 3", "    result = 3\n    assert result == 3"),
    "the value computed from the expectation": ("result = total(prices)", "result = 3"),
    "the expected constant changed": ("EXPECTED = 5", "EXPECTED = 6"),
    "the fixture's value changed": ("return [1, 2]", "return [3]"),
    "the helper's assertion removed": ("    assert value > 0", "    return value"),
    "a call of the helper removed": ("check_total(total([1]))", "total([1])"),
    "another error expected": ("pytest.raises(ValueError)", "pytest.raises(Exception)"),
    "the error raised by the test itself": ('load("x")', "raise ValueError"),
    "a wider tolerance": ("abs=1e-9", "abs=1"),
    "fewer cases": ("[1, 2, 3]", "[1, 2]"),
    "a case with a name skipped": ("[1, 2, 3]", '[1, 2, pytest.param(3, id="3", marks=pytest.mark.skip)]'),
    "a case skipped": ("[1, 2, 3]", "[1, 2, pytest.param(3, marks=pytest.mark.skip)]"),
    "fewer rounds of a loop": ('["a", "b"]', '["a"]'),
    "a loop over nothing": ('["a", "b"]', "[]"),
    "swallowed": (
        "    assert result == 3\n",
        "    try:\n        assert result == 3\n    except AssertionError:\n        pass\n",
    ),
    "suppressed": ("    assert result == 3\n", "    with suppress(Exception):\n        assert result == 3\n"),
    "behind a return": ("    assert result == 3\n", "    return\n    assert result == 3\n"),
    "behind a return on a condition": (
        "    assert result == 3\n",
        "    if not result:\n        return\n    assert result == 3\n",
    ),
    "behind a condition": ("    assert result == 3\n", "    if False:\n        assert result == 3\n"),
    "defined on a condition": ("def test_runs():\n    load", "if False:\n  def test_runs():\n    load"),
    "a body without the call": ('def test_runs():\n    load("y")', "def test_runs():\n    pass"),
    "wrapped": ("def test_runs", "@forgiving\ndef test_runs"),
    "patched": ("    result = total", "    monkeypatch.setattr('app.total', lambda _: 3)\n    result = total"),
    "the import overwritten": ("EXPECTED = 5", "EXPECTED = 5\ntotal = sum"),
    "the import replaced by a function": ("EXPECTED = 5", "EXPECTED = 5\ndef load(x):\n    return 1"),
    "the import assigned to": ("    result = total", "    load.total = lambda: 3\n    result = total"),
    "a function of its own": ("    result = total", "    def total(x):\n        return 3\n    result = total"),
    "a value for the fixture": ("def test_total(prices):", "def test_total(prices=(3,)):"),
    "never awaited": ("def test_runs", "async def test_runs"),
    "never iterated": ('    load("y")', '    load("y")\n    yield'),
    "a class wrapped": ("class TestLoad", "@forgiving\nclass TestLoad"),
    "tests replaced by an import": ("== 1\n", "== 1\n\n\nfrom other import test_total\n"),
    "tests replaced by a star": ("== 1\n", "== 1\n\n\nfrom other import *\n"),
    "tests replaced in the globals": ("== 1\n", "== 1\n\n\nglobals()['test_total'] = print\n"),
    "no Python any more": ("EXPECTED = 5", "EXPECTED = ("),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_weakened_test_is_found(lie: str) -> None:
    assert found(BASE, edited(*LIES[lie]))


UNITTEST_LIES = {
    "another expectation": ("total([1, 2]), self.wanted", "total([1, 2]), total([1, 2])"),
    "the expectation of setUp": ("self.wanted = 3", "self.wanted = 4"),
    "a method that says less": ("assertEqual(total([1, 2]), self.wanted)", "assertTrue(total([1, 2]))"),
    "always true": ("assertTrue(total([1]))", "assertTrue(True)"),
    "a skipped class": ("class Totals", "@unittest.skip('x')\nclass Totals"),
    "an expected failure": ("    def test_total", "    @unittest.expectedFailure\n    def test_total"),
    "a test that skips itself": ("        self.assertEqual", "        self.skipTest('x')\n        self.assertEqual"),
    "a setUp that skips": ("self.wanted = 3", "self.wanted = 3\n        self.skipTest('x')"),
    "its own judge": ("    def test_total", "    def run(self, result=None):\n        pass\n\n    def test_total"),
    "its own assertEqual": ("    def test_total", "    def assertEqual(self, *a):\n        pass\n\n    def test_total"),
    "another failure": ("    def setUp", "    failureException = KeyError\n\n    def setUp"),
    "no test case any more": ("(unittest.TestCase)", "(object)"),
}


@pytest.mark.parametrize("lie", UNITTEST_LIES)
def test_a_weakened_unittest_is_found(lie: str) -> None:
    assert found(UNITTEST, edited(*UNITTEST_LIES[lie], UNITTEST))


HONEST = {
    "a new test": ("def test_runs", "def test_more():\n    assert load('z')\n\n\ndef test_runs"),
    "a new skipped test": ("def test_runs", "@pytest.mark.skip\ndef test_later():\n    assert 0\n\n\ndef test_runs"),
    "one more assertion": ("    assert result == 3\n", "    assert result == 3\n    assert result > 0\n"),
    "one more assertion about a later value": (
        '    assert result != 4, "must not be four"\n',
        '    assert result != 4, "must not be four"\n    result = total([])\n    assert result == 0\n',
    ),
    "a local name changed": (
        '    result = total(prices)\n    assert result == 3\n    assert result != 4, "must not be four"',
        "    value = total(prices)\n    assert value == 3\n    assert value != 4",
    ),
    "a local value written in place": (
        '    result = total(prices)\n    assert result == 3\n    assert result != 4, "must not be four"',
        "    assert total(prices) == 3\n    assert total(prices) != 4",
    ),
    "layout": (
        "assert total([0.1, 0.2]) == pytest.approx(0.3, abs=1e-9)",
        "assert (\n        total([0.1, 0.2])\n        == pytest.approx(0.3, abs=1e-9)\n    )",
    ),
    "two assertions in one": (
        '    assert result == 3\n    assert result != 4, "must not be four"\n',
        "    assert result == 3 and result != 4\n",
    ),
    "one more case": ("[1, 2, 3]", "[1, 2, 3, 4]"),
    "a case with a name": ("[1, 2, 3]", '[1, pytest.param(2, id="two"), 3]'),
    "one more round": ('["a", "b"]', '["a", "b", "c"]'),
    "a new fixture": ("def check_total", "@pytest.fixture\ndef other():\n    return 9\n\n\ndef check_total"),
    "a helper that can do more": ("def check_total(value):", "def check_total(value, least=0):"),
    "a helper made otherwise": (
        "def check_total(value):\n    assert value > 0",
        "def check_total(value):\n    positive(value)\n\n\ndef positive(value):\n    assert value > 0",
    ),
    "a comment and a docstring": ("def test_runs():\n", 'def test_runs():\n    """Runs."""\n    # really\n'),
    "the error's words as well": ("pytest.raises(ValueError)", 'pytest.raises(ValueError, match="x")'),
    "a mark": ("def test_runs", "@pytest.mark.slow\ndef test_runs"),
    "a test renamed": ("def test_runs", "def test_load_runs"),
    "a test moved in its file": (
        "class TestLoad:\n    def test_a(self):\n        assert",
        "def test_a():\n        assert",
    ),
    "types": ("def test_runs():", "def test_runs() -> None:"),
    "windows lines": ("\n", "\r\n"),
    "another constant": ("EXPECTED = 5", "EXPECTED = 5\nOTHER = 6"),
    "an import": ("from app import total, load", "from app import load, save, total"),
}


@pytest.mark.parametrize("change", HONEST)
def test_an_honest_change_of_a_test_file_is_no_finding(change: str) -> None:
    assert found(BASE, edited(*HONEST[change])) == []


def test_a_test_file_may_move_and_be_split_but_not_vanish() -> None:
    halves = BASE.split("def test_runs")
    imports = BASE.split("EXPECTED")[0] + "EXPECTED = 5\n"
    gone = ChangedFile(path="tests/test_app.py", before=BASE.encode(), after=None)
    first = ChangedFile(path="tests/test_one.py", before=None, after=halves[0].encode())
    second = ChangedFile(path="tests/test_two.py", before=None, after=f"{imports}def test_runs{halves[1]}".encode())
    not_collected = ChangedFile(path="tests/two.py", before=None, after=second.after)

    assert findings(Change(files=(gone, first, second)), TASK) == ()
    assert [f.what for f in findings(Change(files=(gone, first)), TASK)] == ["was deleted, with 3 tests"]
    assert [f.what for f in findings(Change(files=(gone, first, not_collected)), TASK)] == ["was deleted, with 3 tests"]
    assert [f.what for f in findings(Change(files=(gone,)), TASK)] == ["was deleted, with 9 tests"]


def test_the_words_name_the_test_and_count_what_it_lost() -> None:
    less = edited('    assert result == 3\n    assert result != 4, "must not be four"\n', "")
    assert found(BASE, less) == ["2 assertions removed from test_total"]
    assert found(BASE, edited("assert result == 3", "assert True")) == ["1 assertion of test_total made vacuous"]
    assert found(BASE, edited("== 3", "== 4")) == ["1 assertion changed in test_total"]
    assert found(BASE, edited("def test_runs", "@pytest.mark.skip\ndef test_runs")) == ["test_runs is skipped"]


SOURCE_LIES = {
    "modules": 'import sys\ndef total(x):\n    if "pytest" in sys.modules:\n        return 3\n',
    "modules by get": 'import sys\nif sys.modules.get("unittest"):\n    X = 1\n',
    "modules in pieces": 'import sys\nX = "py" + "test" in sys.modules\n',
    "modules under another name": 'from sys import modules as m\nX = "pytest" in m\n',
    "modules in a loop": 'import sys\nfor name in sys.modules:\n    if name.startswith("_pytest"):\n        X = 1\n',
    "any module": 'import sys\nX = any("pytest" in name for name in sys.modules)\n',
    "the variable": 'import os\nX = os.environ.get("PYTEST_CURRENT_TEST")\n',
    "the variable in pieces": 'import os\nX = "PYTEST_" + "CURRENT_TEST" in os.environ\n',
    "the arguments": 'import sys\nX = "pytest" in sys.argv[0]\n',
    "the stack": 'import inspect\ndef f():\n    return inspect.stack()[1].function.startswith("test_")\n',
    "the frame": 'import sys\ndef f():\n    return "tests/" in sys._getframe(1).f_code.co_filename\n',
    "the command line in /proc": 'def f():\n    return "pytest" in open("/proc/self/cmdline").read()\n',
    "find_spec": 'from importlib.util import find_spec\nX = find_spec("pytest")\n',
    "CI": 'import os\nif os.environ.get("CI"):\n    X = 1\n',
    "unittest patched": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
    "unittest patched by name": "from unittest import TestCase as T\nsetattr(T, 'assertEqual', print)\n",
    "unittest patched under another name": "import unittest\ncase = unittest.TestCase\ncase.fail = print\n",
    "pytest patched": "import _pytest.runner\n_pytest.runner.call_and_report = print\n",
    "builtins patched": "import builtins\nbuiltins.AssertionError = ValueError\n",
    "a module replaced": 'import sys\nsys.modules["pytest"] = object()\n',
    "imports taken over": "import sys\nsys.meta_path.insert(0, object())\n",
    "exit without a word": "import os\ndef total(x):\n    os._exit(0)\n",
    "exit at import": "import sys\nsys.exit(0)\n",
    "exit when imported": "import sys\nif __name__ != '__main__':\n    sys.exit(0)\n",
    "equal to everything, made": "T = type('T', (), {'__eq__': lambda *a: True})\n",
    "equal to everything, hidden": "class T:\n    def __eq__(self, other):\n        return other is other\n",
    "the variable backwards": "import os\nX = os.environ.get('TSET_TNERRUC_TSETYP'[::-1])\n",
    "exit at import by raising": "raise SystemExit\n",
    "exit in a library": "import sys\ndef total(x):\n    sys.exit(0)\n",
    "exit at the end": "import atexit, os\natexit.register(lambda: os._exit(0))\n",
    "exit at the end by a function": "import atexit, os\ndef bye():\n    os._exit(0)\natexit.register(bye)\n",
    "equal to everything": "class Total:\n    def __eq__(self, other):\n        return True\n",
    "equal to everything, shortly": "class Total:\n    __eq__ = lambda *a: True\n",
    "skips from the code": "from unittest import SkipTest\ndef total(x):\n    raise SkipTest\n",
    "skips from the code by pytest": "import pytest\ndef total(x):\n    pytest.skip('x')\n",
    "pytest in the product": "import pytest\n",
    "hidden code": "import base64\nexec(base64.b64decode('aW1wb3J0IG9zOyBvcy5fZXhpdCgwKQ=='))\n",
}


@pytest.mark.parametrize("lie", SOURCE_LIES)
def test_code_that_makes_tests_lie_is_found_and_what_was_there_before_is_not(lie: str) -> None:
    assert found("X = 0\n", SOURCE_LIES[lie], "src/app.py")
    assert found(None, SOURCE_LIES[lie], "app.py")
    assert found(SOURCE_LIES[lie], SOURCE_LIES[lie] + "Y = 1\n", "src/app.py") == []


HONEST_SOURCES = {
    "a command line": (
        "import sys\n\ndef main():\n    print('x')\n    sys.exit(0)\n\nif __name__ == '__main__':\n    sys.exit()\n"
    ),
    "an error's status": "import sys\n\ndef total(x):\n    sys.exit(1)\n",
    "equality": "class A:\n    def __eq__(self, other):\n        return isinstance(other, A) and True\n",
    "equality of two kinds": (
        "class A:\n    def __eq__(self, other):\n        if other:\n            return False\n        return True\n"
    ),
    "prose about pytest": '"""Run it with pytest, PYTEST_CURRENT_TEST is set."""\nX = "run pytest"\n',
    "its own modules": "import sys\nX = sys.modules[__name__]\n",
    "a program that runs pytest": "import subprocess, sys\nsubprocess.run(['pytest', *sys.argv[1:]], check=True)\n",
    "a command named test": "import sys\nif sys.argv[1] == 'test':\n    print(1)\n",
    "the frame for a log": "import inspect\ndef log(x):\n    print(inspect.stack()[1].function, x)\n",
    "a child that ends": "import os\ndef spawn():\n    if os.fork() == 0:\n        os._exit(0)\n",
    "a handler that cleans up": "import atexit, shutil\natexit.register(shutil.rmtree, 'x')\n",
    "a variable": "import os\nX = os.environ.get('HOME')\n",
    "eval": "def f(x):\n    return eval(x)\n",
    "names like a runner's": "class pytest:\n    pass\ndef test_mode():\n    return 1\n",
}


@pytest.mark.parametrize("source", HONEST_SOURCES)
def test_honest_code_is_no_finding(source: str) -> None:
    assert found(None, HONEST_SOURCES[source], "src/app.py") == []


def test_what_the_task_speaks_of_is_no_finding() -> None:
    plugin = Task(id="1", title="Write a pytest plugin with a fixture `clock`", status="open", line=1)
    colours = Task(id="1", title="No colours on CI", status="open", line=1)
    assert found(None, "import pytest\n", "src/plugin.py", plugin) == []
    assert found(None, 'import os\nX = os.environ.get("CI")\n', "src/colour.py", colours) == []


PLUGIN_LIES = {
    "reports": "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item):\n    yield\n",
    "the loop": "def pytest_runtestloop(session):\n    return True\n",
    "calls": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n",
    "collection": "def pytest_collection_modifyitems(items):\n    items.clear()\n",
    "the status": "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n",
    "by another name": "import pytest\n@pytest.hookimpl(specname='pytest_runtest_makereport')\ndef x():\n    yield\n",
    "by assignment": "pytest_runtest_protocol = lambda item: True\n",
    "by import": "from helpers import pytest_runtest_makereport\n",
    "ignored files": "collect_ignore = ['test_app.py']\n",
    "a fixture that patches for all": (
        "import pytest\n@pytest.fixture(autouse=True)\ndef p(monkeypatch):\n"
        "    monkeypatch.setattr('app.total', lambda x: 3)\n"
    ),
    "patched from inside": "import unittest\ndef pytest_configure(config):\n    unittest.TestCase.fail = print\n",
    "the product replaced": "import app\ndef pytest_configure(config):\n    app.total = lambda x: 3\n",
    "the product replaced at import": "import app\napp.total = lambda x: 3\n",
    "a module replaced": "import sys, types\nsys.modules['app'] = types.ModuleType('app')\n",
    "ended from inside": "import os\ndef pytest_configure(config):\n    os._exit(0)\n",
}


@pytest.mark.parametrize("lie", PLUGIN_LIES)
def test_a_conftest_that_steers_the_run_is_found(lie: str) -> None:
    assert found(None, PLUGIN_LIES[lie], "tests/conftest.py")
    assert found("X = 1\n", PLUGIN_LIES[lie], "conftest.py")
    assert found(PLUGIN_LIES[lie], PLUGIN_LIES[lie] + "\nX = 1\n", "conftest.py") == []


@pytest.mark.parametrize(
    "source",
    [
        "import pytest\n\n@pytest.fixture\ndef client():\n    return 1\n",
        "import pytest\n\n@pytest.fixture(autouse=True)\ndef home(monkeypatch):\n    monkeypatch.setenv('HOME', 'x')\n",
        "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow: takes long')\n",
        "def pytest_addoption(parser):\n    parser.addoption('--slow')\n",
        "import app\napp.testing = True\n",
        "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n",
    ],
)
def test_a_conftest_that_only_prepares_is_no_finding(source: str) -> None:
    assert found(None, source, "tests/conftest.py") == []


@pytest.mark.parametrize(
    "path",
    [
        "pytest.py",
        "tests/unittest.py",
        "src/_pytest/__init__.py",
        "unittest/__init__.py",
        "sitecustomize.py",
        "src/usercustomize.py",
        "x.pth",
        "traceback.py",
        "tests/inspect.py",
    ],
)
def test_a_file_in_the_place_of_the_runner_is_found(path: str) -> None:
    assert found(None, "X = 1\n", path)


@pytest.mark.parametrize(
    "path", ["src/app/io.py", "app/traceback.py", "calendar.py", "src/app/site.py", "tests/helpers.py"]
)
def test_a_module_of_the_project_may_have_a_name_that_python_has_elsewhere(path: str) -> None:
    assert found(None, "X = 1\n", path) == []


NO_SOURCE = {
    "binary": b"\0\1\2",
    "cut off": b"def (",
    "another encoding": b"\xff\xfe\x00d",
    "brackets without an end": b"x = " + b"(" * 5000,
    "a long sum": b"x = " + b"+".join([b"'a'"] * 1500),
    "a long word": b"a" * 20_000,
    "comments without an end": b"/*" * 3000,
    "empty lines": b"\n" * 20_000,
    "marks without an end": b"@Test #[test] [Fact #[cfg_attr(" * 200,
}


@pytest.mark.parametrize("raw", NO_SOURCE.values(), ids=NO_SOURCE)
def test_what_cannot_be_read_does_not_crash_or_take_forever(raw: bytes) -> None:
    paths = ("tests/test_a.py", "src/a.py", "conftest.py", "setup.cfg", "pyproject.toml", "a.test.ts", "src/a.js")
    for path in (
        *paths,
        "package.json",
        "a_test.go",
        "tests/a.rs",
        "src/ATest.java",
        "check.sh",
        "Makefile",
        "Cargo.toml",
    ):
        for before, after in ((raw, b"x = 1\n"), (b"x = 1\n", raw)):
            file = ChangedFile(path=path, before=before, after=after)
            findings(Change(files=(file,)), TASK)


def test_code_too_deep_to_be_looked_at_is_not_let_through() -> None:
    deep = "import os\nX = " + " + ".join(["1"] * 800) + "\n"
    assert found("X = 1\n", deep, "src/app.py") == ["is nested too deeply to be looked at"]
    assert found(BASE, BASE + deep) == [
        "cannot be read as Python any more, so that its tests cannot run",
        "is nested too deeply to be looked at",
    ]
    assert found(None, "X = [\n" + "    {'a': [1, (2, 3)]},\n" * 3000 + "]\n", "src/app.py") == []


SOURCES = st.sampled_from([BASE, UNITTEST, *PLUGIN_LIES.values(), *SOURCE_LIES.values()])


@settings(max_examples=50)
@given(source=SOURCES | st.text(max_size=200), path=st.sampled_from(["tests/test_a.py", "src/a.py", "conftest.py"]))
def test_a_file_equal_to_itself_is_no_finding(source: str, path: str) -> None:
    text = source.encode("utf-8", "replace").decode()
    if path == "conftest.py" or "sitecustomize" not in path:
        assert found(text, text, path) == []


@settings(max_examples=50)
@given(source=SOURCES, name=st.from_regex(r"[a-z]{3,8}", fullmatch=True))
def test_a_test_added_at_the_end_is_no_finding(source: str, name: str) -> None:
    more = f"\n\ndef test_added_{name}():\n    result = {name}()\n    assert result == 1\n"
    assert found(source, source + more) == []
