"""Which test of the base each test is: by what it is called with where it is parametrised, else by its id.

A runner numbers parameters that it has no name for. One more between the others, and the same number is another test.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from milepost.core.verdict import TestCase, TestOutcome

GONE = "{} with the parameters it had"

_DRAWN = re.compile(r"(?:0x)?[0-9a-f]{6,}|\d+", re.IGNORECASE)
# What is another value at each run: a time, a date, an address, a long number.
_OF_THE_RUN = re.compile(
    r"\d{1,2}:\d{2}(?::\d{2})?|\d{4}-\d{2}-\d{2}|\d{2}[-./]\d{2}[-./]\d{4}|0x[0-9a-f]+|(?=\w*\d)[0-9a-f]{8,}|\d{6,}|\d+\.\d{4,}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """`before` are the outcomes at the base under the ids of now.

    `names` are the base's own ids by those of now, empty for a new test; where it says nothing the id is the same.
    """

    before: Mapping[str, TestOutcome] | None
    names: Mapping[str, str] = field(default_factory=dict)

    def at_base(self, name: str) -> str:
        """What a test was called at the base."""
        return self.names.get(name, name)

    def asked(self, ask: Callable[[tuple[str, ...]], frozenset[str]], ids: tuple[str, ...]) -> frozenset[str]:
        """Those of these tests that the base names when it is asked about them by its own ids."""
        named = {self.at_base(name): name for name in ids}
        return frozenset(named[name] for name in ask(tuple(named)) if name in named)


def paired(
    cases: Iterable[TestCase], before: Mapping[str, TestOutcome] | None, parameters: Mapping[str, str]
) -> Pairing:
    """Find the tests of the base again among these, each at most once.

    Of tests with the same parameters the first is the first. Where parameters are on one side only, or cannot be told,
    there is the id to go by: they may be others each time. Ids that hold a number that is drawn are paired by their
    place; of those whose parameters are known, only the ones that hold a time, a date or an address. A test that is not
    found again is kept under a name that none has now.
    """
    now = {case.id: case.parameters for case in cases}
    if before is None:
        return Pairing(before=before)
    found = _alike(parameters, now)
    taken, here, there = set(found.values()), set(now.values()), set(parameters.values())
    for name in before:
        is_another = bool(parameters) and (now.get(name) in there or (parameters.get(name) in here))
        if name not in found and name in now and name not in taken and not is_another:
            found[name] = name
    taken = set(found.values())
    found |= _by_place(
        [name for name in before if name not in found and _is_drawn(name, parameters.get(name, ""))],
        [name for name, called_with in now.items() if name not in taken and _is_drawn(name, called_with)],
    )
    names = {new: old for old, new in found.items()}
    names |= dict.fromkeys(now.keys() - names.keys(), "")
    for name in before.keys() - found.keys():
        found[name] = GONE.format(name) if name in now else name
    return Pairing(before={found[name]: outcome for name, outcome in before.items()}, names=names)


def _is_drawn(name: str, parameters: str) -> bool:
    return not parameters or _OF_THE_RUN.search(name) is not None


def _by_place(old: list[str], new: list[str]) -> dict[str, str]:
    """The tests of the same name but for its numbers, where there are as many of them on both sides."""
    sides = []
    for names, others in ((old, set(new)), (new, set(old))):
        side = defaultdict(list)
        for name in names:
            if name not in others and (shape := _DRAWN.sub("#", name)) != name:
                side[shape].append(name)
        sides.append(side)
    pairs = {shape: (names, sides[1][shape]) for shape, names in sides[0].items() if shape in sides[1]}
    return {old: new for a, b in pairs.values() if len(a) == len(b) for old, new in zip(a, b, strict=True)}


def _alike(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """The new name of each old one that has the same parameters, in their order."""
    waiting = defaultdict(list)
    for name, told in new.items():
        waiting[told].append(name)
    return {name: waiting[told].pop(0) for name, told in old.items() if waiting[told]}
