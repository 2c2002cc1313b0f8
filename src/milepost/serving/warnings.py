"""What a server tells the person who started it: warnings on stderr, a line each, bounded and without secrets."""

from __future__ import annotations

import logging
import os
import select
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import TextIO

from milepost.core.secrets.redact import Redactor, secrets_of

LONGEST = 1_000  # in bytes less than a pipe takes at once, whatever the letters

Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def tell_on_stderr(who: str) -> None:
    """Have warnings of this process, as one that is called so, written to stderr, unless somebody decided otherwise.

    Libraries would else set up logs of their own, which write down what clients send.
    """
    root = logging.getLogger()
    if root.handlers:
        return
    told = Unblocked(sys.stderr)
    told.setFormatter(Complaint(who, Redactor(secrets_of(os.environ))))
    root.addHandler(told)
    root.setLevel(logging.WARNING)


class Unblocked(logging.StreamHandler[TextIO]):
    """Writes a line if it is not the one before again, and if that holds nobody up.

    Clients that start a server may never read its stderr, and a full pipe would stop it for good.
    """

    _last = ""

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if line != self._last and _has_room(self.stream):
            self._last = line
            super().emit(record)


def _has_room(stream: TextIO) -> bool:
    """Whether a line of ours can be written without waiting: a pipe is ready only if it takes as much as that."""
    try:
        return bool(select.select([], [stream.fileno()], [], 0)[1])
    except (OSError, ValueError):  # no file at all
        return True


class Complaint(logging.Formatter):
    """A record as one line fit for a terminal: redacted, no control characters, the middle of a long one cut."""

    def __init__(self, who: str, redact: Redactor) -> None:
        super().__init__(f"{who}: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        line = " ".join(self._redact(super().format(record)).split())
        line = "".join(sign if sign.isprintable() else "�" for sign in line)
        return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"

    def formatException(self, ei: Raised) -> str:  # noqa: N802
        """What went wrong at first, and where, instead of all that came of it."""
        first = ei[1]
        while first is not None and (first.__cause__ or first.__context__) is not None:
            first = first.__cause__ or first.__context__
        if first is None:
            return ""
        frames = traceback.extract_tb(first.__traceback__)
        where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        return f"— {type(first).__name__}: {first}{where}"
