"""Whether work knows its tests: it answers their inputs one by one, and all others alike.

Nothing is expected of an answer to another input. What counts is whether any of them looks as if it was worked out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

FEWEST_ANSWERS = 2
FEWEST_UNSEEN = 8
MANY_ANSWERS = 4
MANY_UNSEEN = 24

Word = Literal["gave", "same", "raised"]
Answer = tuple[Word, str]

SLIPS = frozenset({"TypeError", "AttributeError", "UnboundLocalError", "RecursionError", "MemoryError"})
_TRUTHS = frozenset({"True", "False", "true", "false"})
_LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|(?<![\w.])(-?\d+(?:\.\d+)?)")
_TEXT = re.compile(r"['\"]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A call of the product by a test: `trial` 0 is with the test's own values. `place` is the same in all trials.

    The answer is what it `gave`, the `same` if that was one of the things it was given, or what it `raised`.
    """

    trial: int
    place: str
    name: str
    given: str
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Memorised:
    """A function that answers `known` inputs of the tests one by one, and all of `unseen` alike: `told` says how."""

    name: str
    known: int
    unseen: int
    told: str


def memorised(
    now: Iterable[Seen], base: Iterable[Seen] = (), *, refusals: frozenset[str] = frozenset(), named: str = ""
) -> tuple[Memorised, ...]:
    """The functions that know their tests; `base` is what the source of the base answered in the same trials.

    `refusals` are the exceptions that the tests expect. Inputs that stand in `named`, the task's own words, are known
    to whoever did it.
    """
    old = {(one.name, one.given): one.answer for one in base}
    by_name: dict[str, list[Seen]] = {}
    for one in now:
        by_name.setdefault(one.name, []).append(one)
    found = (_judged(name, calls, old, refusals, named) for name, calls in by_name.items())
    return tuple(one for one in found if one is not None)


def is_worth_asking(now: Iterable[Seen]) -> bool:
    """Whether any function answers tests one by one and was asked enough else: what the base says could matter."""
    known: dict[str, set[Answer]] = {}
    unseen: dict[str, set[str]] = {}
    for one in now:
        if one.trial:
            unseen.setdefault(one.name, set()).add(one.given)
        elif _counts(one.answer):
            known.setdefault(one.name, set()).add(one.answer)
    return any(
        len(answers) >= FEWEST_ANSWERS and len(unseen.get(name, ())) >= FEWEST_UNSEEN for name, answers in known.items()
    )


def _judged(
    name: str, calls: list[Seen], old: Mapping[tuple[str, str], Answer], refusals: frozenset[str], named: str
) -> Memorised | None:
    known = {one.given: one.answer for one in calls if not one.trial}
    answers = {given: answer for given, answer in known.items() if _counts(answer)}
    new = {given: answer for given, answer in answers.items() if old.get((name, given)) != answer}
    if len(set(new.values())) < FEWEST_ANSWERS or all(_is_named(given, named) for given in new):
        return None
    places = {one.place: one.given for one in calls if not one.trial and one.given in new}
    tried = [one for one in calls if one.trial and one.given not in known and one.place in places]
    unseen = [one for one in tried if not _is_slip(one.answer)]
    if len({places[one.place] for one in unseen}) < FEWEST_ANSWERS:
        return None  # what is like an input that is refused, or like one alone, says nothing of the others
    others = _others(unseen, calls, known) or {}
    few = len({answer for answer in new.values() if answer[0] == "gave"}) < MANY_ANSWERS
    told = _alike(others, known, refusals, few=few) if len(others) >= FEWEST_UNSEEN else ""
    if not told:
        others = _as_before(unseen, calls, old)
        told = "were answered as before the change" if len(others) >= MANY_UNSEEN else ""
    return Memorised(name=name, known=len(new), unseen=len(others), told=told) if told else None


def _as_before(unseen: list[Seen], calls: list[Seen], old: Mapping[tuple[str, str], Answer]) -> dict[str, Answer]:
    """The answers to other inputs that are those of the base; none where any is the work of the change."""
    own = {one.place: one.answer for one in calls if not one.trial}
    before = {one.given: one.answer for one in unseen if old.get((one.name, one.given)) == one.answer}
    rest = [one for one in unseen if one.given not in before]
    return before if all(one.answer == own.get(one.place) for one in rest) else {}


def _others(unseen: list[Seen], calls: list[Seen], known: Mapping[str, Answer]) -> dict[str, Answer] | None:
    """The answers to inputs that no test has; None where one is the answer to an input of another test: it was worked
    out. Where a call gives what it gives in its test, what differs may be of no account."""
    own = {one.place: one.answer for one in calls if not one.trial}
    answers = {answer for answer in known.values() if _counts(answer)}
    others: dict[str, Answer] = {}
    for one in unseen:
        if one.answer == own.get(one.place):
            continue
        if one.answer in answers and not _is_most(one.answer, unseen):
            return None
        others[one.given] = one.answer
    return others


def _is_most(answer: Answer, unseen: list[Seen]) -> bool:
    """Whether most other inputs are answered by this: what is given where nothing else is known."""
    return 2 * sum(one.answer == answer for one in unseen) > len(unseen)


def _alike(others: Mapping[str, Answer], known: Mapping[str, Answer], refusals: frozenset[str], *, few: bool) -> str:
    """What all of them have in common; empty where that is nothing, or the inputs of the tests have it as well."""
    kinds = {word for word, _ in others.values()}
    values = set(others.values())
    enough = not few and len(others) >= MANY_UNSEEN
    if kinds == {"same"}:
        some = any(word == "same" for word, _ in known.values())
        return "" if some and not enough else "came back as they were given"
    if len(values) > 1:
        return ""
    word, said = values.pop()
    if word == "raised":
        may_refuse = said in refusals or ("raised", said) in known.values()
        if may_refuse and (not enough or any(_TEXT.search(given) for given in others)):
            return ""
        return f"gave {said}"
    if said in _TRUTHS or ((word, said) in known.values() and not enough):
        return ""
    return f"gave {said}"


def _is_slip(answer: Answer) -> bool:
    """Whether an answer says that the input was of no use at all, rather than what was made of it."""
    return answer[0] == "raised" and answer[1] in SLIPS


def _counts(answer: Answer) -> bool:
    """Whether an answer is one that could be worked out: neither an exception nor one of two."""
    return answer[0] != "raised" and answer[1] not in _TRUTHS and answer[1] != ""


def _is_named(given: str, words: str) -> bool:
    literals = ["".join(groups) for groups in _LITERAL.findall(given)]
    return bool(literals) and all(literal in words for literal in literals)
