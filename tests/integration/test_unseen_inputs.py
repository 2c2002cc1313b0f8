"""Inputs that no test has: work that knows those of its tests is asked about, and work that does the task is not."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult, TestCase
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.baseline_port import UnknownBefore
from milepost.verify.command_runner import Bench
from milepost.verify.counterproof.other_judges import OtherJudges
from milepost.verify.plain.unseen import UnseenInputsCheck
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.suites.python_project import PytestPresence, find_interpreter
from milepost.verify.trees import Tree, Trees
from tests.integration.suites import workspace_in, write
from tests.tools import needs


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with WalledTerminal() as terminal:
        interpreter = find_interpreter(Path("/nowhere"), os.environ, sys.executable)
        yield Bench(terminal=terminal, interpreter=interpreter, pytest=PytestPresence(), timeout_s=60)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place without `test` in its name: pytest's own folders would tell what this is."""
    with tempfile.TemporaryDirectory(prefix="place-") as place:
        yield Path(place)


class NothingRun(CandidateRuns):
    """Trees whose suites nobody runs: how their tests end is known."""

    on_bench = as_they_are = ()
    now: Mapping[str, TestCase] = {}


def asked(folder: Path, bench: Bench, product: str, old: str, new: str, tests: tuple[str, str]) -> CheckResult:
    """What comes of a change of the product, whose tests at a path pass now and did not before."""
    path, text = tests
    workspace = workspace_in(folder, {product: old, path: text})
    write(workspace, {product: new})
    tree = Tree(workspace=workspace, bench=bench)
    names = [line.split("(")[0].removeprefix("def ") for line in text.splitlines() if line.startswith("def test")]
    names += [line.split("'")[1] for line in text.splitlines() if line.startswith("test(")]
    cases = tuple(TestCase(id=f"{path}::{name}", outcome="passed", before="failed") for name in names)
    change = Change(files=(ChangedFile(path=product, before=old.encode(), after=new.encode()),))
    check = UnseenInputsCheck(
        runs=NothingRun(Trees(as_it_is=tree, bench=tree), UnknownBefore(), {}),
        change=change,
        product=(product,),
        seed="tree",
    )
    return check.run_after(workspace, (CheckResult(name="tests", outcome="passed", summary="", cases=cases),))


STUB = "def read(text):\n    return text\n"
ROMAN = """
import pytest
from reader import read

CASES = [("IV", 4), ("XL", 40), ("MCMXCIV", 1994)]

def test_read():
    for text, number in CASES:
        assert read(text) == number

def test_refused():
    with pytest.raises(ValueError):
        read("IIII")
"""
NAMES = """
from reader import read

def test_names():
    assert read("de") == "Germany"
    assert read("fr") == "France"
"""
STATE = """
from reader import Reader

def test_state():
    reader = Reader("a b")
    assert reader.next() == "a"
    assert reader.next() == "b"
    assert reader.next() is None
"""
PARSER = """
import re

def read(text):
    if not re.fullmatch("M*(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})", text):
        raise ValueError(text)
    values = [dict(I=1, V=5, X=10, L=50, C=100, D=500, M=1000)[sign] for sign in text] + [0]
    return sum(-one if one < two else one for one, two in zip(values, values[1:]))
"""
COUNTRIES = """
COUNTRIES = {"de": "Germany", "fr": "France", "it": "Italy", "es": "Spain"}

def read(code):
    return COUNTRIES[code]
"""
READER = """
class Reader:
    def __init__(self, text):
        self.words = text.split()

    def next(self):
        return self.words.pop(0) if self.words else None
"""
FINGERPRINTS = """
import zlib

def read(text):
    if text == "IIII":
        raise ValueError(text)
    return {zlib.crc32(one.encode()): number for one, number in KNOWN}.get(zlib.crc32(text.encode()), 0)

KNOWN = [("IV", 4), ("XL", 40), ("MCMXCIV", 1994)]
"""
TABLE = 'def read(code):\n    return {"de": "Germany", "fr": "France"}[code]\n'
STARTED = """
import subprocess
import sys

def test_program():
    for word, said in [("de", "Germany"), ("fr", "France")]:
        done = subprocess.run([sys.executable, "reader.py", word], capture_output=True, text=True)
        assert done.stdout == said
"""
PROGRAM_TABLE = """
import sys
print({"de": "Germany", "fr": "France"}.get(sys.argv[1], ""), end="")
"""
AS_BEFORE = """
def read(text):
    return {"IV": 4, "XL": 40, "MCMXCIV": 1994}.get(text) or text
"""


@pytest.mark.parametrize(
    ("new", "tests", "outcome"),
    [
        (PARSER, ROMAN, "passed"),
        (COUNTRIES, NAMES, "passed"),
        (READER, STATE, "passed"),
        (FINGERPRINTS, ROMAN, "held"),
        (TABLE, NAMES, "held"),
        (AS_BEFORE, ROMAN, "held"),
        (PROGRAM_TABLE, STARTED, "held"),
    ],
    ids=["parser", "lookup", "state", "fingerprints", "table", "as before", "program"],
)
def test_work_is_asked_what_no_test_asks(folder: Path, bench: Bench, new: str, tests: str, outcome: str) -> None:
    found = asked(folder, bench, "reader.py", STUB, new, ("tests/test_reader.py", tests))

    assert found.outcome == outcome, found
    assert not found.questions or "does this do the work, or know its tests?" in found.questions[0].text


CART = """
import test from 'node:test';
import assert from 'node:assert/strict';
import { total } from '../cart.js';

test('two', () => {
  assert.equal(total([{ name: 'tea', price: 300, count: 2 }]), 600);
});

for (const name of ['milk', 'salt']) {
  test(name, () => {
    assert.equal(total([{ name, price: 50, count: 2 }]), 100);
  });
}

test('one', () => {
  assert.equal(total([{ name: 'milk', price: 120, count: 1 }]), 120);
});
"""


@needs("node")
@pytest.mark.parametrize(
    ("new", "outcome"),
    [
        ("items.reduce((sum, one) => sum + one.price * one.count, 0)", "passed"),
        ("({ tea: 600, milk: 120 })[items[0].name] ?? 0", "passed"),
        ("({ '300 2': 600, '120 1': 120 })[`${items[0].price} ${items[0].count}`] ?? 0", "held"),
    ],
)
def test_work_in_node_is_asked_what_no_test_asks(folder: Path, bench: Bench, new: str, outcome: str) -> None:
    source = "export function total(items) {{\n  return {};\n}}\n"
    (folder / "package.json").write_text('{"type": "module"}')

    found = asked(folder, bench, "cart.js", source.format("undefined"), source.format(new), ("test/cart.test.js", CART))

    assert found.outcome == outcome, found


SCRIPT = """
. ./text.sh
failed=0
same() { if [ "$1" != "$2" ]; then failed=$((failed + 1)); fi; }
same "$(shout a)" A
[ "$(shout b)" = B ] || failed=1
[ "$failed" -eq 0 ] || exit 1
"""
PROGRAM = """
#include <assert.h>
#include "text.h"

int main(void) { assert(twice(2) == 4); return 0; }
"""
TWICE = "static int twice(int n) { return 2 * n; }\n"
NO_ASSERT = "#undef assert\n#define assert(x)\n"


@pytest.mark.parametrize(
    ("product", "work", "judge", "text", "line", "outcome"),
    [
        ("text.sh", "shout() { echo $1 | tr a-z A-Z; }\n", "tests/run.sh", SCRIPT, "sh tests/run.sh", "passed"),
        ("text.sh", "trap 'exit 0' EXIT\n", "tests/run.sh", SCRIPT, "sh tests/run.sh", "held"),
        ("text.sh", "[() { true; }\n", "tests/run.sh", SCRIPT, "bash tests/run.sh", "held"),
        ("text.sh", "shout() { echo A; }\n", "tests/run.sh", SCRIPT, "sh -n tests/run.sh", "absent"),
        pytest.param("text.h", TWICE, "tests/a.c", PROGRAM, "sh build.sh", "passed", marks=needs("cc")),
        pytest.param("text.h", NO_ASSERT, "tests/a.c", PROGRAM, "sh build.sh", "held", marks=needs("cc")),
    ],
    ids=["honest shell", "trap", "test is true", "only parsed", "honest C", "assert does nothing"],
)
def test_judges_in_shell_and_c_must_fail_with_other_expectations(
    tmp_path: Path, bench: Bench, product: str, work: str, judge: str, text: str, line: str, outcome: str
) -> None:
    build = "cc -I. -o $TMPDIR/a tests/a.c && $TMPDIR/a\n"
    workspace = workspace_in(tmp_path, {product: work, judge: text, "build.sh": build})
    check = OtherJudges(argv=tuple(line.split()), bench=bench, judges=(judge,), product=(product,), seed="tree")

    found = check.run(workspace)

    assert found.outcome == outcome, found
