"""The lines of a command's output, all of them: what a result keeps of it is bounded."""

from __future__ import annotations

from milepost.core.commands import Line, Stream

# The terminal hands on a longer line in pieces of this size.
PIECE = 16_384


class Lines:
    """Gathers the whole lines of one stream; given to `Bench.run` as `on_line`."""

    def __init__(self, stream: Stream = "stdout") -> None:
        self._stream = stream
        self._pieces: list[str] = []
        self.lines: list[str] = []

    def __call__(self, line: Line) -> None:
        if line.stream != self._stream:
            return
        self._pieces.append(line.text)
        if len(line.text) < PIECE:
            self.lines.append("".join(self._pieces))
            self._pieces = []
