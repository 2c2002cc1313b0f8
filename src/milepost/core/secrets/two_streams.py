"""Secrets taken out of the lines of two streams, which a terminal shows as one."""

from __future__ import annotations

from collections.abc import Sequence

from milepost.core.commands import Line, Stream
from milepost.core.secrets.coloured_lines import ShownLines
from milepost.core.secrets.redact import MASK, Redactor, written


class MixedLines:
    """Redacts the lines of one command, each in its own stream and in the mix of both: a secret may go on in either.

    Who prints on one stream only is looked at once.
    """

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._mix = ShownLines(redact)
        self._seen: frozenset[Stream] = frozenset()
        self._own: dict[Stream, ShownLines] = {}  # once two were seen

    def block(self, lines: Sequence[Line]) -> list[str]:
        """Lines as they may be shown; a secret may go on from block to block."""
        seen = self._seen.union(line.stream for line in lines)
        if len(seen) > 1 and not self._own:
            self._own = {stream: self._so_far(stream) for stream in seen}
        self._seen = seen
        own = {stream: iter(redact.block(_texts_of(stream, lines))) for stream, redact in self._own.items()}
        mixed = self._mix.block([line.text for line in lines])
        if not own:
            return mixed
        return [_shown(line.text, next(own[line.stream]), mix) for line, mix in zip(lines, mixed, strict=True)]

    def _so_far(self, stream: Stream) -> ShownLines:
        """What looks at one of two streams; the one that was alone until now goes on as the mix does."""
        return self._mix.copied() if stream in self._seen else ShownLines(self._redact)


def _texts_of(stream: Stream, lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines if line.stream == stream]


def _shown(text: str, own: str, mixed: str) -> str:
    """A line without what is hidden in either way; one that hides two things in two ways shows nothing."""
    if own == mixed:
        return own
    plain = written(text)
    return mixed if own == plain else own if mixed == plain else MASK
