"""What a parametrised test is called with, as a digest: the same for the same values, whatever the test is numbered.

Only what is known through and through is told: numbers, texts, paths, things that a module has under their own names,
and what holds nothing else. How a value looks and what it equals is for its class to say, and is not asked.
"""

from __future__ import annotations

import enum
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType
from typing import Any

DEEPEST = 40
MOST_PARTS = 100_000

# Classes of the standard library whose way to look is all that there is to a value.
_TOLD_BY_LOOKS = frozenset(
    {"datetime.date", "datetime.time", "datetime.datetime", "datetime.timedelta", "datetime.timezone"}
    | {"decimal.Decimal", "fractions.Fraction", "uuid.UUID"}
)
_PATHS = frozenset(
    f"{module}.{name}" for module in ("pathlib", "pathlib._local") for name in ("PosixPath", "PurePosixPath")
)
_MADE_IN_PYTHON = 1 << 9  # the flag of a type that was made while the program ran


class Untold(Exception):
    """A value of which not all is known."""


def digest(test: str, parameters: Mapping[str, Any], folder: str) -> str:
    """A digest of a test's name and parameters, empty where one cannot be told; paths are seen from `folder`."""
    telling = _Telling(folder)
    try:
        told = (test, [(name, telling.tell(parameters[name])) for name in sorted(parameters)])
    except Exception:  # a class may do what it likes when it is looked at
        return ""
    return blake2b(repr(told).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class _Telling:
    def __init__(self, folder: str) -> None:
        self._above = folder.rstrip(os.sep) + os.sep
        self._left = MOST_PARTS
        # By the identity of the type: what a class equals is its metaclass's own word.
        self._ways: dict[int, Callable[[Any, int], Any]] = {
            **{id(kind): self._plain for kind in (type(None), bool, float, complex, bytes, range, type(...))},
            id(int): lambda value, _: hex(value),
            id(str): lambda value, _: self._seen_from_here(value),
            id(bytearray): lambda value, _: bytes(value),
            id(tuple): self._each,
            id(list): self._each,
            id(set): lambda value, depth: sorted(map(repr, self._each(value, depth))),
            id(frozenset): lambda value, depth: sorted(map(repr, self._each(value, depth))),
            id(dict): lambda value, depth: self._each([part for pair in value.items() for part in pair], depth),
            id(re.Pattern): lambda value, depth: self._each([value.pattern, value.flags], depth),
        }

    def tell(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if depth > DEEPEST or self._left < 0:
            raise Untold
        kind = type(value)
        way = self._ways.get(id(kind))
        if way is not None:
            return (kind.__name__, way(value, depth + 1))
        if kind is FunctionType or kind is BuiltinFunctionType or _is_in(type, _line(kind)):
            return ("named", _name(value))
        return (_name(kind), self._instance(value, kind, depth + 1))

    def _instance(self, value: Any, kind: type, depth: int) -> Any:
        line, name = _line(kind), _name(kind)
        if name in _PATHS:
            return self._seen_from_here(str(value))
        if name in _TOLD_BY_LOOKS:
            return repr(value)
        if _is_in(enum.Enum, line):
            return self._each([_held(value, "_name_"), _held(value, "_value_")], depth)
        own = _held_by_class(kind)
        if line[1:] == (tuple, object) and "_fields" in own:
            return self._each(tuple.__iter__(value), depth)
        if "__dataclass_fields__" in own and all(each.__flags__ & _MADE_IN_PYTHON for each in line[:-1]):
            fields = {name: _held(value, name) for name in own["__dataclass_fields__"]}
            return self.tell(fields, depth)
        raise Untold

    def _plain(self, value: Any, _: int) -> str:
        return repr(value)

    def _each(self, values: Iterable[Any], depth: int) -> list[Any]:
        return [self.tell(value, depth) for value in values]

    def _seen_from_here(self, text: str) -> tuple[str, str]:
        """A place in the checkout is the same wherever that is."""
        return ("here", text[len(self._above) :]) if text.startswith(self._above) else ("", text)


def _name(thing: Any) -> str:
    """The name under which its own module has a class or a function."""
    hold = _held_of_class if _is_in(type, _line(type(thing))) else _held
    module, path = hold(thing, "__module__"), hold(thing, "__qualname__")
    first, *others = path.split(".")
    found = sys.modules[module].__dict__[first]
    for name in others:
        found = _held_by_class(found)[name]
    if found is not thing:
        raise Untold
    return f"{module}.{path}"


def _line(kind: type) -> tuple[type, ...]:
    return tuple(_held_of_class(kind, "__mro__"))


def _held(value: Any, name: str) -> Any:
    return object.__getattribute__(value, name)


def _held_of_class(kind: type, name: str) -> Any:
    return type.__getattribute__(kind, name)


def _held_by_class(kind: type) -> Mapping[str, Any]:
    held: Mapping[str, Any] = _held_of_class(kind, "__dict__")
    return held


def _is_in(kind: type, line: tuple[type, ...]) -> bool:
    return any(each is kind for each in line)
