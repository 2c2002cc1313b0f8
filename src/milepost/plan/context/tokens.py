"""How long a text is for a model: in tokens, by what its own answers told, else four bytes of UTF-8 each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

BYTES_PER_TOKEN = 4.0  # as many characters, where these are ASCII
ENOUGH = 5  # questions that were answered, before they are believed
_LEAST, _MOST = 2.0, 6.0


def bytes_per_token(answered: Iterable[tuple[int, int]]) -> float:
    """The bytes of a token by questions that were answered: each its bytes, and the tokens that its service counted."""
    rates = [size / tokens for size, tokens in answered if size > 0 and tokens > 0]
    if len(rates) < ENOUGH:
        return BYTES_PER_TOKEN
    return round(min(_MOST, max(_LEAST, median(rates))), 2)


def size_of(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def tokens_of(text: str, rate: float) -> int:
    """The tokens of a text at so many bytes each, rounded up."""
    return math.ceil(size_of(text) / rate)
