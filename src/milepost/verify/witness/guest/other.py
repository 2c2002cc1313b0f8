"""Another value of the same type, which does not equal the first: what a test does not expect."""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import fractions
import pathlib
import random
import uuid
from typing import Any

UNKNOWN = "no other value is known"

_EXCEPTIONS = (BufferError, EOFError, UnicodeTranslateError, GeneratorExit)
_DEEPEST = 20


class NoOther(AssertionError):
    """A value of which nobody can say what another would be, such as one that equals all others."""


class Other:
    """Draws other values by a seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # noqa: S311 -- one of our own: the project's may be seeded by its tests

    def __call__(self, value: Any) -> Any:
        found = self._other(value, _DEEPEST)
        if _equal(found, value):
            raise NoOther(f"{UNKNOWN} for a {type(value).__name__}")
        return found

    def _other(self, value: Any, depth: int) -> Any:
        kind = type(value)
        way = _WAYS.get(kind)
        if way is not None:
            return way(self, value)
        if not depth:
            raise NoOther(UNKNOWN)
        if kind in (list, tuple):
            return kind(self._one_changed(list(value), depth))
        if kind is dict:
            keys = list(value)
            return dict(zip(keys, self._one_changed(list(value.values()), depth))) if keys else {"a": 2}  # noqa: B905
        if kind in (set, frozenset):
            return kind(self._one_changed(list(value), depth))
        if isinstance(value, type):
            return self._type(value)
        if isinstance(value, enum.Enum):
            return self._member(value)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return kind(*self._one_changed(list(value), depth))
        if isinstance(value, pathlib.PurePath):
            return kind(self._text(str(value)))
        if isinstance(value, (int, float, str, bytes)):
            return kind(_WAYS[_plain(kind)](self, _plain(kind)(value)))
        return self._object(value, depth)

    def _one_changed(self, values: list[Any], depth: int) -> list[Any]:
        """The same with one of them replaced; those that have no other are left as they are."""
        places = list(range(len(values)))
        self._random.shuffle(places)
        for at in places:
            try:
                new = self._other(values[at], depth - 1)
            except NoOther:
                continue
            if not _equal(new, values[at]):
                return [*values[:at], new, *values[at + 1 :]]
        return self._longer(values)

    def _longer(self, values: list[Any]) -> list[Any]:
        if values:
            raise NoOther(UNKNOWN)
        return [self._random.randint(2, 9)]

    def _object(self, value: Any, depth: int) -> Any:
        """A copy with another field; what a comparison with a tolerance is about is its `expected`."""
        fields = getattr(value, "__dict__", None)
        names = list(fields) if isinstance(fields, dict) else []
        names += [name for name in getattr(type(value), "__dataclass_fields__", ()) if name not in names]
        names = ["expected"] if "expected" in names else names
        self._random.shuffle(names)
        for name in names:
            new = copy.copy(value)
            try:
                object.__setattr__(new, name, self._other(getattr(value, name), depth - 1))
            except (NoOther, AttributeError, TypeError):
                continue
            if not _equal(new, value):
                return new
        raise NoOther(f"{UNKNOWN} for a {type(value).__name__}")

    def _int(self, value: int) -> int:
        new = abs(value)
        digits = len(str(new)) if new < 10**100 else 100
        low, high = (2, 9) if digits == 1 else (10 ** (digits - 1), 10**digits - 1)
        while new == abs(value):
            new = self._random.randint(low, high)
        return -new if value < 0 else new

    def _float(self, value: float) -> float:
        if value != value or value in (float("inf"), float("-inf")):
            return 1.5
        return value + (abs(value) + 1) * self._random.randint(2, 9)

    def _text(self, value: str) -> str:
        """Some letters and digits replaced by others, at least one; of the same length unless it is empty."""
        if not value:
            return self._random.choice("abcdefghik")
        plain = [at for at, sign in enumerate(value) if sign.isascii() and sign.isalnum()]
        if not plain:
            return self._random.choice("abcdefghik") + value[1:]
        signs = list(value)
        for at in self._random.sample(plain, max(1, len(plain) // 2)):
            signs[at] = self._sign(signs[at])
        return "".join(signs)

    def _sign(self, sign: str) -> str:
        small = "abcdefghijklmnopqrstuvwxyz"
        signs = "123456789" if sign.isdigit() else small if sign.islower() else small.upper()
        return self._random.choice(signs.replace(sign, ""))

    def _type(self, value: type) -> type:
        if not issubclass(value, BaseException):
            return bytes if value is not bytes else str
        found = [each for each in _EXCEPTIONS if not issubclass(each, value) and not issubclass(value, each)]
        if not found:
            raise NoOther(UNKNOWN)
        return found[0]

    def _member(self, value: Any) -> Any:
        members = [each for each in type(value) if each is not value]
        if not members:
            raise NoOther(UNKNOWN)
        return self._random.choice(members)


def _plain(kind: type) -> type:
    return next(each for each in (bool, int, float, str, bytes) if issubclass(kind, each))


def _equal(one: Any, other: Any) -> bool:
    """Also when either says so; what cannot be compared is not equal."""
    try:
        return bool(one == other) or bool(other == one)
    except Exception:
        return False


_WAYS: dict[type, Any] = {
    type(None): lambda _, value: False,
    bool: lambda _, value: not value,
    int: Other._int,
    float: Other._float,
    complex: lambda self, value: value + self._int(7),
    str: Other._text,
    bytes: lambda self, value: self._text(value.decode("latin-1")).encode("latin-1"),
    bytearray: lambda self, value: bytearray(self._text(value.decode("latin-1")).encode("latin-1")),
    range: lambda self, value: range(value.start, value.stop + 7 * value.step, value.step),
    datetime.date: lambda self, value: value + datetime.timedelta(days=self._int(3)),
    datetime.datetime: lambda self, value: value + datetime.timedelta(days=self._int(3), seconds=5),
    datetime.timedelta: lambda self, value: value + datetime.timedelta(days=self._int(3)),
    decimal.Decimal: lambda self, value: value + self._int(3),
    fractions.Fraction: lambda self, value: value + self._int(3),
    uuid.UUID: lambda self, value: uuid.UUID(int=value.int ^ self._int(1000)),
}
