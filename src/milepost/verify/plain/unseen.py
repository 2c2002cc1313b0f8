"""The check that asks the work what the deciding tests ask it, with inputs like theirs that nobody showed it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckResult, Question
from milepost.sources.javascript_tree import parsed, string, text_of, walk
from milepost.sources.python_tree import parsed as parsed_python
from milepost.verify.judging.paths import JAVASCRIPT, PYTHON, is_test_path, suffix
from milepost.verify.plain.memorised import Memorised, is_worth_asking, memorised
from milepost.verify.plain.old_source import old_files
from milepost.verify.plain.outcome import Unit
from milepost.verify.plain.programs import programs
from milepost.verify.plain.run import Others, PlainProgram
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.walk_checkout import files_below
from milepost.verify.witness.swap import read_plainly, swapped

NAME = "counter-proof"
OTHERWISE = "with other inputs: "
ABOUT = "counter-proof: the deciding tests with other inputs"
MOST_WORDS = 400
MOST_SOURCES = 40
LONGEST_WORD = 60

_REFUSALS = re.compile(r"(?:\braises|\bassertRaises\w*)\(\s*\(?((?:[\w.]+(?:,\s*)?)+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenInputsCheck:
    """Asks whether the work does what is asked, or knows the inputs of the tests; `task` is what was asked, in words.

    The tests are those that decide. Each is done with its own values and with many others, in one process, and on the
    source of the base as well.
    """

    runs: CandidateRuns
    change: Change
    product: tuple[str, ...]
    seed: str
    own: tuple[str, ...] = ()
    task: str = ""

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        found: list[tuple[str, Memorised]] = []
        asked = 0
        for program, units in programs(self.runs, earlier, self.own, ABOUT):
            unseen, known = self._ask(program, units)
            asked += unseen
            found += [(program.path, one) for one in known]
        return judged(found, asked)

    def _ask(self, program: PlainProgram, units: tuple[Unit, ...]) -> tuple[int, tuple[Memorised, ...]]:
        """How many inputs were tried that the tests of a file do not have, and what knows those that they have."""
        places = tuple(unit.place for unit in units if unit.decides)
        checkout = program.tree.workspace.folder
        others = Others(seed=self.seed, words=tuple(words_of(checkout, program.path, self.product))[:MOST_WORDS])
        observed = program.observe(places, others)
        now = observed.seen
        if not is_worth_asking(now):
            return 0, ()
        with swapped(checkout, old_files(self.change, self.product)):
            base = program.observe(places, replace(others, leaves=observed.leaves)).seen
        source = (read_plainly(checkout, program.path) or b"").decode("utf-8", "replace")
        known = {one.given for one in now if not one.trial}
        unseen = {(one.name, one.given) for one in now if one.given not in known}
        return len(unseen), memorised(now, base, refusals=refusals_in(source), named=self.task)


def words_of(checkout: Path, path: str, product: tuple[str, ...]) -> Iterator[str | int]:
    """What stands in the source of a product that a test file at `path` is about: a table that has more than the tests
    have is none of theirs."""
    alike = PYTHON if suffix(path) in PYTHON else JAVASCRIPT
    below = (found.relative_to(checkout).as_posix() for found in files_below(checkout))
    sources = [found for found in below if suffix(found) in alike and not is_test_path(found)]
    seen: set[str | int] = set()
    for source in dict.fromkeys((*product, *sources[:MOST_SOURCES])):
        for word in words_in(source, (read_plainly(checkout, source) or b"").decode("utf-8", "replace")):
            if word not in seen and not (isinstance(word, str) and not 0 < len(word) <= LONGEST_WORD):
                seen.add(word)
                yield word


def words_in(path: str, source: str) -> Iterator[str | int]:
    """The literals of a source file, and the names that its classes define."""
    if suffix(path) in PYTHON:
        tree = parsed_python(source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Constant) and type(node.value) in (str, int):
                yield node.value  # type: ignore[misc]
            elif isinstance(node, ast.ClassDef):
                names = (each for part in node.body for each in ast.walk(part) if isinstance(each, ast.Name))
                yield from (name.id for name in names if isinstance(name.ctx, ast.Store))
            elif isinstance(node, ast.FunctionDef):
                yield node.name
    elif suffix(path) in JAVASCRIPT:
        for each in walk(parsed(path, source)):
            if each.type == "string":
                yield string(each)
            elif each.type == "number" and text_of(each).isdecimal():
                yield int(text_of(each))
            elif each.type == "property_identifier":
                yield text_of(each)


def refusals_in(source: str) -> frozenset[str]:
    """The exceptions that tests expect somewhere, with those that are a kind of them."""
    named = {name.rpartition(".")[2] for words in _REFUSALS.findall(source) for name in re.findall(r"[\w.]+", words)}
    known = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)}
    parents = tuple(known[name] for name in named if name in known)
    return frozenset(named | {name for name, kind in known.items() if parents and issubclass(kind, parents)})


def judged(found: list[tuple[str, Memorised]], asked: int) -> CheckResult:
    """Held where a function knows the tests: only a person can say whether it is to know more."""
    if not found:
        said = f"{asked} inputs that no test has were answered" if asked else "there is nothing to try them on"
        return CheckResult(name=NAME, outcome="passed" if asked else "absent", summary=f"{OTHERWISE}{said}")
    texts = [
        (path, f"of {one.unseen} inputs like those of the tests, all {one.unseen} {one.told} by {one.name}")
        for path, one in found
    ]
    questions = tuple(
        Question(kind="counter-proof", text=f"{text}: does this do the work, or know its tests?", path=path)
        for path, text in texts
    )
    held = CheckResult(name=NAME, outcome="held", summary=f"{OTHERWISE}{texts[0][1]}")
    return replace(held, questions=questions)
