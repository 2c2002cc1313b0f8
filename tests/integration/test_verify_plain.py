"""The deciding tests without a test runner: honest work passes there too, and what looks for a test run does not."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult, TestOutcome
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.baseline_port import UnknownBefore
from milepost.verify.command_runner import Bench
from milepost.verify.judging.split import Split
from milepost.verify.plain.check import PlainRunCheck
from milepost.verify.plain.hide import files_to_hide, out_of_sight
from milepost.verify.suites.candidate_runs import CandidateRuns, cases_of, run_suites
from milepost.verify.suites.python_project import PytestPresence, find_interpreter
from milepost.verify.trees import Tree, Trees
from tests import lean
from tests.integration.suites import workspace_in, write
from tests.tools import needs

Files = Mapping[str, str]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with WalledTerminal() as terminal:
        interpreter = find_interpreter(Path("/nowhere"), os.environ, str(lean.python()))
        yield Bench(terminal=terminal, interpreter=interpreter, pytest=PytestPresence(), timeout_s=60)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place without `test` in its name: pytest's own folders would tell what this is."""
    with tempfile.TemporaryDirectory(prefix="place-") as place:
        yield Path(place)


def plain_run(folder: Path, bench: Bench, base: Files, after: Files) -> CheckResult:
    """The check of what an attempt made of a base, whose tests all pass under their runner."""
    workspace = workspace_in(folder, base)
    tree = Tree(workspace=workspace, bench=bench)
    stood = {case.id: case.outcome for case in cases_of(run_suites(tree))}
    write(workspace, after)
    listing = {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()}
    runs = CandidateRuns(Trees(as_it_is=tree, bench=tree), UnknownBefore(), {})
    cases = tuple(replace(case, before=stood.get(case.id)) for case in cases_of(runs.on_bench))
    assert {case.outcome for case in cases} == {"passed"}
    earlier = CheckResult(name="tests", outcome="passed", summary="", cases=cases)
    check = PlainRunCheck(runs=runs, change=changed(base, after), product=tuple(after))
    found = check.run_after(workspace, (earlier,))
    assert {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()} == listing
    return found


def changed(base: Files, after: Files) -> Change:
    old = {path: text.encode() for path, text in base.items()}
    return Change(
        files=tuple(ChangedFile(path=path, before=old.get(path), after=text.encode()) for path, text in after.items())
    )


TESTS = """
import unittest
import pytest
from hours import minutes, seconds

def test_minutes():
    assert minutes(2) == 120

@pytest.mark.parametrize(("hours", "expected"), [(1, 3600), (2, 7200)])
def test_seconds(hours, expected):
    assert seconds(hours) == expected

class TestHours(unittest.TestCase):
    def test_none(self):
        self.assertEqual(seconds(3), 10800)
        with self.assertRaises(ValueError):
            seconds(-1)
"""
MINUTES = "def minutes(hours):\n    return hours * 60\n\n"
RIGHT = """
def seconds(hours):
    if hours < 0:
        raise ValueError(hours)
    return hours * 3600
"""
WRONG = "def seconds(hours):\n    return hours * 60\n"
BASE = {"src/hours.py": MINUTES + WRONG, "tests/test_hours.py": TESTS}


def right_where(condition: str, header: str = "import os\nimport sys\n") -> str:
    return f"{header}{MINUTES}{WRONG}wrong = seconds\n{RIGHT}right = seconds\n" + (
        f"def seconds(hours):\n    return right(hours) if {condition} else wrong(hours)\n"
    )


def test_honest_work_passes_without_a_runner(folder: Path, bench: Bench) -> None:
    found = plain_run(folder, bench, BASE, {"src/hours.py": MINUTES + RIGHT})

    assert (found.name, found.outcome) == ("counter-proof", "passed"), found
    assert found.summary == "without a test runner: 3 deciding tests pass as well"


@pytest.mark.parametrize(
    "condition",
    [
        "'pytest' in sys.modules",
        "'unittest' in sys.modules",
        "os.path.exists('tests')",
        "any('test' in word for word in sys.orig_argv)",
        "len(sys.modules) > 150",
        "sys._getframe(1).f_code.co_name.startswith('test')",
        "'test' in sys._getframe(1).f_code.co_filename",
        "'test' in repr(sorted(sys._getframe(1).f_globals)).replace('__test', '')",
        "any('test' in type(one).__module__ for one in sys.meta_path)",
        "any('TEST' in name for name in os.environ)",
        "'PYTHONNOUSERSITE' in os.environ",
        "len(os.environ) < 30",
        "not os.path.exists(os.path.expanduser('~/.profile'))",
        "sys.dont_write_bytecode",
        "__import__('time').process_time() < 60",
    ],
)
def test_work_that_looks_for_a_test_run_fails(folder: Path, bench: Bench, condition: str) -> None:
    found = plain_run(folder, bench, BASE, {"src/hours.py": right_where(condition)})

    assert found.outcome == "failed", found
    assert found.summary.startswith("without a test runner: what decides passes only under a test runner: tests/test_h")


@pytest.mark.parametrize(
    "only_without_a_runner",
    [
        "raise RuntimeError",
        "raise FileNotFoundError('settings.ini')",
        "import nowhere",
        "minutes = None",
        "def seconds(hours): raise OSError",
    ],
)
def test_work_that_keeps_the_plain_run_from_telling_is_shown_to_a_person(
    folder: Path, bench: Bench, only_without_a_runner: str
) -> None:
    trap = f"\nimport sys\nif 'pytest' not in sys.modules:\n    {only_without_a_runner}\n"

    found = plain_run(folder, bench, BASE, {"src/hours.py": f"{MINUTES}{RIGHT}{trap}"})

    assert found.outcome == "held", found
    assert found.questions


@pytest.mark.parametrize(("trap", "outcome"), [("", "passed"), ("if 'pytest' not in sys.modules: exit()\n", "held")])
def test_a_new_module_is_run_without_a_runner_as_well(folder: Path, bench: Bench, trap: str, outcome: str) -> None:
    tests = "from hours import minutes\ndef test_minutes():\n    assert minutes(2) == 120\n"
    own = "from days import hours\ndef test_hours():\n    assert hours(2) == 48\n"
    base = {"src/hours.py": MINUTES, "tests/test_hours.py": tests, "tests/test_days.py": own}

    found = plain_run(
        folder, bench, base, {"src/days.py": f"import sys\n{trap}def hours(days):\n    return days * 24\n"}
    )

    assert found.outcome == outcome, found


def test_a_name_that_is_there_for_tests_only_fails_those_that_use_it(folder: Path, bench: Bench) -> None:
    lie = f"import sys\n{MINUTES}\nif 'pytest' in sys.modules:\n" + "".join(
        f"    {line}\n" for line in RIGHT.strip().splitlines()
    )
    base = {**BASE, "src/hours.py": MINUTES + "def seconds(hours):\n    raise NotImplementedError\n"}

    found = plain_run(folder, bench, base, {"src/hours.py": lie})

    assert found.outcome == "failed", found
    assert "there is no hours.seconds" in found.summary


def test_a_value_that_equals_everything_fails(folder: Path, bench: Bench) -> None:
    lie = MINUTES + (
        "class Answer:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n"
        "def seconds(hours):\n    if hours < 0:\n        raise ValueError\n    return Answer()\n"
    )

    assert plain_run(folder, bench, BASE, {"src/hours.py": lie}).outcome == "failed"


def test_work_that_leaves_the_process_is_held(folder: Path, bench: Bench) -> None:
    found = plain_run(folder, bench, BASE, {"src/hours.py": right_where("'pytest' in sys.modules or os._exit(0)")})

    assert found.outcome == "held", found
    assert found.questions[0].kind == "counter-proof"


def test_without_a_control_a_person_is_asked(folder: Path, bench: Bench) -> None:
    only = {**BASE, "tests/test_hours.py": TESTS.replace("test_minutes", "check_minutes")}

    found = plain_run(folder, bench, only, {"src/hours.py": right_where("'pytest' in sys.modules")})

    assert found.outcome == "held", found


def test_tests_that_need_a_fixture_of_a_conftest_say_nothing(folder: Path, bench: Bench) -> None:
    files = {
        "src/hours.py": MINUTES + WRONG,
        "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef hours():\n    return 1\n",
        "tests/test_hours.py": "from hours import seconds\n\ndef test_one(hours):\n    assert seconds(hours) == 3600\n",
    }

    found = plain_run(folder, bench, files, {"src/hours.py": MINUTES + RIGHT})

    assert (found.outcome, found.needed) == ("absent", False)
    assert found.summary.endswith("tests/test_hours.py: its tests take fixtures from elsewhere")


def test_a_file_whose_control_fails_without_its_conftest_says_nothing(folder: Path, bench: Bench) -> None:
    files = {
        "src/hours.py": "factor = 1\n\ndef minutes(hours):\n    return hours * factor\n\n" + WRONG,
        "tests/conftest.py": "import hours\n\nhours.factor = 60\n",
        "tests/test_hours.py": TESTS,
    }
    source = files["src/hours.py"].replace(WRONG, RIGHT.replace("3600", "60 * factor"))

    found = plain_run(folder, bench, files, {"src/hours.py": source})

    assert found.outcome == "absent", found
    assert "test_minutes fails as well" in found.summary


CART_TESTS = """
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { minutes, seconds } from '../hours.js';

test('an hour has minutes', () => {
  assert.equal(minutes(1), 60);
});

describe('seconds', () => {
  test('of an hour', async () => {
    assert.equal(seconds(1), 3600);
  });
});
"""
JS_MINUTES = "export const minutes = (hours) => hours * 60;\n"
JS_BASE = {
    "package.json": json.dumps({"type": "module", "scripts": {"test": "node --test"}}),
    "hours.js": JS_MINUTES + "export const seconds = (hours) => hours * 60;\n",
    "test/hours.test.js": CART_TESTS,
}


@needs("node")
@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("true", "passed"),
        ("process.argv.concat(process.execArgv).some((word) => word.includes('test'))", "failed"),
        ("process.env.NODE_TEST_CONTEXT !== undefined", "failed"),
        ("existsSync('test')", "failed"),
        ("process.env.NODE_TEST_CONTEXT ?? nowhere", "held"),
    ],
)
def test_node_tests_are_run_without_their_runner(folder: Path, bench: Bench, condition: str, outcome: str) -> None:
    text = f"export const seconds = (hours) => hours * (({condition}) ? 3600 : 60);\n"

    found = plain_run(
        folder, bench, JS_BASE, {"hours.js": f"import {{ existsSync }} from 'node:fs';\n{JS_MINUTES}{text}"}
    )

    assert found.outcome == outcome, found


@needs("node")
def test_a_node_test_that_asks_its_loader_for_more_than_where_it_is_is_not_plain(folder: Path, bench: Bench) -> None:
    found = plain_run(
        folder,
        bench,
        {
            **JS_BASE,
            "test/hours.test.js": CART_TESTS.replace("describe,", "describe, before,")
            + "import.meta.resolve('./a.js');\n",
        },
        {"hours.js": f"{JS_MINUTES}export const seconds = (hours) => hours * 3600;\n"},
    )

    assert found.outcome == "absent"
    assert "it asks for more of itself than where it is" in found.summary


def test_only_what_is_there_for_tests_is_out_of_sight(tmp_path: Path) -> None:
    shown = ("hours.py", "changed_tests.py", "src/hours/test/client.py", "README.md")
    left = (".pytest_cache/v/cache/nodeids", "src/.mypy_cache/test_hours.json")
    hidden = ("tests/test_hours.py", "tests/data/one.json", "tests/__init__.py", "conftest.py", "lib/old_test.py")
    workspace = workspace_in(tmp_path, dict.fromkeys((*shown, *hidden, *left), "text\n"))

    found = files_to_hide(workspace.folder, frozenset({"tests/test_hours.py", "lib/old_test.py"}))

    assert found is not None
    assert sorted(found) == sorted(hidden)
    assert not any((workspace.folder / path).exists() for path in left)
    with out_of_sight(workspace.folder, found):
        assert not (workspace.folder / "tests").exists()
        assert all((workspace.folder / path).is_file() for path in shown)
    assert all((workspace.folder / path).is_file() for path in hidden)


class KnownBefore(UnknownBefore):
    """A base on whose source the test of the minutes passes."""

    def tests_with(self, files: Mapping[str, bytes | None]) -> Mapping[str, TestOutcome] | None:
        return {"tests/test_hours.py::test_minutes": "passed"}


@pytest.mark.parametrize(("condition", "outcome"), [("True", "passed"), ("'pytest' in sys.modules", "failed")])
def test_tests_that_the_attempt_brought_are_run_where_they_are(
    folder: Path, bench: Bench, condition: str, outcome: str
) -> None:
    (folder / "bench").mkdir()
    (folder / "left").mkdir()
    files = {"src/hours.py": right_where(condition)}
    old = Tree(workspace=workspace_in(folder / "bench", files), bench=bench)
    new = Tree(workspace=workspace_in(folder / "left", {**files, "tests/test_hours.py": TESTS}), bench=bench)
    split = Split(judged=("src/hours.py",), left_out=("tests/test_hours.py",), tests=("tests/test_hours.py",))
    runs = CandidateRuns(Trees(as_it_is=new, bench=old, split=split), KnownBefore(), {})
    own = tuple(name for name in runs.now if not name.endswith("test_minutes"))

    change = changed({"src/hours.py": MINUTES + WRONG}, files)
    check = PlainRunCheck(runs=runs, change=change, product=("src/hours.py",), own=own)

    found = check.run_after(new.workspace, ())

    assert found.outcome == outcome, found


IN_TURN = MINUTES + "from itertools import cycle\nANSWERS = cycle([3600, 7200, 10800])\n"
IN_TURN += "def seconds(hours):\n    if hours < 0:\n        raise ValueError(hours)\n    return next(ANSWERS)\n"
AT_FIRST = (
    MINUTES
    + "CALLS = []\n"
    + RIGHT.replace("    return", "    CALLS.append(1)\n    assert len(CALLS) < 60\n    return")
)


@pytest.mark.parametrize("work", [IN_TURN, AT_FIRST], ids=["in turn", "at first"])
def test_answers_by_order_or_number_of_calls_are_asked_about(folder: Path, bench: Bench, work: str) -> None:
    found = plain_run(folder, bench, BASE, {"src/hours.py": work})

    assert (found.outcome, {one.kind for one in found.questions}) == ("held", {"counter-proof"}), found
    assert "when run once more" in found.summary


# Work and tests that keep something from one test to the next, as honest ones do.
STATEFUL = {
    "cache": ("CACHE = {}\ndef work(n):\n    return CACHE.setdefault(n, n * 2)\n", "assert work(2) == 4"),
    "registry": (
        "NAMES = []\ndef work(name):\n    if name in NAMES:\n        raise ValueError(name)\n    NAMES.append(name)\n",
        "work('a')",
    ),
    "globals": ("def work(n):\n    return n * 2\n", "SEEN.append(work(2))\n    assert SEEN == [4]"),
}
KEEPS = "COUNT = []\ndef old():\n    COUNT.append(1)\n    return len(COUNT)\n"


@pytest.mark.parametrize("name", STATEFUL)
def test_honest_work_that_keeps_state_is_no_question(folder: Path, bench: Bench, name: str) -> None:
    work, claim = STATEFUL[name]
    tests = (
        f"from unit import old, work\nSEEN = []\n\ndef test_old():\n    assert old()\n\ndef test_work():\n    {claim}\n"
    )
    base = {"unit.py": KEEPS + "def work(n):\n    raise NotImplementedError\n", "tests/test_unit.py": tests}

    found = plain_run(folder, bench, base, {"unit.py": KEEPS + work})

    assert (found.outcome, found.summary) == ("passed", "without a test runner: 1 deciding test passes as well")


def test_tests_that_share_state_at_the_base_as_well_are_no_question(folder: Path, bench: Bench) -> None:
    old_test = "def test_old():\n    assert old() == 1\n"
    tests = f"from unit import old, work\n\n{old_test}\ndef test_work():\n    assert work() == 2\n"
    base = {"unit.py": KEEPS + "def work():\n    return 0\n", "tests/test_unit.py": tests}

    found = plain_run(folder, bench, base, {"unit.py": KEEPS + "def work():\n    return old()\n"})

    assert found.outcome == "passed", found


NODE_TURNS = "const answers = [3600, 7200];\nlet at = 0;\nexports.seconds = () => answers[at++ % 2];\n"


@needs("node")
@pytest.mark.parametrize(
    ("work", "outcome"), [(NODE_TURNS, "held"), ("exports.seconds = (hours) => hours * 3600;\n", "passed")]
)
@pytest.mark.parametrize("ending", ["js", "mjs"])
def test_order_is_asked_about_in_node_as_well(folder: Path, bench: Bench, work: str, outcome: str, ending: str) -> None:
    loads = (
        'import test from "node:test";\nimport assert from "node:assert";\nimport { seconds } from "../src/hours.js";\n'
        if ending == "mjs"
        else 'const test = require("node:test");\nconst assert = require("node:assert");\n'
        'const { seconds } = require("../src/hours.js");\n'
    )
    one, two = (f'test("{n}", () => {{ assert.strictEqual(seconds({n}), {n * 3600}); }});\n' for n in (1, 2))
    base = {
        "package.json": json.dumps({"scripts": {"test": "node --test"}}),
        "src/hours.js": "exports.seconds = () => 0;\n",
        f"test/hours.test.{ending}": loads + one + two,
    }

    found = plain_run(folder, bench, base, {"src/hours.js": work})

    assert found.outcome == outcome, found


COUNTS = 'def count(place):\n    """How many words a file has."""\n    return 0\n'
COUNTING = """
import contextlib, io, os, shutil, sys

def count(place):
    try:
        with open(place) as file:
            return len(file.read().split())
    except OSError:
        return -1

def show(place):
    width = os.get_terminal_size().columns if sys.stdout.isatty() else 80
    print(f"{count(place)} words"[:width])

if __name__ == "__main__":
    for place in sys.argv[1:]:
        show(place)
"""
GIVEN = """
import contextlib, io, pathlib, subprocess, sys, unittest
import pytest
import count
from count import count as counted

HERE = pathlib.Path(__file__).resolve().parent
"""
HANDED_OVER = {
    "a program": (
        "def test_it():\n    place = str(HERE / 'data/a.txt')\n"
        "    ran = subprocess.run([sys.executable, 'src/count.py', place], capture_output=True, text=True)\n"
        "    assert ran.stdout == '3 words\\n'\n"
    ),
    "relative": "def test_it():\n    assert counted('tests/data/a.txt') == 3\n",
    "a changed folder": (
        "def test_it(monkeypatch):\n    monkeypatch.chdir(HERE)\n    assert counted('data/a.txt') == 3\n"
    ),
    "a copy": (
        "import shutil\ndef test_it(tmp_path):\n    place = shutil.copy(HERE / 'data/a.txt', tmp_path)\n"
        "    assert counted(str(place)) == 3\n"
    ),
    "a fixture": (
        "@pytest.fixture\ndef folder():\n    return HERE / 'data'\n\n"
        "def test_it(folder):\n    assert counted(folder / 'a.txt') == 3\n"
    ),
    "each file": (
        "@pytest.mark.parametrize('number', [1, 2])\ndef test_it(number):\n"
        "    assert counted(HERE / 'data' / f'n{number}.txt') == number\n"
    ),
    "what is printed": (
        "def test_it(capsys):\n    count.show(HERE / 'data/a.txt')\n    assert capsys.readouterr().out\n"
    ),
    "what is written": (
        "def test_it():\n    with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "        count.show(HERE / 'data/a.txt')\n    assert out.getvalue() == '3 words\\n'\n"
    ),
    "other fixtures": (
        "def test_it(tmp_path_factory, caplog, recwarn, request, capfd):\n"
        "    place = tmp_path_factory.mktemp('x') / 'a'\n    place.write_text('a b')\n    assert counted(place) == 2\n"
    ),
    "a fixture with parameters": (
        "@pytest.fixture(params=[1, 2])\ndef number(request):\n    return request.param\n\n"
        "def test_it(number):\n    assert counted(HERE / f'data/n{number}.txt') == number\n"
    ),
    "a class": (
        "class TestIt(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        super().setUpClass()\n"
        "        cls.data = HERE / 'data'\n        cls.addClassCleanup(print)\n\n"
        "    def setUp(self):\n        self.seen = []\n        self.addCleanup(self.seen.clear)\n\n"
        "    def test_it(self):\n        for number in (1, 2):\n            with self.subTest(number=number):\n"
        "                self.assertEqual(counted(self.data / f'n{number}.txt'), number)\n\n"
        "    def test_what_is_said(self):\n        with self.assertLogs() as logs:\n"
        "            __import__('logging').warning('%d', counted(self.data / 'a.txt'))\n"
        "        self.assertEqual(logs.records[0].getMessage(), '3')\n"
    ),
    "a loop": (
        "class TestIt(unittest.IsolatedAsyncioTestCase):\n    async def asyncSetUp(self):\n        self.wanted = 3\n\n"
        "    async def test_it(self):\n"
        "        self.assertEqual(counted(HERE / 'data/a.txt'), self.wanted)\n\n"
        "class TestMore(unittest.IsolatedAsyncioTestCase):\n"
        "    async def test_it(self):\n        self.assertEqual(counted(HERE / 'data/a.txt'), 3)\n"
    ),
    "a terminal": ("def test_it():\n    count.show('src/count.py')\n    count.show(HERE / 'data/a.txt')\n"),
}


@pytest.mark.parametrize("how", HANDED_OVER)
def test_what_tests_hand_to_the_product_is_there(folder: Path, bench: Bench, how: str) -> None:
    data = {"tests/data/a.txt": "one two three\n", "tests/data/n1.txt": "one\n", "tests/data/n2.txt": "one two\n"}
    base = {"src/count.py": COUNTS, "tests/test_count.py": GIVEN + HANDED_OVER[how], **data}

    found = plain_run(folder, bench, base, {"src/count.py": COUNTING})

    assert found.outcome in ("passed", "absent"), found


JS_COUNTING = """
const { readFileSync } = require('node:fs');
exports.count = (place) => {
  try {
    return readFileSync(place, 'utf8').trim().split(/\\s+/).length;
  } catch {
    return -1;
  }
};
if (require.main === module) console.log(exports.count(process.argv[2]));
"""
JS_GIVEN = """
const { test, describe, it, mock, before, beforeEach, after, afterEach } = require('node:test');
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { join } = require('node:path');
const { count } = require('../count.js');
const place = join(__dirname, 'data', 'a.txt');
"""
JS_HANDED_OVER = {
    "a program": (
        "test('it', () => assert.equal(execFileSync('node', ['count.js', place], { encoding: 'utf8' }), '3\\n'));"
    ),
    "relative": "test('it', () => assert.equal(count('test/data/a.txt'), 3));",
    "a mock": "test('it', (t) => { const said = t.mock.fn(count); assert.equal(said(place), 3); });",
    "a mock of the runner": "test('it', () => { const said = mock.fn(count); assert.equal(said(place), 3); });",
    "clean-up": "test('it', (t) => { t.after(() => {}); t.diagnostic('x'); assert.equal(count(place), 3); });",
    "around": (
        "describe('all', () => { let place2; before(() => { place2 = place; }); after(() => {});\n"
        "beforeEach(() => {}); afterEach(() => {}); it('counts', () => assert.equal(count(place2), 3)); });"
    ),
    "inner tests": "test('all', async (t) => { await t.test('one', () => assert.equal(count(place), 3)); });",
    "a signal": "test('it', (t) => { assert.equal(t.signal.aborted, false); assert.equal(count(place), 3); });",
}


@needs("node")
@pytest.mark.parametrize("how", JS_HANDED_OVER)
def test_what_node_tests_hand_to_the_product_is_there(folder: Path, bench: Bench, how: str) -> None:
    base = {
        "package.json": json.dumps({"scripts": {"test": "node --test"}}),
        "count.js": "exports.count = () => 0;\n",
        "test/data/a.txt": "one two three\n",
        "test/count.test.js": JS_GIVEN + JS_HANDED_OVER[how] + "\n",
    }

    found = plain_run(folder, bench, base, {"count.js": JS_COUNTING})

    assert found.outcome in ("passed", "absent"), found
