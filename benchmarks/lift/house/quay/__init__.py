"""The house library of a fictional harbour office. Its ways are its own: nothing in them can be guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


class QuayError(Exception):
    """Takes a code that begins with `Q-`, and what happened."""

    def __init__(self, code: str, detail: str) -> None:
        if not re.fullmatch(r"Q-[A-Z]+", code):
            raise TypeError("not a code of this house")
        super().__init__(f"{code} {detail}")
        self.code = code


@dataclass(frozen=True)
class Stamp:
    kind: str
    number: int


_stamped = iter(range(1, 1_000_000))


def stamp(kind: str, /) -> Stamp:
    """A new identity: the kind has three small letters."""
    if not re.fullmatch(r"[a-z]{3}", kind):
        raise QuayError("Q-STAMP", "no kind of this house")
    return Stamp(kind, next(_stamped))


class Coin:
    """Money in hundredths, made from text alone."""

    def __init__(self, hundredths: int, _made_by_us: object) -> None:
        self.hundredths = hundredths

    @classmethod
    def of(cls, text: str) -> Coin:
        whole, _, part = text.partition(".")
        return cls(int(whole) * 100 + int(part.ljust(2, "0") or 0), cls)

    def plus(self, other: Coin) -> Coin:
        return Coin(self.hundredths + other.hundredths, Coin)

    def times(self, number: int) -> Coin:
        return Coin(self.hundredths * number, Coin)


@dataclass(frozen=True)
class Held:
    cargo: Any


@dataclass(frozen=True)
class Refused:
    code: str


class _Berth:
    def __init__(self, kept: dict[str, tuple[Any, int]]) -> None:
        self._kept = kept

    def stow(self, name: str, cargo: Any, *, tides: int) -> None:
        self._kept[name] = (cargo, tides)

    def fetch(self, name: str, otherwise: Any) -> Any:
        return self._kept.get(name, (otherwise, 0))[0]


class _Vault:
    def __init__(self) -> None:
        self.kept: dict[str, tuple[Any, int]] = {}

    @contextmanager
    def berth(self) -> Iterator[_Berth]:
        yield _Berth(self.kept)


class _Beacon:
    def __init__(self) -> None:
        self.flashed: list[tuple[str, dict[str, Any]]] = []

    def flash(self, *, lane: str, load: dict[str, Any]) -> None:
        if not re.fullmatch(r"[a-z]+/[a-z]+", lane):
            raise QuayError("Q-LANE", "no lane of this house")
        self.flashed.append((lane, load))


class _Tides:
    def __init__(self) -> None:
        self.high = 7

    def mark(self, *, since: int) -> int:
        return self.high - since


vault, beacon, tides = _Vault(), _Beacon(), _Tides()
answering: dict[str, Callable[..., Any]] = {}


def on_call(*, berth: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what answers a call: `area.verb`."""
    if not re.fullmatch(r"[a-z]+\.[a-z]+", berth):
        raise QuayError("Q-CALL", "no berth of this house")

    def register(answer: Callable[..., Any]) -> Callable[..., Any]:
        answering[berth] = answer
        return answer

    return register
