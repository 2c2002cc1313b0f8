"""Secrets taken out of text before it is kept or shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote, quote_plus

from milepost.core.secrets.shapes import MASK as MASK
from milepost.core.secrets.shapes import has_signs, mask_shapes
from milepost.core.secrets.word_search import AnyOf
from milepost.core.terminal_escapes import without_escapes

SHORTEST_SECRET = 8
# So much of the beginning of a secret at the end of a line is taken for the secret itself.
TELLING = 6

_SECRET_NAME = re.compile(r"(?i)(^|_)(api_?key|key|token|secret|passw(or)?d|credentials?)(_|$)")


def secrets_of(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of an environment whose names say that they are secret."""
    return frozenset(
        value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET
    )


def forms_of(value: str) -> Iterator[str]:
    """A secret as programs write it: plain, line by line, as a part of an address, of JSON, of base64."""
    yield value
    if len(shown := without_escapes(_unbroken(value))) >= SHORTEST_SECRET:
        yield shown  # lines that come one by one are looked at without what was between them
    yield from (line for line in value.splitlines() if len(line) >= SHORTEST_SECRET)
    content = value.encode(errors="surrogateescape")
    yield from (written(value), content.decode(errors="replace"))  # bytes that are no text, as they are shown
    yield from (quote(content, safe=""), quote_plus(content), json.dumps(value)[1:-1])
    for shift in range(3):
        inner = _inner_base64(content, shift)
        yield from (inner, inner.translate(str.maketrans("+/", "-_")))


class Redactor:
    """Makes text fit to be kept: known secret values, and what has a secret's shape, become a mask.

    Bytes that are no text, which Python carries as lone surrogates, are written out as escapes.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if len(value) >= SHORTEST_SECRET for form in forms_of(value)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._shortest = len(self._forms[-1]) if self._forms else 0
        # Of a text and of lines, whose ends are taken out in two ways.
        self._has_beginnings = AnyOf(each[:TELLING] for form in forms for each in (form, _unbroken(form)))

    def __call__(self, text: str) -> str:
        return mask_shapes(self._without_values(written(text)))

    def lines(self) -> LineRedactor:
        """The same for the lines of one stream, given one by one."""
        return LineRedactor(self, self._forms, self._has_beginnings)

    def _without_values(self, text: str) -> str:
        if len(text) < self._shortest or not self._has_beginnings(_unbroken(text)):
            return text
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        if "\n" in text:
            unbroken = _unbroken(text)
            for form in self._forms:
                if form in unbroken:
                    text = re.sub(r"[\r\n]*".join(map(re.escape, form)), MASK, text)
        return text


class LineRedactor:
    """Redacts the lines of one stream though a secret may begin in one of them and end in another."""

    def __init__(self, redact: Redactor, forms: tuple[str, ...], has_beginnings: AnyOf) -> None:
        self._redact = redact
        self._forms = forms
        self._has_beginnings = has_beginnings
        self._beginnings = tuple({form[:TELLING] for form in forms})
        self._longest = len(forms[0]) if forms else 0
        self._before = ""
        self._in_key = False

    def __call__(self, line: str) -> str:
        return self.block((line,))[0]

    def block(self, lines: Sequence[str]) -> list[str]:
        """The same for several lines, in one go where none of them has anything to hide."""
        text = "\n".join(lines)
        unbroken = self._before + text.replace("\n", "")
        if text.count("\n") != len(lines) - 1 or not self._is_harmless(text, unbroken):
            return [self.closely(line) for line in lines]
        self._before = unbroken[-self._longest :] if self._longest else ""
        return written(text).split("\n")

    def closely(self, line: str) -> str:
        """The same for a line that may have something to hide."""
        if self._is_of_a_key(line):
            return MASK
        if not line:
            return ""
        seam, both = len(self._before), self._before + line
        start, stop = self._end_of_one_begun_before(both, seam), self._beginning_of_one_that_goes_on(both)
        self._before = both[-self._longest :] if self._longest else ""
        if stop <= start and stop < len(both):
            return MASK
        return "".join((MASK if start > seam else "", self._redact(both[start:stop]), MASK if stop < len(both) else ""))

    def _is_harmless(self, text: str, unbroken: str) -> bool:
        """Whether text has no secret, and no beginning of one."""
        if self._in_key or self._has_beginnings(unbroken):
            return False
        return not has_signs(text) or ("-----BEGIN" not in text and mask_shapes(text) == text)

    def _end_of_one_begun_before(self, both: str, seam: int) -> int:
        """Where a secret ends that begins before the seam and reaches over it; the seam itself when none does."""
        around = both[max(0, seam - self._longest) : seam + self._longest]
        possible = [form for form in self._forms if form in around] if seam else []
        found = ((both.find(form, max(0, seam - len(form) + 1), seam + len(form) - 1), form) for form in possible)
        return max([seam, *(at + len(form) for at, form in found if at >= 0)])

    def _beginning_of_one_that_goes_on(self, both: str) -> int:
        """Where a part at the end begins that is the beginning of a secret; the end itself when there is none."""
        window = both[max(0, len(both) - self._longest) :]
        ends = [window[at:] for each in self._beginnings if each in window for at in _all_places(each, window)]
        going_on = [end for end in ends if any(len(end) < len(form) and form.startswith(end) for form in self._forms)]
        stop = len(both) - max(map(len, going_on), default=0)
        # One whose end is like its beginning may be there whole.
        whole = ((both.find(form, max(0, stop - len(form) + 1)), form) for form in self._forms if going_on)
        return min([stop, *(at for at, _ in whole if 0 <= at < stop)])

    def _is_of_a_key(self, line: str) -> bool:
        """A private key is many lines; none from its first to its last is shown."""
        begins = "-----BEGIN" in line and "PRIVATE KEY" in line
        inside = self._in_key or begins
        self._in_key = inside and "-----END" not in line
        return inside


def written(text: str) -> str:
    """A text with bytes that are none written out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _unbroken(text: str) -> str:
    return text.replace("\n", "").replace("\r", "")


def _all_places(part: str, text: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _inner_base64(value: bytes, shift: int) -> str:
    """What of the base64 of a text that has `value` after so many other bytes does not depend on those around it."""
    encoded = base64.b64encode(b"\0" * shift + value).decode()
    groups, rest = divmod(shift + len(value), 3)
    return encoded[(0, 2, 3)[shift] : groups * 4 + rest]
