"""What a server tells the person who started it: warnings on stderr, bounded and without secrets."""

from __future__ import annotations

import logging
import os
import sys

from milepost.core.redact import Redactor, secrets_of

LONGEST = 2_000


def tell_on_stderr() -> None:
    """Have warnings of this process written to stderr, unless somebody decided already where they go.

    The SDK would else set up a log of its own, which writes down what clients send.
    """
    root = logging.getLogger()
    if root.handlers:
        return
    told = logging.StreamHandler(sys.stderr)
    told.setFormatter(Complaint(Redactor(secrets_of(os.environ))))
    root.addHandler(told)
    root.setLevel(logging.WARNING)


class Complaint(logging.Formatter):
    """A record as text that is fit for a terminal: redacted, no control characters, the middle of a long one cut."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("milepost mcp: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        text = self._redact(super().format(record))
        text = "".join(sign if sign.isprintable() or sign == "\n" else "�" for sign in text)
        return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
