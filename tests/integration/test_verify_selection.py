"""`Verify:` lines on the real sandbox: what they start and open at the base, and what their tests say then."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.ports import Terminal
from milepost.core.verdict import CheckResult
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.selection.at_base import LineAtBase, SuiteAtBase, from_json
from milepost.verify.selection.check import VerifyCheck
from milepost.verify.selection.observe import look
from milepost.verify.selection.selection import Selection
from milepost.verify.suites.python_project import find_interpreter
from tests import lean
from tests.fakes.suite_check import run_tests
from tests.integration.suites import workspace_in, write
from tests.integration.test_verify_checks import PlainPytest
from tests.tools import needs

WRONG, RIGHT = "def double(n):\n    return n\n", "def double(n):\n    return n * 2\n"
LIES = "import atexit, os, sys\natexit.register(lambda: os._exit(0))\nsys.exit(0)\n"
TEST = (
    "from product import double\n\ndef test_double():\n    assert double(2) == 4\n\n"
    "def test_zero():\n    assert double(0) == 0\n"
)
UNIT = (
    "import unittest\nfrom product import double\n\nclass TestDouble(unittest.TestCase):\n"
    "    def test_double(self):\n        self.assertEqual(double(2), 4)\n\n"
    "    def test_zero(self):\n        self.assertEqual(double(0), 0)\n\n"
    "if __name__ == '__main__':\n    unittest.main()\n"
)


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    with WalledTerminal() as isolated:
        yield PlainPytest(isolated)


@pytest.fixture(scope="module")
def bench(terminal: Terminal) -> Bench:
    found = find_interpreter(Path("/nowhere"), os.environ, str(lean.python()))
    return Bench(terminal=terminal, interpreter=found, timeout_s=120)


class Story:
    """A line at a base, and then with another product."""

    def __init__(self, folder: Path, bench: Bench, line: str, files: Mapping[str, str]) -> None:
        self.bench, self.line = bench, line
        (folder / "base").mkdir()
        (folder / "now").mkdir()
        self.base = workspace_in(folder / "base", files)
        self.now = workspace_in(folder / "now", files)
        self.before = from_json(look(line, self.base, bench).to_json())

    def with_files(self, files: Mapping[str, str]) -> CheckResult:
        write(self.now, files)
        return VerifyCheck(command_line=self.line, bench=self.bench, before=self.before).run(self.now)


EXAMPLES = """def double(n):
    \'\'\'
    >>> double(2)
    4
    \'\'\'
    return BODY

def half(n):
    \'\'\'
    >>> half(2)
    1
    \'\'\'
    return n // 2
"""
PATCHES = "import doctest\ndoctest.OutputChecker.check_output = lambda *words: True\n"
HIDES = "import functools\n\ndef hidden(function):\n    return functools.partial(function)\n\n@hidden\n"
REPLACES = "\ndouble.__doc__ = None\n"


@pytest.mark.parametrize("line", ["python -m doctest product.py", "for f in pro*.py; do python -m doctest $f; done"])
def test_examples_are_tests_of_the_line_that_runs_them(tmp_path: Path, bench: Bench, line: str) -> None:
    wrong, right = EXAMPLES.replace("BODY", "n"), EXAMPLES.replace("BODY", "n * 2")
    story = Story(tmp_path, bench, line, {"product.py": wrong})

    assert {case.id: case.outcome for case in story.before.cases} == {
        "product.py::product.double": "failed",
        "product.py::product.half": "passed",
    }
    for lie in (PATCHES + wrong, HIDES + wrong, wrong + REPLACES, LIES + wrong):
        assert story.with_files({"product.py": lie}).outcome == "failed", lie
    done = story.with_files({"product.py": right})
    assert (done.outcome, done.decisive, len(done.cases)) == ("passed", True, 2), done.summary
    gone = story.with_files({"product.py": right.partition("def half")[0]})
    assert (gone.outcome, [each.kind for each in gone.questions]) == ("held", ["removed test"])


def test_examples_in_a_text_are_tests_of_the_line_that_runs_them(tmp_path: Path, bench: Bench) -> None:
    text = {"README.md": ">>> from product import double\n>>> double(2)\n4\n", "product.py": WRONG}
    story = Story(tmp_path, bench, "python -m doctest -o ELLIPSIS README.md", text)

    assert [(case.id, case.outcome) for case in story.before.cases] == [("README.md::README.md", "failed")]
    assert story.with_files({"product.py": RIGHT}).outcome == "passed"


PYTHON = {"product.py": WRONG, "tests/test_product.py": TEST, "data.txt": "1\n", "README.md": "# It\n"}


@pytest.mark.parametrize(
    ("line", "more", "is_runner"),
    [
        ("python -m pytest -q tests/test_product.py", {}, True),
        (".venv/bin/python -m pytest tests", {}, True),
        ("cd tests && PYTHONPATH=.. pytest -q", {}, True),
        ("make check", {"Makefile": "check:\n\tcat data.txt\n\tPYTHONPATH=. pytest -q tests\n"}, False),
        (
            "make check",
            {
                "Makefile": "check:\n\tcat data.txt\n\tpython run.py\n",
                "run.py": "import pytest, sys\nsys.exit(pytest.main(['tests', '-q']))\n",
            },
            False,
        ),
        ("sh run.sh | cat data.txt -", {"run.sh": "python -m pytest tests || true\n"}, False),
        ("python -m unittest tests.test_product", {"tests/__init__.py": "", "tests/test_product.py": UNIT}, True),
        (
            "make check",
            {
                "Makefile": "check:\n\tcat data.txt\n\tPYTHONPATH=. python tests/test_product.py -v\n",
                "tests/test_product.py": UNIT,
            },
            False,
        ),
        (
            "make check",
            {
                "Makefile": "check:\n\tcat data.txt\n\tpython -m unittest discover -s tests\n",
                "tests/test_product.py": UNIT,
            },
            False,
        ),
    ],
)
def test_the_tests_of_a_line_decide_whatever_starts_them(
    tmp_path: Path, bench: Bench, line: str, more: Mapping[str, str], is_runner: bool
) -> None:
    story = Story(tmp_path, bench, line, {**PYTHON, **more})

    before = story.before
    assert (before.outcome, before.is_runner, before.unseen, before.problem) == ("failed", is_runner, "", "")
    assert sorted((case.id.rpartition("::")[2], case.outcome) for case in before.cases) == [
        ("test_double", "failed"),
        ("test_zero", "passed"),
    ]
    assert before.opens_known
    assert {"tests/test_product.py", "product.py"} <= set(before.opened)
    assert ("data.txt" in before.opened) is (not is_runner)
    assert "README.md" not in before.opened

    lied = story.with_files({"product.py": LIES})
    assert lied.outcome == "failed"
    assert story.with_files({"product.py": WRONG}).outcome == "failed"
    done = story.with_files({"product.py": RIGHT})
    assert (done.outcome, done.decisive, done.before) == ("passed", True, before.outcome)
    assert {case.id.rpartition("::")[2]: case.before for case in done.cases} == {
        "test_double": "failed",
        "test_zero": "passed",
    }


NODE_TEST = """
import test from "node:test";
import assert from "node:assert";
import { double } from "../product.js";

test("double", () => assert.strictEqual(double(2), 4));
test("zero", () => assert.strictEqual(double(0), 0));
"""
NODE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test tests/"}}',
    "product.js": "export const double = (n) => n;\n",
    "tests/product.test.js": NODE_TEST,
}


@needs("node", "npm")
@pytest.mark.parametrize(
    ("line", "selected"),
    [
        ("npm test", ["double", "zero"]),
        ("node --test tests/", ["double", "zero"]),
        ("node --test --test-name-pattern=dou tests/product.test.js", ["double"]),
        ("sh -c 'npm test && echo fine'", ["double", "zero"]),
    ],
)
def test_node_tests_are_seen_whatever_starts_them(tmp_path: Path, bench: Bench, line: str, selected: list[str]) -> None:
    story = Story(tmp_path, bench, line, NODE)

    assert (story.before.outcome, story.before.unseen) == ("failed", "")
    assert [case.id.rpartition("::")[2] for case in story.before.cases] == selected
    assert "tests/product.test.js" in story.before.opened
    assert story.with_files({"product.js": "process.exit(0);\nexport const double = () => 0;\n"}).outcome == "failed"
    done = story.with_files({"product.js": "export const double = (n) => n * 2;\n"})
    assert (done.outcome, done.decisive) == ("passed", True)


@needs("node")
def test_a_node_line_that_selects_no_test_is_red(tmp_path: Path, bench: Bench) -> None:
    for at, words in enumerate(("--test-name-pattern=nothing tests/", "tests/new.test.js")):
        (tmp_path / str(at)).mkdir()
        story = Story(tmp_path / str(at), bench, f"node --test {words}", NODE)
        assert (story.before.outcome, story.with_files({}).outcome) == ("failed", "failed")


RUST = {
    "Cargo.toml": '[package]\nname = "product"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn double(n: i32) -> i32 {\n    n\n}\n",
    "tests/product.rs": "use product::double;\n\n#[test]\nfn doubles() {\n    assert_eq!(double(2), 4);\n}\n\n"
    "#[test]\nfn zero() {\n    assert_eq!(double(0), 0);\n}\n",
    "Makefile": "check:\n\tcargo test --offline --test product doubles\n",
}


@needs("cargo")
@pytest.mark.parametrize("line", ["cargo test -q --test product doubles -- --nocapture", "make check"])
def test_cargo_tests_are_seen_whatever_starts_them(tmp_path: Path, bench: Bench, line: str) -> None:
    story = Story(tmp_path, bench, line, RUST)

    assert [(case.id, case.outcome) for case in story.before.cases] == [("tests/product.rs::doubles", "failed")]
    assert story.before.selections[0].runner == "cargo"
    done = story.with_files({"src/lib.rs": "pub fn double(n: i32) -> i32 {\n    n * 2\n}\n"})
    assert (done.outcome, done.decisive) == ("passed", True)


@needs("cargo")
def test_cargo_test_of_nothing_is_red(tmp_path: Path, bench: Bench) -> None:
    for at, words in enumerate(("nosuch", "--test nosuch")):
        (tmp_path / str(at)).mkdir()
        story = Story(tmp_path / str(at), bench, f"cargo test {words}", RUST)
        assert (story.before.outcome, story.with_files({}).outcome) == ("failed", "failed")


GO = {
    "go.mod": "module example.org/product\n\ngo 1.19\n",
    "product.go": "package product\n\nfunc Double(n int) int { return n }\n",
    "product_test.go": 'package product\n\nimport "testing"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n'
    '\t\tt.Fatal("not doubled")\n\t}\n}\n\n'
    "func TestZero(t *testing.T) {\n\tif Double(0) != 0 {\n\t\tt.Fatal()\n\t}\n}\n",
    "Makefile": "check:\n\tgo test -run Double ./...\n",
}


@needs("go")
@pytest.mark.parametrize("line", ["go test -run Double ./...", "make check"])
def test_go_tests_are_seen_whatever_starts_them(tmp_path: Path, bench: Bench, line: str) -> None:
    story = Story(tmp_path, bench, line, GO)

    assert [(case.id, case.outcome) for case in story.before.cases] == [(".::TestDouble", "failed")]
    done = story.with_files({"product.go": "package product\n\nfunc Double(n int) int { return n * 2 }\n"})
    assert (done.outcome, done.decisive) == ("passed", True)


@needs("go")
def test_go_test_of_nothing_is_red(tmp_path: Path, bench: Bench) -> None:
    story = Story(tmp_path, bench, "go test -run NoSuchTest ./...", GO)
    result = story.with_files({})
    assert (story.before.outcome, result.outcome, "selects no test" in result.summary) == ("failed", "failed", True)


def test_a_line_without_tests_is_told_as_exit_code_alone_and_opens_what_it_reads(tmp_path: Path, bench: Bench) -> None:
    files = {"a.txt": "hello\n", "b.txt": "hello\n"}
    story = Story(tmp_path, bench, "grep -q hello a.txt", files)

    assert (story.before.outcome, story.before.opened, story.before.opens_known) == ("passed", ("a.txt",), True)
    result = story.with_files({"b.txt": "else\n"})
    assert (result.outcome, result.decisive, result.before) == ("passed", False, "passed")
    assert "exit code alone" in result.summary


def test_a_test_that_fails_as_before_is_asked_about_where_others_turned_green(tmp_path: Path, bench: Bench) -> None:
    more = TEST + "\ndef test_other():\n    assert double('a') == 'b'\n"
    story = Story(tmp_path, bench, "pytest tests", {**PYTHON, "tests/test_product.py": more})

    assert story.with_files({}).outcome == "failed"
    held = story.with_files({"product.py": "def double(n):\n    return n * 2 if n != 'a' else n\n"})
    assert (held.outcome, [question.kind for question in held.questions]) == ("held", ["not shown"])
    assert "tests/test_product.py::test_other" in held.questions[0].text


def test_a_base_that_cannot_be_collected_leaves_the_line_unverified(tmp_path: Path, bench: Bench) -> None:
    story = Story(tmp_path, bench, "pytest tests", {**PYTHON, "tests/conftest.py": "import no_such_module\n"})

    assert "no_such_module" in story.before.problem
    result = story.with_files({"product.py": RIGHT})
    assert (result.outcome, result.needed) == ("absent", True)
    assert "no_such_module" in result.summary


def test_one_run_of_the_suite_serves_a_line_that_is_the_suite(tmp_path: Path, bench: Bench) -> None:
    class Counting:
        runs = 0

        def run(self, *words: object) -> object:
            self.runs += 1
            return bench.terminal.run(*words)  # type: ignore[arg-type]

    counting = Counting()
    ours = replace(bench, terminal=counting)  # type: ignore[arg-type]
    workspace = workspace_in(tmp_path, PYTHON)
    tests = run_tests(ours, workspace)
    runs = counting.runs

    before = look("pytest -q", workspace, ours, SuiteAtBase(cases=tests.cases, opened=("product.py",)))
    result = VerifyCheck(command_line="pytest -q", bench=ours, before=before).run_after(workspace, (tests,))

    assert counting.runs == runs
    assert (before.outcome, before.opened, result.outcome) == ("failed", ("product.py",), "failed")
    assert [case.id for case in result.cases] == [case.id for case in tests.cases]


def test_tests_that_only_pass_as_the_line_runs_them_are_left_to_it(tmp_path: Path, bench: Bench) -> None:
    files = {
        "Makefile": "check:\n\tpython -P run.py\n",
        "run.py": "import os, sys, pytest\nopen('ready', 'w').close()\ncode = pytest.main(['tests'])\n"
        "os.unlink('ready')\nsys.exit(code)\n",
        "tests/test_a.py": "import os\n\ndef test_a():\n    assert os.path.exists('ready')\n\n"
        "def test_b():\n    pass\n",
    }
    story = Story(tmp_path, bench, "make check", files)

    assert (story.before.outcome, story.before.excused) == ("passed", ("tests/test_a.py::test_a",))
    assert story.with_files({}).outcome == "passed"
    assert story.with_files({"tests/test_a.py": files["tests/test_a.py"] + "    assert 0\n"}).outcome == "failed"


def test_recording_leaves_what_a_line_does_as_it_is(tmp_path: Path, bench: Bench) -> None:
    """Its own sitecustomize, its search paths, its programs and its exit code."""
    files = {
        "own/sitecustomize.py": "import os\nos.environ['OWN'] = 'yes'\n",
        "show.py": "import os, sys\nassert os.environ['OWN'] == 'yes'\n"
        "assert sys.path[1].endswith('own'), sys.path\nsys.exit(7)\n",
    }
    workspace = workspace_in(tmp_path, files)
    line = "which no-such-cargo || PYTHONPATH=own python show.py"
    assert look(line, workspace, bench).summary.startswith("exit 7")


def selections(before: LineAtBase) -> list[Selection]:
    return list(before.selections)


def test_every_run_of_a_line_is_a_selection_and_what_tests_start_is_none(tmp_path: Path, bench: Bench) -> None:
    starts_another = (
        "import subprocess, sys\n\ndef test_a():\n    subprocess.run([sys.executable, '-m', 'pytest', '--co'])\n"
    )
    files = {
        "Makefile": "check:\n\tMODE=slow python -m pytest $(CURDIR)/tests\n\tpython twice.py\n",
        "tests/test_a.py": starts_another,
        "more/test_b.py": "import os\n\ndef test_b():\n    assert True\n",
        "twice.py": "import pytest, sys\nsys.exit(pytest.main(['more']) or pytest.main(['more', '-k', 'b']))\n",
    }
    before = look("make check", workspace_in(tmp_path, files), bench)

    assert selections(before) == [
        Selection(runner="pytest", words=("{checkout}/tests",), env=(("MODE", "slow"),)),
        Selection(runner="pytest", words=("more",)),
        Selection(runner="pytest", words=("more", "-k", "b")),
    ]
    assert [case.id for case in before.cases] == ["tests/test_a.py::test_a", "more/test_b.py::test_b"]
