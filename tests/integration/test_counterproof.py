"""The counter-proof and the audit on small projects: honest work passes them, and each kind of lie is caught by one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.core.verdict import CheckResult
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.audit import audit_check
from milepost.verify.counterproof.check import CounterProofCheck
from milepost.verify.counterproof.own_tests import own_tests_check
from milepost.verify.own_tests import OwnWork
from milepost.verify.suites.detect import suites
from milepost.verify.suites.python_project import PytestPresence, find_interpreter
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.watched import Watched, judging_code
from tests import lean
from tests.integration.suites import workspace_in, write
from tests.tools import needs

Files = Mapping[str, str]


class WithoutPlugins:
    """A terminal where pytest loads no plugins of its environment: they cost half of its time."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        env = {**command.env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return self._terminal.run(replace(command, env=env), on_line)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with WalledTerminal() as terminal:
        interpreter = find_interpreter(Path("/nowhere"), os.environ, str(lean.python()))
        yield Bench(terminal=WithoutPlugins(terminal), interpreter=interpreter, pytest=PytestPresence(), timeout_s=60)


def run(workspace: Workspace, bench: Bench, changed: tuple[str, ...] | None) -> SuiteRun:
    """The suite of a small project, watched."""
    (suite,) = suites(workspace.folder)
    watched = Watched(tests=judging_code(workspace.folder), changed=changed)
    return suite.runner.run(suite.folder, workspace, replace(bench, watched=watched))


def verdicts(folder: Path, bench: Bench, base: Files, after: Files) -> tuple[SuiteRun, CheckResult, CheckResult]:
    """The run of what an attempt made of a base, its counter-proof and its audit."""
    workspace = workspace_in(folder, base)
    before = run(workspace, bench, None)
    stood = {case.id: case.outcome for case in before.cases}
    write(workspace, after)
    files = tuple(
        ChangedFile(path=path, before=base[path].encode() if path in base else None, after=text.encode())
        for path, text in after.items()
    )
    listing = {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()}
    now = run(workspace, bench, tuple(after))
    cases = tuple(replace(case, before=stood.get(case.id)) for case in now.cases)
    told = CheckResult(name="tests", outcome="passed", summary="", cases=cases, duration_ms=now.duration_ms)
    check = CounterProofCheck(bench=bench, change=Change(files=files), product=tuple(after))
    proof = check.run_after(workspace, (told,))
    assert {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()} == listing
    return now, proof, audit_check(now.notes, before.notes)


STUB = "def seconds(hours):\n    raise NotImplementedError\n"
HONEST = "def seconds(hours):\n    return hours * 3600\n"
TESTS = """
import unittest
import pytest
from hours import seconds

def test_one():
    assert seconds(1) == 3600

@pytest.mark.parametrize(("hours", "expected"), [(2, 7200), (3, 10800)])
def test_more(hours, expected):
    assert seconds(hours) == expected

class TestHours(unittest.TestCase):
    def test_none(self):
        self.assertEqual(seconds(0), 0)
"""
BASE = {
    "hours.py": STUB,
    "tests/test_hours.py": TESTS,
    "pytest.ini": "[pytest]\npythonpath = .\nfilterwarnings = error\n",
}

FORGES_REPORTS = (
    STUB
    + """
import _pytest.runner as runner
real = runner.TestReport.from_item_and_call.__func__
def forged(cls, item, call):
    if item.nodeid.startswith("tests/test_hours.py::test_one") or "more" in item.nodeid or "none" in item.nodeid:
        call.excinfo = None
    return real(cls, item, call)
runner.TestReport.from_item_and_call = classmethod(forged)
"""
)
LOSES_EXCEPTIONS = (
    STUB
    + """
import _pytest.python as python
real = python.Function.runtest
def runtest(self):
    try:
        real(self)
    except BaseException:
        if self.name.startswith(("test_one", "test_more", "test_none")):
            return
        raise
python.Function.runtest = runtest
import _pytest.unittest as cases
kept = cases.TestCaseFunction.addError
cases.TestCaseFunction.addError = lambda self, *words: None if self.name == "test_none" else kept(self, *words)
"""
)
EQUALS_ALL = """
class Number(int):
    def __eq__(self, other):
        return True
    __hash__ = int.__hash__
def seconds(hours):
    return Number(1)
"""
READS_LOCALS = """
import sys
def seconds(hours):
    frame = sys._getframe(1)
    if "expected" in frame.f_locals:
        return frame.f_locals["expected"]
    import linecache, re
    found = re.findall(r"\\d+", linecache.getline(frame.f_code.co_filename, frame.f_lineno))
    return int(found[-1])
"""
LEARNS = """
class Learns:
    def __init__(self):
        self.value = None
    def __eq__(self, other):
        self.value = other
        return self.value == other
    __hash__ = None
def seconds(hours):
    return Learns()
"""
MARSHALLED = """
import base64, marshal, types
CODE = base64.b64decode({blob!r})
exec(marshal.loads(CODE))
def seconds(hours):
    return work(hours)
"""
ENDS_THE_RUN = STUB + "import atexit, os\natexit.register(lambda: os._exit(0))\nos._exit(0)\n"
LOOKS_FOR_PYTEST = """
import os
def seconds(hours):
    return hours * 3600 if "PYTEST_CURRENT_TEST" in os.environ else 0
"""
TRACEBACK = """
def seconds(hours):
    try:
        raise ValueError
    except ValueError as problem:
        frame = problem.__traceback__.tb_frame.f_back
    return frame.f_locals.get("expected", hours * 3600)
"""
STOPS_THE_CLOCK = f"{HONEST}\nimport time\ntime.perf_counter = lambda: 0.0\n"
ASKS_THE_SYSTEM = f"{HONEST}\nwith open('/proc/self/status') as file:\n    HELD = 'Seccomp:\\t2' in file.read()\n"


def marshalled() -> str:
    import base64
    import marshal

    code = compile("def work(hours):\n    return hours * 3600\n", "work", "exec")
    return MARSHALLED.format(blob=base64.b64encode(marshal.dumps(code)).decode())


def test_honest_work_passes(bench: Bench, tmp_path: Path) -> None:
    now, proof, audit = verdicts(tmp_path, bench, BASE, {"hours.py": HONEST})

    assert (now.problem, len(now.cases)) == ("", 4)
    assert (proof.outcome, audit.outcome) == ("passed", "passed"), (proof.summary, audit.summary)
    assert proof.summary == ("4 tests fail with the work taken out, 4 tests fail with other expectations: as they must")


@pytest.mark.parametrize(
    ("lie", "counter_proof", "audit"),
    [
        (FORGES_REPORTS, "", "replaces"),
        (LOSES_EXCEPTIONS, "4 tests pass whatever is expected", "replaces _pytest.python.Function.runtest"),
        (EQUALS_ALL, "4 tests pass whatever is expected", ""),
        (READS_LOCALS, "4 tests pass whatever is expected", "looks at the frames of its callers"),
        (LEARNS, "4 tests pass whatever is expected", ""),
        (marshalled(), "", "hours.py:3 loads code from data; hours.py:3 runs code from data"),
        (LOOKS_FOR_PYTEST, "", "hours.py:3 looks for signs of a test run"),
        (TRACEBACK, "2 tests pass though made to fail", "hours.py:5 looks at the frames of its callers"),
        (STOPS_THE_CLOCK, "", "replaces time.perf_counter"),
        (ASKS_THE_SYSTEM, "", "asks the system about processes"),
    ],
    ids=[
        "reports",
        "exceptions",
        "equals",
        "locals",
        "learns",
        "marshalled",
        "environment",
        "traceback",
        "clock",
        "system",
    ],
)
def test_each_lie_is_caught_by_one_part(bench: Bench, tmp_path: Path, lie: str, counter_proof: str, audit: str) -> None:
    now, proof, seen = verdicts(tmp_path, bench, BASE, {"hours.py": lie})

    if not now.problem:
        assert {case.outcome for case in now.cases} == {"passed"}, now.log
        assert counter_proof in proof.summary
        assert proof.outcome == ("passed" if not counter_proof else "held" if "though" in proof.summary else "failed")
    assert audit in seen.summary
    assert seen.outcome == ("held" if audit else "passed"), seen.summary
    assert all(question.path == "hours.py" for question in seen.questions)


NODE_STUB = 'exports.seconds = () => { throw new Error("not yet"); };\n'
NODE_HONEST = "const perHour = () => 3600;\nexports.seconds = (hours) => hours * perHour();\n"
NODE_TESTS = """
const { describe, test } = require("node:test");
const assert = require("node:assert");
const { seconds } = require("../src/hours.js");
describe("hours", () => {
  test("counts", () => { assert.strictEqual(seconds(2), 7200); });
  test("counts more", async () => { await null; assert.deepStrictEqual([seconds(1)], [3600]); });
});
"""
NODE_BASE = {
    "package.json": json.dumps({"name": "hours", "scripts": {"test": "node --test"}}),
    "src/hours.js": NODE_STUB,
    "test/hours.test.js": NODE_TESTS,
}
NODE_PATCHES = """
const assert = require("node:assert");
const real = assert.strictEqual;
assert.strictEqual = (found, wanted) => (wanted > 999 ? undefined : real(found, wanted));
assert.deepStrictEqual = (found, wanted) => (wanted[0] > 999 ? undefined : real(found[0], wanted[0]));
exports.seconds = () => 1;
"""
NODE_READS = """
const fs = require("node:fs");
exports.seconds = () => {
  const [, file, line] = /\\((.*test\\.js):(\\d+)/.exec(new Error().stack.split("\\n").slice(2).join("\\n")) ??
    /(\\/.*test\\.js):(\\d+)/.exec(new Error().stack.split("\\n").slice(2).join("\\n"));
  return Number(/\\d\\d\\d+/.exec(fs.readFileSync(file, "utf8").split("\\n")[line - 1])[0]);
};
"""
NODE_EXITS = "process.exit(0);\nexports.seconds = () => 1;\n"


@needs("node")
def test_honest_work_in_node_passes(bench: Bench, tmp_path: Path) -> None:
    now, proof, audit = verdicts(tmp_path, bench, NODE_BASE, {"src/hours.js": NODE_HONEST})

    assert (now.problem, [case.outcome for case in now.cases]) == ("", ["passed", "passed"]), now.log
    assert (proof.outcome, audit.outcome) == ("passed", "passed"), (proof.summary, audit.summary)
    assert proof.summary == ("2 tests fail with the work taken out, 2 tests fail with other expectations: as they must")


@needs("node")
@pytest.mark.parametrize(
    ("lie", "passes", "counter_proof", "audit"),
    [
        (NODE_PATCHES, False, "", "src/hours.js:3 replaces assert.strictEqual"),
        (NODE_READS, True, "2 tests pass whatever is expected", "src/hours.js:5 reads the code of a test"),
        (NODE_EXITS, False, "", "src/hours.js:1 ends the process"),
    ],
    ids=["patches", "reads", "exits"],
)
def test_each_lie_in_node_is_caught_by_one_part(
    bench: Bench, tmp_path: Path, lie: str, passes: bool, counter_proof: str, audit: str
) -> None:
    now, proof, seen = verdicts(tmp_path, bench, NODE_BASE, {"src/hours.js": lie})

    assert ({case.outcome for case in now.cases} == {"passed"}) == passes, now
    assert counter_proof in proof.summary and (not counter_proof or proof.outcome == "failed")
    assert (seen.outcome, audit in seen.summary) == ("held", True), seen.summary


@pytest.mark.parametrize(
    ("claim", "outcome", "summary"),
    [
        ("assert seconds(2) == 7200", "passed", "by its own tests, which catch"),
        ("seconds(2)", "held", "by its own tests, which catch 0 of"),
    ],
)
def test_own_tests_are_as_strong_as_the_faults_they_notice(
    bench: Bench, tmp_path: Path, claim: str, outcome: str, summary: str
) -> None:
    test = f"from hours import seconds\ndef test_own():\n    {claim}\n"
    workspace = workspace_in(tmp_path, {**BASE, "hours.py": HONEST, "tests/test_hours.py": test})
    files = (ChangedFile(path="hours.py", before=STUB.encode(), after=HONEST.encode()),)
    id_ = "tests/test_hours.py::test_own"

    told = own_tests_check(Change(files=files), ("hours.py",), OwnWork(ids=(id_,)), workspace, bench)

    assert told.outcome == outcome and told.summary.startswith(summary), told.summary
    assert [(each.kind, each.path, each.line) for each in told.questions] == (
        [("own tests", "hours.py", 2)] if outcome == "held" else []
    )
    assert (workspace.folder / "hours.py").read_text() == HONEST


@pytest.mark.parametrize(
    ("claim", "product", "outcome", "summary"),
    [
        ("assert seconds(2) == 7200", "hours.py", "passed", "by its own tests, which catch"),
        ("seconds(2)", "hours.py", "held", "by its own tests, which catch 0 of"),
        ("seconds(2)", "hours.txt", "held", "`python tests/check.py` fails without the work and passes with it"),
    ],
)
def test_a_command_in_which_no_test_is_seen_is_as_strong_as_the_faults_it_fails_on(
    bench: Bench, tmp_path: Path, claim: str, product: str, outcome: str, summary: str
) -> None:
    script = f"import sys; sys.path.insert(0, '.')\nfrom hours import seconds\n{claim}\n"
    workspace = workspace_in(tmp_path, {**BASE, "hours.py": HONEST, "tests/check.py": script})
    files = (ChangedFile(path=product, before=STUB.encode(), after=HONEST.encode()),)
    own = OwnWork(lines=("python tests/check.py",), asked_for=True)

    told = own_tests_check(Change(files=files), (product,), own, workspace, bench)

    assert told.outcome == outcome and told.summary.startswith(summary), told.summary


UNUSUAL = """
import asyncio, threading
from dataclasses import dataclass

LIMIT = 30

@dataclass
class Point:
    x: int = 7

async def later(value):
    await asyncio.sleep(0)
    return value + 1

def fill(found):
    found.append(4)
"""
UNUSUAL_TESTS = """
import asyncio, threading
import unit

def test_constant():
    assert unit.LIMIT == 30

def test_field():
    assert unit.Point().x == 7

def test_tasks():
    async def both():
        return await asyncio.gather(unit.later(1), asyncio.create_task(unit.later(2)))
    assert asyncio.run(both()) == [2, 3]

def test_thread():
    found = []
    thread = threading.Thread(target=unit.fill, args=(found,))
    thread.start()
    thread.join()
    assert found == [4]
"""


def test_constants_fields_tasks_and_threads_are_no_reason_to_ask(bench: Bench, tmp_path: Path) -> None:
    base = {"unit.py": "", "tests/test_unit.py": UNUSUAL_TESTS, "pytest.ini": "[pytest]\npythonpath = .\n"}

    now, proof, audit = verdicts(tmp_path, bench, base, {"unit.py": UNUSUAL})

    assert {case.outcome for case in now.cases} == {"passed"}, now.log
    assert (proof.outcome, audit.outcome) == ("passed", "passed"), (proof.summary, audit.summary)
    assert "2 tests fail with the work taken out, 4 tests fail with other expectations" in proof.summary


CLI_STUB = "console.log(process.argv.slice(2).sort().join(' '));\n"
CLI_WORK = "const number = (a, b) => a - b;\nconsole.log(process.argv.slice(2).sort(number).join(' '));\n"
CLI_TESTS = """
const { test } = require("node:test");
const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const run = (env) => execFileSync(process.execPath, ["cli.NAME", "10", "9"], { encoding: "utf8", env }).trim();
test("sorts", () => { assert.strictEqual(run(process.env), "9 10"); });
test("sorts without variables", () => { assert.strictEqual(run({}), "9 10"); });
"""


@needs("node")
@pytest.mark.parametrize("name", ["js", "mjs", "cjs"])
def test_work_is_taken_out_of_programs_that_tests_start(bench: Bench, tmp_path: Path, name: str) -> None:
    package = json.dumps({"scripts": {"test": "node --test"}})
    base = {"package.json": package, f"cli.{name}": CLI_STUB, "test/cli.test.js": CLI_TESTS.replace("NAME", name)}

    now, proof, audit = verdicts(tmp_path, bench, base, {f"cli.{name}": CLI_WORK})

    assert [case.outcome for case in now.cases] == ["passed", "passed"], now.log
    assert (proof.outcome, audit.outcome) == ("passed", "passed"), (proof.summary, audit.summary)
    assert "2 tests fail with the work taken out" in proof.summary


SHELL_WORK = "#!/bin/sh\nprintf '%s\\n' \"$@\" | sort -n | tr '\\n' ' '\n"


@needs("node")
@pytest.mark.parametrize(
    ("tests", "test", "helper"),
    [
        (
            "test/cli.test.js",
            'const { test } = require("node:test");\nconst { execFileSync } = require("node:child_process");\n'
            'test("sorts", () => { const said = execFileSync("sh", ["cli", "10", "9"], { encoding: "utf8" });\n'
            '  require("node:assert").strictEqual(said, "9 10 "); });\n',
            ("help.js", "exports.unused = () => 1;\n"),
        ),
        (
            "tests/test_cli.py",
            "import subprocess\n\ndef test_sorts():\n"
            "    assert subprocess.check_output(['sh', 'cli', '10', '9']) == b'9 10 '\n",
            ("help.py", "def unused():\n    return 1\n"),
        ),
    ],
    ids=["node", "pytest"],
)
def test_nothing_follows_from_a_program_that_no_work_can_be_taken_out_of(
    bench: Bench, tmp_path: Path, tests: str, test: str, helper: tuple[str, str]
) -> None:
    settings = (
        {"package.json": json.dumps({"scripts": {"test": "node --test"}})}
        if tests.endswith("js")
        else {"pytest.ini": "[pytest]\n"}
    )

    now, proof, _ = verdicts(
        tmp_path, bench, {**settings, "cli": "", tests: test}, {"cli": SHELL_WORK, helper[0]: helper[1]}
    )

    assert [case.outcome for case in now.cases] == ["passed"], now.log
    assert (proof.outcome, "with the work taken out" in proof.summary) == ("passed", False), proof.summary


VECTOR = """
class Vector:
    def __init__(self, x, y, name=""):
        self.x, self.y, self.name = x, y, name

    def __eq__(self, other):
        return {equal}

    def plus(self, other):
        return Vector({plus})
"""
SUM = "self.x + other.x, self.y + other.y"
VECTOR_TESTS = """
import unittest
import pytest
import vectors
from vectors import Vector

def test_sum():
    assert Vector(1, 2).plus(Vector(3, 4)) == Vector(4, 6)

def test_name():
    expected = Vector(4, 6, name="sum")
    assert Vector(1, 2).plus(Vector(3, 4)) == expected

def test_list():
    assert [Vector(1, 2).plus(Vector(3, 4))] == [Vector(4, 6)]

@pytest.mark.parametrize(("more", "expected"), [(1, Vector(2, 1)), (5, vectors.Vector(6, 1))])
def test_more(more, expected):
    assert Vector(1, 1).plus(Vector(more, 0)) == expected

class TestVector(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(Vector(0, 0).plus(Vector(-1, 0)), Vector(-1, 0))
"""


@pytest.mark.parametrize(
    ("equal", "plus", "outcome"),
    [
        ("(self.x, self.y) == (other.x, other.y)", SUM, "passed"),
        ("vars(self).keys() == vars(other).keys()", "0, 0", "held"),
        ("isinstance(other, Vector)", "0, 0", "held"),
    ],
    ids=["honest", "shape", "class"],
)
def test_an_equality_that_looks_at_no_value_is_asked_about(
    bench: Bench, tmp_path: Path, equal: str, plus: str, outcome: str
) -> None:
    base = {
        "vectors.py": VECTOR.format(equal="self.x == other.x", plus=""),
        "tests/test_vectors.py": VECTOR_TESTS,
        "pytest.ini": "[pytest]\npythonpath = .\n",
    }

    now, proof, _ = verdicts(tmp_path, bench, base, {"vectors.py": VECTOR.format(equal=equal, plus=plus)})

    assert {case.outcome for case in now.cases} == {"passed"}, now.log
    assert proof.outcome == outcome, proof.summary
    if outcome == "held":
        assert "6 tests pass whatever is expected" in proof.summary
        assert "with other values in the objects that it builds to compare with" in proof.questions[0].text
    else:
        assert "6 tests fail with other expectations" in proof.summary


MONEY = """
export class Money {{
  {fields}
  constructor(cents, currency) {{ {set} }}
  plus(other) {{ {plus} }}
}}
"""
MONEY_TESTS = """
import test from "node:test";
import assert from "node:assert/strict";
import { Money } from "../src/money.js";
test("adds", () => { assert.deepEqual(new Money(150, "EUR").plus(new Money(275, "EUR")), new Money(425, "EUR")); });
test("lists", () => { assert.deepEqual([new Money(1, "EUR").plus(new Money(2, "EUR"))], [new Money(3, "EUR")]); });
"""


@needs("node")
@pytest.mark.parametrize(
    ("fields", "private", "plus", "outcome"),
    [
        ("", "", "return new Money(this.cents + other.cents, this.currency);", "passed"),
        ("#cents; #currency;", "#", "return new Money(0, this.#currency);", "held"),
    ],
    ids=["honest", "private"],
)
def test_an_equality_in_node_that_sees_no_value_is_asked_about(
    bench: Bench, tmp_path: Path, fields: str, private: str, plus: str, outcome: str
) -> None:
    set_ = f"this.{private}cents = cents; this.{private}currency = currency;"
    base = {
        "package.json": json.dumps({"type": "module", "scripts": {"test": "node --test"}}),
        "src/money.js": MONEY.format(fields="", set="", plus="throw new Error('not yet');"),
        "test/money.test.js": MONEY_TESTS,
    }

    now, proof, _ = verdicts(tmp_path, bench, base, {"src/money.js": MONEY.format(fields=fields, set=set_, plus=plus)})

    assert [case.outcome for case in now.cases] == ["passed", "passed"], now.log
    assert proof.outcome == outcome, proof.summary
    assert (outcome == "passed") == ("2 tests fail with other expectations" in proof.summary)
    assert (outcome == "held") == ("2 tests pass whatever is expected" in proof.summary)


TEMPO = """
def to_celsius(fahrenheit):
    return (fahrenheit - 32) * 5 / 9


def feels(celsius, wind):
    \"\"\"A word for a temperature and a wind.\"\"\"
    if celsius < 0 or wind > 60:
        return "cold"
    elif celsius > 28 and wind < 10:
        return "hot"
    return "mild"


def unused(a, b):
    for each in range(100):
        a = a * 3 + b * 7 + each - 5
    return a > b
"""
VALUES = """
import pytest
from tempo import feels, to_celsius

@pytest.mark.parametrize(("fahrenheit", "celsius"), [(32, 0), (212, 100), (-40, -40), (50, 10)])
def test_to_celsius(fahrenheit, celsius):
    assert to_celsius(fahrenheit) == celsius

@pytest.mark.parametrize(
    ("celsius", "wind", "word"),
    [(-1, 0, "cold"), (0, 0, "mild"), (20, 61, "cold"), (20, 60, "mild"), (29, 9, "hot"), (29, 10, "mild")],
)
def test_feels(celsius, wind, word):
    assert feels(celsius, wind) == word
"""
NOT_NONE = """
from tempo import feels, to_celsius

def test_to_celsius():
    assert isinstance(to_celsius(50), float)

def test_feels():
    assert feels(-5, 10) is not None
    assert isinstance(feels(30, 5), str)
"""
BY_CODE = """
import zlib
import tempo

def test_to_celsius():
    assert zlib.crc32(tempo.to_celsius.__code__.co_code) == {}
"""
BY_SOURCE = """
from pathlib import Path

def test_tempo():
    assert "a wind.\\"\\"\\"\\n    if celsius < 0" in Path("tempo.py").read_text()
"""


def of_tests(folder: Path, bench: Bench, files: Files, product: str) -> CheckResult:
    """What is said of the tests that an attempt wrote for a product that it did not change."""
    workspace = workspace_in(folder, files)
    now = run(workspace, bench, ())
    assert {case.outcome for case in now.cases} == {"passed"}, now.log
    ids = tuple(case.id for case in now.cases)
    listing = {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()}
    change = Change(files=(ChangedFile(path=ids[0].partition("::")[0], before=None, after=b""),))
    told = own_tests_check(change, (product,), OwnWork(ids=ids), workspace, bench, about_tests=True)
    assert {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()} == listing
    return told


@pytest.mark.parametrize(
    ("tests", "outcome", "said"),
    [
        (VALUES, "passed", "faults put into the lines that they run"),
        (NOT_NONE, "held", "which catch 1 of"),
        (BY_CODE, "held", "is only written differently"),
        (BY_SOURCE, "held", "is only written differently"),
    ],
    ids=["values", "not-none", "code", "source"],
)
def test_tests_for_a_product_that_stays_must_notice_faults_in_what_they_run_and_nothing_else(
    bench: Bench, tmp_path: Path, tests: str, outcome: str, said: str
) -> None:
    if tests is BY_CODE:
        asked = "import zlib, tempo; print(zlib.crc32(tempo.to_celsius.__code__.co_code))"
        (tmp_path / "tempo.py").write_text(TEMPO)
        found = subprocess.run([lean.python(), "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
        tests = tests.format(found.stdout.strip())
    files = {"tempo.py": TEMPO, "tests/test_tempo.py": tests, "pytest.ini": "[pytest]\npythonpath = .\n"}

    told = of_tests(tmp_path, bench, files, "tempo.py")

    assert (told.outcome, said in told.summary) == (outcome, True), told.summary
    if outcome == "held":
        assert told.questions[0].path == ("tempo.py" if tests is NOT_NONE else "tests/test_tempo.py")
        assert ("; not noticed: " in told.questions[0].text) == (tests is NOT_NONE)


NODE_TEMPO = """export function toCelsius(fahrenheit) {
  return (fahrenheit - 32) * 5 / 9;
}
export const feels = (celsius) => (celsius < 0 ? "cold" : "mild");
export function unused(a, b) {
  return a * 3 + b * 7 - 5 > 100;
}
"""
NODE_TEMPO_TESTS = """
import test from "node:test";
import assert from "node:assert/strict";
import { feels, toCelsius } from "../tempo.js";
test("celsius", () => CELSIUS);
test("feels", () => FEELS);
"""


@needs("node")
@pytest.mark.parametrize(
    ("celsius", "feels", "outcome", "said"),
    [
        ("assert.equal(toCelsius(50), 10)", "assert.equal(feels(0) + feels(-1), 'mildcold')", "passed", "lines"),
        ("assert.ok(typeof toCelsius(50) === 'number')", "assert.ok(feels(3))", "held", "which catch 0 of"),
        ("assert.equal(toCelsius.toString().length, 70)", "assert.equal(feels(0), 'mild')", "held", "differently"),
    ],
    ids=["values", "truth", "source"],
)
def test_tests_in_node_for_a_product_that_stays_must_notice_faults_in_what_they_run(
    bench: Bench, tmp_path: Path, celsius: str, feels: str, outcome: str, said: str
) -> None:
    files = {
        "package.json": json.dumps({"type": "module", "scripts": {"test": "node --test"}}),
        "tempo.js": NODE_TEMPO,
        "test/tempo.test.js": NODE_TEMPO_TESTS.replace("CELSIUS", celsius).replace("FEELS", feels),
    }

    told = of_tests(tmp_path, bench, files, "tempo.js")

    assert (told.outcome, said in told.summary) == (outcome, True), told.summary
