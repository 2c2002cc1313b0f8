"""The warm processes that sessions are forked from: one an interpreter, shared by all executors of this process."""

from __future__ import annotations

import atexit
import threading
from dataclasses import dataclass, field
from pathlib import Path

from milepost.sandbox.warden_client import Warden

_LINGER_S = 10.0


@dataclass(slots=True)
class _Kept:
    warden: Warden
    borrowers: int = 0
    farewell: threading.Timer | None = field(default=None)


_lock = threading.Lock()
_kept: dict[Path, _Kept] = {}


def borrow(interpreter: Path) -> Warden:
    """The warm process of an interpreter, which is there at least until it is given back."""
    with _lock:
        kept = _kept.setdefault(interpreter, _Kept(Warden(interpreter=interpreter)))
        kept.borrowers += 1
        if kept.farewell is not None:
            kept.farewell.cancel()
            kept.farewell = None
        return kept.warden


def give_back(interpreter: Path) -> None:
    """Say that a borrower needs it no longer; some time after the last one it is ended."""
    with _lock:
        kept = _kept.get(interpreter)
        if kept is None:  # this process is about to end
            return
        kept.borrowers -= 1
        if kept.borrowers == 0:
            kept.farewell = threading.Timer(_LINGER_S, _end_if_idle, (interpreter,))
            kept.farewell.daemon = True
            kept.farewell.start()


def _end_if_idle(interpreter: Path) -> None:
    with _lock:
        kept = _kept.get(interpreter)
        if kept is None or kept.borrowers or kept.farewell is None:
            return
        del _kept[interpreter]
    kept.warden.close()


@atexit.register
def _end_all() -> None:
    with _lock:
        idle = [kept for kept in _kept.values() if not kept.borrowers]
        for kept in idle:
            if kept.farewell is not None:
                kept.farewell.cancel()
        _kept.clear()
    for kept in idle:
        kept.warden.close()
