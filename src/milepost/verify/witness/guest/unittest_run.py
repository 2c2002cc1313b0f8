"""unittest without pytest: the tests of some files, each said as it ends."""
# ruff: noqa: B905, N802 -- `strict` came with Python 3.10; unittest named the methods

from __future__ import annotations

import importlib
import sys
import time
import traceback
import unittest
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

VERSION = "unittest"
MAIN = "unittest.__main__"
NOTHING_RAN = 5
LONGEST_TEXT = 20_000


def run(words: list[str], only: frozenset[str], say: Any, planting: Any, _digest: Any) -> int:
    """Run the tests of the files in `words`; 0 passed, 1 failed, 5 when there were none."""
    witness = Witness(say)
    suites = [suite for file in words if (suite := witness.collect(file, only)) is not None]
    cases = [case for suite in suites for case in cases_of(suite)]
    if cases:
        _plant(suites, cases, witness, planting)
    for suite in suites:
        suite.run(witness)
    print(f"Ran {witness.ran} tests, {witness.failed} failed", file=sys.stderr)  # noqa: T201 -- a program of its own
    if not cases and not witness.failed and not witness.ran:
        return NOTHING_RAN
    return 1 if witness.failed else 0


def cases_of(suite: Any) -> Iterator[unittest.TestCase]:
    for part in suite:
        if isinstance(part, unittest.TestCase):
            yield part
        elif isinstance(part, unittest.TestSuite):
            yield from cases_of(part)


class Witness(unittest.TestResult):
    """Says each test's end; `files` is where each class was found, and `planted` is nobody's business but ours."""

    def __init__(self, say: Any) -> None:
        super().__init__()
        self.say = say
        self.files: dict[str, str] = {}
        self.homes: dict[int, str] = {}
        self.planted: set[str] = set()
        self.unfinished: dict[str, None] = {}
        self.finished: list[str] = []
        self.passing: dict[str, str] = {}
        self.ran = self.failed = 0
        self.started = time.monotonic()

    def collect(self, file: str, only: frozenset[str]) -> Any:
        """The tests of one file, None when there are none or it cannot be imported."""
        try:
            module = import_file(file)
            suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        except unittest.SkipTest as skipped:
            self.say("collect", file, "skipped", text_of(skipped), "")
            return None
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            traceback.print_exc()
            self.failed += 1
            self.say("collect", file, "failed", described(problem), story(problem))
            return None
        self.files[module.__name__] = file
        for case in cases_of(suite):
            self.files[key_of(case)] = self.homes[id(case)] = file
        if only and file not in only:
            _keep(suite, lambda case: any(f"{self.id_of(case)}::".startswith(f"{each}::") for each in only))
        for case in cases_of(suite):
            self.unfinished[self.id_of(case)] = None
            self.say("items", self.id_of(case))
        return suite

    def id_of(self, case: unittest.TestCase) -> str:
        """Cases of one class may be of several files, and doctests of one file have one method: these have an id."""
        method = getattr(case, "_testMethodName", str(case))
        if method == "runTest" and type(case).__module__ in ("doctest", "unittest.case"):
            method = case.id()
        classes = type(case).__qualname__.replace(".", "::")
        return f"{self.homes.get(id(case)) or self.files.get(key_of(case), '?')}::{classes}::{method}"

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.started = time.monotonic()

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.say("over", self.id_of(test), self.passing.pop(self.id_of(test), ""))
        self.finish(self.id_of(test))

    def finish(self, id_: str) -> None:
        self.unfinished.pop(id_, None)
        self.finished.append(id_)
        self.ran += id_ not in self.planted

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.passing[self.id_of(test)] = self.milliseconds()

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        for id_ in self.touched_by(test):
            self.report(id_, "skipped", str(reason), "")

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        self.report(self.id_of(test), "skipped", "expected failure", "")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self.report(self.id_of(test), "failed", "passed, but was expected to fail", "")

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        self.add_problem(test, err)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        self.add_problem(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        if err is not None:
            self.add_problem(test, err)

    def add_problem(self, test: Any, err: Any) -> None:
        ids = self.touched_by(test)
        if not self.planted.issuperset(ids):
            traceback.print_exception(*err)
        for id_ in ids:
            self.say("raised", id_, "call", " ".join(base.__name__ for base in type.mro(err[0])), text_of(err[1]))
            self.report(id_, "failed", described(err[1]), story(err[1]))

    def touched_by(self, test: Any) -> list[str]:
        """The tests that a problem is about: a whole class or module when what it shares failed.

        unittest then reports a stand-in that is no test, by a name such as `setUpClass (test_x.TestA)`.
        """
        if isinstance(test, unittest.TestCase):
            return [self.id_of(test)]
        what, _, where = str(test).partition(" (")
        where = where.rstrip(")")
        module = next((name for name in sorted(self.files, key=len, reverse=True) if where.startswith(name)), "")
        classes = where[len(module) + 1 :].replace(".", "::")
        prefix = "::".join(part for part in (self.files.get(module, where), classes) if part) + "::"
        if what.startswith("setUp"):
            ids = [id_ for id_ in self.unfinished if id_.startswith(prefix)]
            for id_ in ids:
                self.say("over", id_, "")
                self.finish(id_)
            return ids
        return [id_ for id_ in self.finished if id_.startswith(prefix)][-1:]

    def report(self, id_: str, outcome: str, message: str, long: str) -> None:
        """A test may be reported twice (a failed subtest, a failed clean-up): the reader takes the worst."""
        self.failed += outcome == "failed" and id_ not in self.planted
        self.say("report", id_, "call", outcome, self.milliseconds(), message, long)

    def milliseconds(self) -> str:
        return str(int((time.monotonic() - self.started) * 1000))


def import_file(file: str) -> ModuleType:
    """The module of a file, named from the nearest folder that is not a package."""
    path = Path(file).resolve()
    folder, parts = path.parent, [path.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    module = importlib.import_module(".".join(parts))
    if module.__file__ is None or Path(module.__file__).resolve() != path:
        raise ImportError(f"{module.__name__} is {module.__file__}: two test files share the name")
    return module


def _plant(suites: list[Any], cases: list[unittest.TestCase], witness: Witness, planting: Any) -> None:
    names = [getattr(case, "_testMethodName", "test") for case in cases]
    for kind, token in zip(("plain method", "method"), planting.tokens):
        neighbour = planting.choose(cases)
        name = planting.name(names)
        group = "".join(word.title() for word in planting.name(names).split("_"))
        module = type(neighbour).__module__
        file = witness.files[key_of(neighbour)]
        found = planting.define(planting.tree(kind, name, token, group), file, module)
        case = found(name)
        witness.files[key_of(case)] = file
        witness.planted.add(witness.id_of(case))
        witness.say("planted", witness.id_of(case), token)
        _put_beside(suites, neighbour, case, planting)


def _put_beside(suites: list[Any], neighbour: unittest.TestCase, case: unittest.TestCase, planting: Any) -> None:
    """Before or after the file of the neighbour: in between, what a class shares would be made twice."""
    at = next(at for at, suite in enumerate(suites) if neighbour in list(cases_of(suite)))
    around = [unittest.TestSuite([case]), suites[at]]
    suites[at] = unittest.TestSuite(planting.choose([around, around[::-1]]))


def _keep(suite: Any, wanted: Any) -> None:
    kept = []
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            _keep(part, wanted)
            kept.append(part)
        elif wanted(part):
            kept.append(part)
    suite._tests = kept


def key_of(case: unittest.TestCase) -> str:
    return f"{type(case).__module__}.{type(case).__qualname__}"


def described(problem: BaseException) -> str:
    text = text_of(problem)
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def text_of(problem: BaseException) -> str:
    try:
        return str(problem)[:LONGEST_TEXT]
    except BaseException as worse:
        return f"(it cannot be told: {type(worse).__name__})"


def story(problem: BaseException) -> str:
    try:
        lines = traceback.format_exception(type(problem), problem, problem.__traceback__)
    except BaseException as worse:
        return f"(it cannot be told: {type(worse).__name__})"
    return "".join(lines)[-LONGEST_TEXT:]
