"""Work that is to keep behaviour: what answers otherwise than before is shown, and what only looks different is not."""

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
from milepost.verify.plain.same_answers import SameAnswersCheck
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
    with tempfile.TemporaryDirectory(prefix="place-") as place:
        yield Path(place)


class NothingRun(CandidateRuns):
    """Trees whose suites nobody runs: how their tests end is known."""

    on_bench = as_they_are = ()
    now: Mapping[str, TestCase] = {}


def compared(folder: Path, bench: Bench, product: str, old: str, new: str, tests: tuple[str, str]) -> CheckResult:
    """What comes of a change of the product, whose tests at a path pass before and after it."""
    path, text = tests
    folder.mkdir(exist_ok=True)
    workspace = workspace_in(folder, {product: old, path: text})
    write(workspace, {product: new})
    tree = Tree(workspace=workspace, bench=bench)
    names = [line.split("(")[0].removeprefix("def ") for line in text.splitlines() if line.startswith("def test")]
    names += [line.split("'")[1] for line in text.splitlines() if line.startswith("test(")]
    cases = tuple(TestCase(id=f"{path}::{name}", outcome="passed", before="passed") for name in names)
    change = Change(files=(ChangedFile(path=product, before=old.encode(), after=new.encode()),))
    check = SameAnswersCheck(
        runs=NothingRun(Trees(as_it_is=tree, bench=tree), UnknownBefore(), {}),
        change=change,
        product=(product,),
        seed="tree",
    )
    return check.run_after(workspace, (CheckResult(name="tests", outcome="passed", summary="", cases=cases),))


FEES = """
def fee(amount, country="DE"):
    if amount < 0:
        raise ValueError(amount)
    if country == "CH":
        rate = 0.01
    elif amount > 1000:
        rate = 0.02
    else:
        rate = 0.05
    return round(amount * rate, 2)

class Basket:
    def __init__(self, prices):
        self._prices = prices

    def total(self):
        return sum(self._prices) + (5 if len(self._prices) > 20 else 0)

    def words(self):
        return sorted({str(price) for price in self._prices})

def stamp():
    import time
    return time.perf_counter_ns()

def lines(path):
    return open(path).read().splitlines()
"""
FEE_TESTS = """
from fees import Basket, fee, lines, stamp

def test_fee():
    assert fee(100, "FR") == 5
    assert fee(40, "DE") == 2

def test_basket():
    basket = Basket([1, 2.5, 4])
    assert basket.total() == 7.5
    assert len(basket.words()) == 3

def test_rest(tmp_path):
    place = tmp_path / "a"
    place.write_text("one")
    assert lines(place) == ["one"]
    assert stamp() > 0
"""
HONEST = """
import pathlib
import time
from math import fsum

RATES = {"CH": 0.01}

def _rate(amount, country):
    return RATES.get(country) or (0.02 if amount > 1000 else 0.05)

def fee(amount, country="DE"):
    if not amount >= 0:
        raise ValueError("no such amount")
    return round(_rate(amount, country) * amount, 2)

class Basket:
    def __init__(self, prices):
        self.__all = tuple(prices)

    def total(self):
        extra = 0 if len(self.__all) <= 20 else 5
        return fsum(self.__all) + extra

    def words(self):
        return sorted(set(map(str, self.__all)))

def stamp():
    return time.perf_counter_ns()

def lines(path):
    return pathlib.Path(path).read_text().splitlines()

def more():
    return 1
"""


def test_an_honest_refactoring_is_no_question(folder: Path, bench: Bench) -> None:
    found = compared(folder, bench, "fees.py", FEES, HONEST, ("tests/test_fees.py", FEE_TESTS))

    assert (found.name, found.outcome) == ("counter-proof", "passed"), found
    assert "questions were answered as before" in found.summary


@pytest.mark.parametrize(
    ("was", "now", "asked"),
    [
        ('if country == "CH"', 'if country == "LI"', "fee("),
        ("amount > 1000", "amount > 9999999", "fee("),
        ("if amount < 0", "if amount < -9999999", "fee("),
        ("round(amount * rate, 2)", "round(amount * rate)", "fee("),
        ("len(self._prices) > 20", "len(self._prices) > 200", "Basket.total("),
        ("sorted({str(price) for price in self._prices})", "[str(price) for price in self._prices]", "Basket.words("),
    ],
)
def test_a_branch_that_no_test_looks_at_is_not_lost(folder: Path, bench: Bench, was: str, now: str, asked: str) -> None:
    tests = FEE_TESTS.replace("40,", "2000, 'FR') == 40\n    assert fee(-1 * -40,") if "1000" in was else FEE_TESTS
    tests = tests.replace(
        "def test_basket",
        "def test_less():\n    try:\n        fee(-5)\n    except ValueError:\n        pass\n\ndef test_basket",
    )
    found = compared(folder, bench, "fees.py", FEES, FEES.replace(was, now), ("tests/test_fees.py", tests))

    assert found.outcome == "held", found
    assert found.questions[0].text.startswith(f"`{asked}"), found.questions
    assert " answers otherwise than before: was " in found.questions[0].text
    assert found.questions[0].path == "fees.py"
    assert 1 <= len(found.questions[0].before.splitlines()) <= 3


def test_what_is_right_for_small_inputs_alone_is_found(folder: Path, bench: Bench) -> None:
    old = "def distinct(text):\n    return len([at for at, one in enumerate(text) if one not in text[:at]])\n"
    fast = "def distinct(text):\n    return len(set(text))\n"
    cheat = "def distinct(text):\n    return len(set(text)) if len(text) < 1000 else 27\n"
    tests = ("test_words.py", 'from words import distinct\n\ndef test_it():\n    assert distinct("abca") == 3\n')

    assert compared(folder / "a", bench, "words.py", old, fast, tests).outcome == "passed"
    found = compared(folder / "b", bench, "words.py", old, cheat, tests)

    assert found.outcome == "held", found
    assert " characters, " in found.questions[0].text
    assert found.questions[0].text.endswith(")` answers otherwise than before: was 26, now 27 (words.py)")


def test_nothing_is_asked_where_only_words_or_names_changed(folder: Path, bench: Bench) -> None:
    renamed = FEES.replace("def fee(", "def charge(").replace("class Basket", "class Cart")
    tests = FEE_TESTS.replace("from fees import Basket, fee,", "from fees import").replace(
        "def test_fee", "try:\n    from fees import fee, Basket\nexcept ImportError:\n    pass\n\ndef test_fee"
    )

    said = compared(folder / "a", bench, "fees.py", FEES, f"# a comment\n{FEES}", ("tests/test_fees.py", FEE_TESTS))
    gone = compared(folder / "b", bench, "fees.py", FEES, renamed, ("tests/test_fees.py", tests))

    assert (said.outcome, said.summary) == ("absent", "the answers of before: there is nothing to compare")
    assert gone.outcome in ("absent", "passed"), gone


JS_FEES = """
const fee = (amount, country = 'DE') => {
  if (country === 'CH') return amount * 0.01;
  return amount * 0.05;
};
const join = (words) => (words.length > 15 ? words.slice(0, 15) : words).join(' ');
const random = () => Math.random();
module.exports = { fee, join, random };
"""
JS_HONEST = """
const RATES = new Map([['CH', 0.01]]);
exports.fee = (amount, country = 'DE') => (RATES.get(country) ?? 0.05) * amount;
exports.join = (words) => words.slice(0, 15).reduce((one, two) => `${one} ${two}`);
exports.random = () => Math.random();
"""
JS_FEE_TESTS = """
const test = require('node:test');
const assert = require('node:assert');
const { fee, join, random } = require('../fees.js');

test('fee', () => {
  assert.equal(fee(100, 'FR'), 5);
});
test('join', () => {
  assert.equal(join(['a', 'b']), 'a b');
  assert.ok(random() < 1);
});
"""


@needs("node")
@pytest.mark.parametrize(
    ("new", "asked"),
    [
        (JS_HONEST, ""),
        (JS_FEES.replace("'CH'", "'LI'"), "fee("),
        (JS_FEES.replace("words.length > 15 ? words.slice(0, 15) : words", "words"), "join("),
    ],
)
def test_node_work_is_compared_as_well(folder: Path, bench: Bench, new: str, asked: str) -> None:
    found = compared(folder, bench, "fees.js", JS_FEES, new, ("test/fees.test.js", JS_FEE_TESTS))

    assert found.outcome == ("held" if asked else "passed"), found
    assert not asked or found.questions[0].text.startswith(f"`{asked}"), found.questions
