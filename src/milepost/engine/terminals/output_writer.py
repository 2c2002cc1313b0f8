"""What commands print on its way to the journal: one thread writes it for all of them, soon after it was printed."""

from __future__ import annotations

import json
import threading
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from milepost.core.commands import Line
from milepost.core.errors import MilepostError
from milepost.core.events import CommandPrinted, CommandStarted
from milepost.core.secrets.redact import Redactor
from milepost.core.secrets.two_streams import MixedLines
from milepost.engine.records.journal import PRINTED, Journal

MOST_LINES, MOST_BYTES = 20_000, 4_000_000  # of one command, as they come; bytes are those of JSON
LAST_LINES, LAST_BYTES = 500, 250_000  # of one that prints more, when it ends
PAUSE_S = 0.1  # between two rows
MOST_BYTES_HERE = 200_000_000  # of all commands of one engine
LEFT_OUT = "… {:,} lines are not shown …"


class Output:
    """Writes down what the commands of one engine print. Nobody waits for it but a command that has ended.

    What cannot be written is counted as not shown: for the sake of output nothing fails.
    """

    def __init__(self, journal: Journal, redact: Redactor, pause_s: float = PAUSE_S) -> None:
        self._journal, self.redact = journal, redact
        self._pause_s = pause_s
        self._changed = threading.Condition()
        self._waiting: list[Printing] = []
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._bytes_left = MOST_BYTES_HERE

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left, and end."""
        with self._changed:
            self._closed.set()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def begin(self, command: CommandStarted) -> Printing:
        """What listens to a command from now on."""
        return Printing(self, command, most_bytes=min(MOST_BYTES, self._bytes_left))

    def wait(self, printing: Printing) -> None:
        """Have what a command printed written soon."""
        with self._changed:
            self._waiting.append(printing)
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_on, name="output", daemon=True)
                self._thread.start()
            self._changed.notify()

    def write(self, command: CommandStarted, batch: Batch, number: int) -> bool:
        """Write a row down; False when that cannot be done."""
        event = CommandPrinted(
            run=command.run,
            task=command.task,
            attempt=command.attempt,
            command=command.command,
            lines=batch.lines,
            errors=batch.errors,
        )
        try:
            self._journal.append(event, f"{PRINTED}{command.command}/{number}")
        except MilepostError:
            return False
        with self._changed:
            self._bytes_left -= batch.size
        return True

    def _write_on(self) -> None:
        """What comes after a silence is written at once, what follows on it once in a while."""
        while self._is_awaited():
            with self._changed:
                now, self._waiting = self._waiting, []
            for printing in now:
                printing.flush()
            self._closed.wait(self._pause_s)

    def _is_awaited(self) -> bool:
        """Wait until something was printed; False when nothing more will be."""
        with self._changed:
            while not self._waiting and not self._closed.is_set():
                self._changed.wait()
            return bool(self._waiting)


class Printing:
    """Listens to one command: its lines are told in order and without secrets."""

    def __init__(self, output: Output, command: CommandStarted, most_bytes: int) -> None:
        self._output, self._command = output, command
        self._printed = Printed(most_bytes=most_bytes)
        self._lines = MixedLines(output.redact)
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # one row after the other
        self._rows = self._lost = 0

    def hear(self, line: Line) -> None:
        """Take a line that was printed."""
        with self._lock:
            is_first = self._printed.add(line)
        if is_first:
            self._output.wait(self)

    def flush(self) -> None:
        """Write down all that was heard and may be told as it comes."""
        with self._writing:
            with self._lock:
                heard = self._printed.take()
            self._write(heard, self._lines.block(heard))

    def end(self) -> int:
        """Write down what is left, with the last lines of what was too much; gives how many lines are not shown."""
        self.flush()
        with self._writing:
            with self._lock:
                rest = self._printed.rest()
            if rest.left_out:  # no secret goes on over what was not looked at
                self._lines = MixedLines(self._output.redact)
            lines, texts, unshown = rest.lines, self._lines.block(rest.lines), rest.left_out + rest.before
            if unshown:
                gap = Line(stream="stdout", text=LEFT_OUT.format(unshown))
                lines, texts = [gap, *lines[rest.before :]], [gap.text, *texts[rest.before :]]
            self._write(lines, texts)
            return unshown + self._lost

    def _write(self, lines: list[Line], texts: list[str]) -> None:
        """Write lines down as these texts."""
        errors = [place for place, line in enumerate(lines) if line.stream == "stderr"]
        for batch in batches([*map(fit, texts)], errors):
            self._rows += 1
            if not self._output.write(self._command, batch, self._rows):
                self._lost += len(batch.lines)


LONGEST_LINE = 4_000  # signs
BEFORE_LAST = 200  # lines that are looked at for secrets that go on into the last ones
BATCH_BYTES = 32_000
_in_json = json.encoder.encode_basestring_ascii


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines in their order, and the places of those that came on stderr."""

    lines: tuple[str, ...]
    errors: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Rest:
    """The end of what was too much: `lines` follow on `left_out` others; the first `before` of them are not told."""

    lines: list[Line]
    left_out: int
    before: int


class Printed:
    """The lines of one command that wait to be told. For a thread at a time."""

    def __init__(self, *, most_lines: int = MOST_LINES, most_bytes: int = MOST_BYTES) -> None:
        self._lines_left = most_lines
        self._bytes_left = most_bytes
        self._waiting: list[Line] = []
        self._last: deque[Line] = deque(maxlen=BEFORE_LAST + LAST_LINES if most_bytes > 0 else 0)
        self._beyond = 0

    def add(self, line: Line) -> bool:
        """Have a line wait, or keep it while it is one of the last; True when it is the first that waits."""
        if self._lines_left <= 0 or self._bytes_left <= 0:
            self._beyond += 1
            self._last.append(line)
            return False
        self._lines_left -= 1
        self._bytes_left -= size_of(line.text)
        self._waiting.append(line)
        return len(self._waiting) == 1

    def take(self) -> list[Line]:
        """All that waits, which waits no longer."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def rest(self) -> Rest:
        """The last lines of those that were too many, which are kept no longer."""
        lines, beyond = [*self._last], self._beyond
        self._last.clear()
        self._beyond = 0
        told = size = 0
        for line in reversed(lines[-LAST_LINES:]):
            size += size_of(line.text)
            if size > LAST_BYTES:
                break
            told += 1
        return Rest(lines, beyond - len(lines), len(lines) - told)


def size_of(text: str) -> int:
    """How many bytes a line takes in a row."""
    return len(_in_json(text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE])) + 2  # with what is before the next


def batches(texts: Sequence[str], errors: Sequence[int] = ()) -> Iterator[Batch]:
    """Lines in parts that are not too large for a row; `errors` are the places of those that came on stderr."""
    ends = [*accumulate(map(size_of, texts))]
    start = size = 0
    while start < len(texts):
        stop = max(start + 1, bisect_right(ends, size + BATCH_BYTES))
        among = errors[bisect_left(errors, start) : bisect_left(errors, stop)]
        yield Batch(tuple(texts[start:stop]), tuple(place - start for place in among), ends[stop - 1] - size)
        start, size = stop, ends[stop - 1]


def fit(text: str) -> str:
    """A line as every database and JSON can hold it, cut where it is too long: `…` says so."""
    if len(text) <= LONGEST_LINE and "\0" not in text and text.isascii():
        return text
    text = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"
