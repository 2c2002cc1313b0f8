"""Whether a text has any of many words, found in one pass over it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

LONG = 1_000  # signs; for less the import of what is quicker does not pay


class _Matcher(Protocol):
    def isinstance_python(self, text: str, /) -> bool: ...


class AnyOf:
    """Tells whether any of some words is in a text.

    Python's regular expressions try word after word at each place; those that pydantic brings along look for all at
    once, in a fiftieth of the time. They know no lone surrogates: where there are such, each word is looked for.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(sorted(set(words)))
        self._is_plain = bool(self._words) and all(map(_is_unicode, self._words))
        self._matcher: _Matcher | None = None

    def __call__(self, text: str) -> bool:
        if self._matcher is None and self._is_plain and len(text) >= LONG:
            self._matcher = _matcher(self._words)
        if self._matcher is not None and (text.isascii() or _is_unicode(text)):
            return self._matcher.isinstance_python(text)
        return any(word in text for word in self._words)


def _matcher(words: Iterable[str]) -> _Matcher:
    from pydantic_core import SchemaValidator, core_schema

    pattern = "|".join("".join(rf"\x{{{ord(sign):x}}}" for sign in word) for word in words)
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
