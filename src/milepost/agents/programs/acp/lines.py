"""What is told of an agent program that is talked to over the Agent Client Protocol, as lines for our own reader.

It runs beside the program, inside the sandbox, so it is made of the standard library alone. Each line is one JSON
object, named by its `acp`:

    session   id, resumable                  the session that the prompt is given to
    said      text                           a message of the model, whole unless it is very long
    step      what                           a tool is used
    denied    what                           the program asked for what is not in its workspace
    used      input, output, cached, usd     what it took, as far as the program tells
    stray     text                           a line of the program that is not of the protocol
    alive                                    the program does something that is not worth a line; once a second at most
    ended     reason, error, steps,          the end: the protocol's reason to stop or one of ours, how many tools were
              unfinished, last               used and begun without an end, and the last words
"""

from __future__ import annotations

import json
import sys
import time

MOST_SAID = 2_000_000
MOST_STRAYS = 50
LONGEST_MESSAGE = 100_000
LONGEST_LAST = 2_000
LONGEST_WHAT = 300


class LineWriter:
    """Prints what happens; the text of a message is put together until it is worth a line."""

    def __init__(self) -> None:
        self.steps = 0
        self.unfinished: set[str] = set()
        self._seen: set[str] = set()
        self._strays = 0
        self._said = 0
        self._message: object = None
        self._text = ""
        self._last = ""
        self._told_at = 0.0

    def tell(self, acp: str, **values: object) -> None:
        self._told_at = time.monotonic()
        sys.stdout.write(json.dumps({"acp": acp, **values}) + "\n")
        sys.stdout.flush()

    def alive(self) -> None:
        if time.monotonic() - self._told_at >= 1.0:
            self.tell("alive")

    def stray(self, text: str) -> None:
        self._strays += 1
        if self._strays <= MOST_STRAYS:
            self.tell("stray", text=short(text))

    def said(self, message: object, text: str) -> None:
        """A piece of a message, known by its id where the program gives one."""
        if message != self._message:
            self.spoken()
            self._message = message
        self._text = _both_ends(self._text + text, LONGEST_MESSAGE)

    def spoken(self) -> None:
        """The message is over: what comes is another one."""
        text, self._text, self._message = self._text.strip(), "", None
        self._last = _both_ends(text, LONGEST_LAST) or self._last
        self._said += len(text)
        if text and self._said <= MOST_SAID:
            self.tell("said", text=text)

    def is_new(self, call: str) -> bool:
        """Whether a tool call was not told yet."""
        return bool(call) and call not in self._seen

    def step(self, call: str, what: str) -> None:
        self.spoken()
        self._seen.add(call)
        self.steps += 1
        self._last = ""
        self.tell("step", what=short(what))

    def ended(self, reason: str, error: str) -> None:
        self.spoken()
        counts = {"steps": self.steps, "unfinished": len(self.unfinished)}
        self.tell("ended", reason=reason, error=error[:LONGEST_LAST], **counts, last=self._last)


def short(text: str) -> str:
    """A text as one line that is not too long."""
    return " ".join(text[: 2 * LONGEST_WHAT].split())[:LONGEST_WHAT]


def _both_ends(text: str, limit: int) -> str:
    """The beginning and the end: a program says at either of them that it failed."""
    return text if len(text) <= limit else text[: limit // 2] + text[-limit // 2 :]
