"""Blocks that must end by an exception."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from .endings import Later, Unequal, Unfit


class Raises:
    """A block that must end by one of these exceptions."""

    def __init__(self, expected, match=None):
        if isinstance(expected, Later):
            expected()
        self._expected, self._match = expected, match
        self.value = self.type = self.tb = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            raise Unequal(f"nothing was raised, where {self._expected!r} was to be")
        if not issubclass(kind, self._expected):
            if issubclass(kind, (ImportError, OSError, Unfit, AssertionError)) or not issubclass(kind, Exception):
                return False
            raise Unequal(f"{kind.__name__} was raised, where {self._expected!r} was to be") from value
        self.value = self.exception = value
        self.type, self.tb = kind, trace
        return self._match is None or self.match(self._match)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise Unfit(f"there is no {name} here")

    def match(self, pattern):
        import re

        if not re.search(pattern, str(self.value)):
            raise Unequal(f"{str(self.value)!r} does not match {pattern!r}")
        return True


def raises(expected, *given, match=None, **named):
    block = Raises(expected, match)
    if named and not given:
        raise Unfit(f"there is no {next(iter(named))} here")
    if not given:
        return block
    with block:
        given[0](*given[1:], **named)
    return block
