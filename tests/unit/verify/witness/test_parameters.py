from __future__ import annotations

import decimal
import enum
import re
from collections import namedtuple
from dataclasses import dataclass, make_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from milepost.verify.witness.guest.parameters import DEEPEST, digest

FOLDER = "/somewhere/checkout"
Pair = namedtuple("Pair", "left right")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Case:
    text: str
    expected: Any


class Liar:
    """Looks like every other, and equals all."""

    def __repr__(self) -> str:
        return "5"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(5)


class LyingKind(type):
    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(int)


class LiarByKind(metaclass=LyingKind):
    pass


@dataclass
class LyingCase(Case):
    def __repr__(self) -> str:
        return "Case(text='a', expected=1)"


class Text(str):
    __slots__ = ()


def told(*values: Any, folder: str = FOLDER) -> str:
    return digest("t.py::test", {f"a{at}": value for at, value in enumerate(values)}, folder)


APART: tuple[Any, ...] = (
    *(None, 0, 1, -1, False, True, 1.0, 0.0, -0.0, 1j, "1", b"1", "", 10**5000, ..., bytearray(b"1"), range(3)),
    *([], (), {}, set(), frozenset(), [1], (1,), {1}, {1: 2}, {"a": [1, 2]}, {"a": [2, 1]}, [[1], 2], [[1, 2]]),
    *(["a", "b"], ["ab"], ["a, b"], ["a', 'b"], "\ud800", re.compile("a"), re.compile("a", re.IGNORECASE)),
    *(datetime(2024, 1, 2), datetime(2024, 1, 2, tzinfo=UTC), decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    *(Path("a"), Path("/a"), "a", "/a", Colour.RED, Colour.BLUE, Colour, Pair(1, 2), (1, 2), Pair(2, 1)),
    *(ValueError, KeyError, len, told, Case("a", 1), Case("a", 2), Case("a", {"x": [1]}), LyingCase("a", 1)),
)


def test_different_values_are_told_apart_and_equal_ones_are_the_same() -> None:
    digests = [told(value) for value in APART]

    assert all(digests)
    assert len(set(digests)) == len(APART)
    assert told({"a": [1, {2, 3}]}, Case("a", 1)) == told({"a": [1, {3, 2}]}, Case("a", 1))
    assert told(1, 2) != told(2, 1)
    assert digest("t.py::one", {"a": 1}, FOLDER) != digest("t.py::other", {"a": 1}, FOLDER)


@pytest.mark.parametrize(
    "value",
    [
        *(object(), Liar(), LiarByKind(), Text("a"), [1, Liar()], {"a": Liar()}, Case("a", Liar()), lambda: 1),
        make_dataclass("Case", ["text", "expected"])("a", 1),
        make_dataclass("Listed", [], bases=(list,))(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_known_through_and_through_is_not_told(value: Any) -> None:
    assert told(value) == ""


def test_what_has_no_end_is_not_told() -> None:
    endless: list[Any] = []
    endless.append(endless)
    deep: list[Any] = []
    for _ in range(DEEPEST + 1):
        deep = [deep]

    assert told(endless) == told(deep) == told(list(range(200_000))) == ""


def test_a_place_in_the_checkout_is_the_same_wherever_that_is() -> None:
    here, there = told(Path(FOLDER) / "a.json"), told(Path("/elsewhere/a.json"), folder="/elsewhere")

    assert here == there != ""
    assert here != told(Path("a.json"))
    assert here != told(Path(f"{FOLDER}-2/a.json"))
