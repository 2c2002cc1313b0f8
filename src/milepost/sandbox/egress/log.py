"""What a guest asked its way out for, and what it was told."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

MOST_KEPT = 1_000
MOST_REFUSED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRequest:
    """A host that was asked for; `why` says why it was refused, or why it could not be reached though allowed."""

    host: str
    port: int
    allowed: bool
    why: str = ""
    sent_bytes: int = 0
    received_bytes: int = 0


class Log:
    """The first thousand questions of a guest in their order, and how many came after them. For many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[HostRequest] = []
        self._refused: dict[str, None] = {}
        self.left_out = 0

    def note(self, asked: HostRequest) -> int:
        """Keep what was asked; returns its number, under which the rest is told later."""
        with self._lock:
            if not asked.allowed and len(self._refused) < MOST_REFUSED:
                self._refused.setdefault(f"host {asked.host}:{asked.port}")
            if len(self._asked) >= MOST_KEPT:
                self.left_out += 1
                return MOST_KEPT
            self._asked.append(asked)
            return len(self._asked) - 1

    def failed(self, number: int, why: str) -> None:
        with self._lock:
            if number < MOST_KEPT:
                self._asked[number] = replace(self._asked[number], why=why)

    def carried(self, number: int, sent_bytes: int, received_bytes: int) -> None:
        with self._lock:
            if number < MOST_KEPT:
                self._asked[number] = replace(self._asked[number], sent_bytes=sent_bytes, received_bytes=received_bytes)

    @property
    def asked(self) -> tuple[HostRequest, ...]:
        with self._lock:
            return tuple(self._asked)

    @property
    def refused(self) -> tuple[str, ...]:
        """What was refused, each once: `host example.com:443`."""
        with self._lock:
            return tuple(self._refused)
