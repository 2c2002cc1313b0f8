"""What the witness said, as it was heard: signed facts, one or more lines each."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import blake2b

from milepost.core.commands import Line

_SIGNATURE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Testimony:
    """The facts in order. `disturbed` is a line that the witness did not sign, empty when there was none."""

    __test__ = False  # pytest collects classes by this prefix

    facts: tuple[tuple[str, ...], ...] = ()
    disturbed: str = ""


class Hearing:
    """Takes down what the witness says; `hear` is given every line of the runner's output.

    Each line must be signed with the key that the one before it led to. What comes before the first
    is the interpreter's own greeting, and is let pass.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._facts: list[tuple[str, ...]] = []
        self._pieces: list[str] = []
        self._disturbed = ""

    def hear(self, line: Line) -> None:
        if line.stream != "stdout":
            return
        if self._is_signed(line.text):
            self._take(line.text[_SIGNATURE], line.text[_SIGNATURE + 1 :])
            self._key = blake2b(b"next", key=self._key, digest_size=32).digest()
        elif line.text.strip() and (self._facts or self._pieces):
            self._disturbed = line.text

    def testimony(self) -> Testimony:
        return Testimony(facts=tuple(self._facts), disturbed=self._disturbed)

    def _is_signed(self, text: str) -> bool:
        body = text[_SIGNATURE:]
        if not body or body[0] not in ".+" or not text.isascii():
            return False
        signature = blake2b(body.encode("ascii"), key=self._key, digest_size=_SIGNATURE // 2).hexdigest()
        return hmac.compare_digest(signature, text[:_SIGNATURE])

    def _take(self, mark: str, piece: str) -> None:
        self._pieces.append(piece)
        if mark == ".":
            words = "".join(self._pieces).split("\t")
            self._facts.append(tuple(word.encode("ascii").decode("unicode_escape") for word in words))
            self._pieces.clear()
