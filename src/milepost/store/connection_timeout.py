"""A connection that is cut off when an answer takes too long, however the other side keeps it waiting."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long is waited for a server: until it is connected, and for a whole answer."""

    connect_s: float = 3.0
    answer_s: float = 10.0


PATIENCE = Patience()


@contextmanager
def within(seconds: float, descriptor: int) -> Iterator[None]:
    """Do something over a connection; TimeoutError when it is not done by then.

    Time-outs of single reads do not bound an answer that comes byte by byte, and libpq has none at all.
    """
    own = socket.socket(fileno=os.dup(descriptor))  # the number itself may be another connection's by then
    lock, cut = threading.Lock(), threading.Event()

    def cut_off() -> None:
        with lock, suppress(OSError):
            cut.set()
            own.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut_off)
    timer.daemon = True
    timer.start()
    late = f"no answer within {seconds:g} s"
    try:
        yield
        if cut.is_set():  # the end of a connection may have been taken for the end of the answer
            raise TimeoutError(late)
    except Exception as error:
        if cut.is_set():
            raise TimeoutError(late) from error
        raise
    finally:
        timer.cancel()
        with lock:
            own.close()
