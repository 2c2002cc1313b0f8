"""Long text cut to a size that a model, or a log, can take."""

from __future__ import annotations


def clip(text: str, limit: int) -> str:
    """`text` whole, or its beginning and its end with the number of characters left out between them."""
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - head
    return f"{text[:head]}\n… {len(text) - limit} characters left out …\n{text[len(text) - tail :]}"


def last_lines(text: str, count: int = 20) -> str:
    """The last lines of `text`, blank ones at the end aside."""
    return "\n".join(text.rstrip().splitlines()[-count:])
