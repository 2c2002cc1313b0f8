"""The check that work which is to keep behaviour answers as the source of the base did, also where no test looks."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.change import Change
from milepost.core.verdict import CheckResult, Question
from milepost.verify.checks.does_anything import differs
from milepost.verify.judging.paths import JAVASCRIPT, PYTHON, suffix
from milepost.verify.plain.memorised import SLIPS, Answer, Seen
from milepost.verify.plain.old_source import old_files
from milepost.verify.plain.programs import programs_about
from milepost.verify.plain.run import Others, PlainProgram
from milepost.verify.plain.unseen import MOST_WORDS, words_in, words_of
from milepost.verify.suites.candidate_runs import CandidateRuns
from milepost.verify.witness.swap import swapped

NAME = "counter-proof"
AS_BEFORE = "the answers of before: "
ABOUT = "counter-proof: what the product answered before"
MOST_FUNCTIONS = 5
MOST_EXAMPLES = 3
LONGEST_S = 30  # after which no further file of tests is begun
LONGEST_SHOWN = 240

# What code of no particular care raises for what it was not made for: which of them it is, is no behaviour.
_ACCIDENTS = SLIPS | {"KeyError", "IndexError", "ZeroDivisionError", "StopIteration", "OverflowError", "RangeError"}
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")

Place = tuple[int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAnswersCheck:
    """Asks the functions that tests call the same as on the source of the base, with the inputs of the tests and with
    many others; where both sides answer steadily, their answers must be the same."""

    runs: CandidateRuns
    change: Change
    product: tuple[str, ...]
    seed: str

    def run_after(self, workspace: Workspace, earlier: tuple[CheckResult, ...]) -> CheckResult:
        product = tuple(path for path in self.product if self._may_answer_otherwise(path))
        found: dict[str, list[tuple[Seen, Answer]]] = {}
        asked, until = 0, time.monotonic() + LONGEST_S
        for program, places in programs_about(self.runs, earlier, product, ABOUT) if product else ():
            if asked and time.monotonic() > until:
                break
            count, different = self._compare(program, places)
            asked += count
            for now, old in different:
                found.setdefault(now.name, []).append((now, old))
        if not asked:
            return CheckResult(name=NAME, outcome="absent", summary=f"{AS_BEFORE}there is nothing to compare")
        if not found:
            said = f"{asked} questions were answered as before"
            return CheckResult(name=NAME, outcome="passed", summary=f"{AS_BEFORE}{said}")
        texts = {path: file.text_before for path in product if (file := self.change.file(path)) is not None}
        questions = tuple(_question(name, calls, _home_of(name, texts)) for name, calls in found.items())
        held = CheckResult(name=NAME, outcome="held", summary=questions[0].text)
        return replace(held, questions=questions[:MOST_FUNCTIONS])

    def _may_answer_otherwise(self, path: str) -> bool:
        file = self.change.file(path)
        return file is not None and suffix(path) in PYTHON | JAVASCRIPT and differs(file)

    def _compare(self, program: PlainProgram, places: tuple[str, ...]) -> tuple[int, list[tuple[Seen, Answer]]]:
        """How many questions both sides answered, and those that they answered differently, each with the old answer.

        Where there are any, both sides are asked once more: a function that differs from itself is not compared.
        """
        checkout = program.tree.workspace.folder
        before = old_files(self.change, self.product)
        old_words = (
            word for path, text in before.items() for word in words_in(path, (text or b"").decode("utf-8", "replace"))
        )
        words = dict.fromkeys((*old_words, *words_of(checkout, program.path, self.product)))
        others = Others(seed=self.seed, words=tuple(words)[:MOST_WORDS], compared=True)

        def on_base() -> dict[Place, Seen]:
            with swapped(checkout, before):
                return _by_place(program.observe(places, others).seen)

        first = program.observe(places, others)
        now = _by_place(first.seen)
        if not now:
            return 0, []
        others = replace(others, leaves=first.leaves)
        old = on_base()
        both = now.keys() & old.keys()
        if not any(is_other(old[key].answer, now[key].answer) for key in both):
            return len(both), []
        again, old_again = _by_place(program.observe(places, others).seen), on_base()
        unsteady = _unsteady(now, again) | _unsteady(old, old_again)
        different = [
            (replace(now[key], name=old[key].name or now[key].name), old[key].answer)
            for key in now
            if key in both & again.keys() & old_again.keys()
            and not {now[key].name, old[key].name} & unsteady
            and is_other(old[key].answer, now[key].answer)
        ]
        return len(both), different


def is_other(old: Answer, new: Answer) -> bool:
    """Whether an answer is another one: not by the last digits of a number, nor where the old one was an accident."""
    if not old[1] or not new[1] or (old[0] == "raised" and old[1] in _ACCIDENTS):
        return False
    if old[0] != new[0]:
        return True
    return old[1] != new[1] and not (old[0] == "gave" and _is_near(old[1], new[1]))


def _is_near(one: str, other: str) -> bool:
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12) for a, b in pairs)


def _by_place(seen: Iterable[Seen]) -> dict[Place, Seen]:
    """The answers by where the tests ask for them: a function may well have got another name inside."""
    return {(one.trial, one.place, one.given): one for one in seen}


def _unsteady(one: Mapping[Place, Seen], other: Mapping[Place, Seen]) -> set[str]:
    """The functions that differ from themselves."""
    return {one[key].name for key in one.keys() & other.keys() if one[key].answer != other[key].answer}


def _question(name: str, calls: list[tuple[Seen, Answer]], path: str) -> Question:
    """What a person is asked about a function; the shortest examples say most."""
    shortest = sorted(calls, key=lambda call: len(call[0].given) + len(call[1][1]) + len(call[0].answer[1]))
    examples = {now.given: (old, now.answer) for now, old in reversed(shortest)}
    chosen = [(_cut(one), *examples[one]) for one in dict.fromkeys(now.given for now, _ in shortest)][:MOST_EXAMPLES]
    given, old, new = chosen[0]
    where = f" ({path})" if path else ""
    return Question(
        kind="counter-proof",
        text=f"`{name}({given})` answers otherwise than before: was {_said(old)}, now {_said(new)}{where}",
        path=path,
        before="\n".join(f"{name}({given}) → {_said(old)}" for given, old, _ in chosen),
        after="\n".join(f"{name}({given}) → {_said(new)}" for given, _, new in chosen),
    )


def _said(answer: Answer) -> str:
    return _cut(answer[1]) if answer[0] == "gave" else f"{answer[1]} (raised)"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({len(text)} characters)"


def _home_of(name: str, texts: Mapping[str, str]) -> str:
    """The changed file that defines a function; the first of them where it comes from elsewhere."""
    word = re.compile(rf"\b(?:def|function|class|const|let|var)\s+{re.escape(name.partition('.')[0])}\b")
    return next((path for path, text in texts.items() if word.search(text)), next(iter(texts), ""))
