"""What surrounds a program that somebody started at a terminal, days ago."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import os
import sys
import time

_CLOCKS = ("monotonic", "perf_counter", "process_time", "thread_time")
_ENDS_INPUT = b"\4" * 8
_SIZE = b"".join(number.to_bytes(2, sys.byteorder) for number in (24, 80, 0, 0))


def settle(days_s):
    """Let the clocks that only compare be ahead, and go on at a terminal, where one can be had."""
    for name in _CLOCKS:
        _set_ahead(name, days_s)
        _set_ahead(f"{name}_ns", days_s * 1_000_000_000)
    with_terminal()


def _set_ahead(name, by):
    clock = getattr(time, name)
    setattr(time, name, lambda: clock() + by)


def with_terminal():
    """Go on in a child of this process, whose terminal is this one: what is written there is dropped."""
    import fcntl
    import termios

    try:
        ours, its = os.openpty()
    except OSError:
        return
    fcntl.ioctl(its, termios.TIOCSWINSZ, _SIZE)
    child = os.fork()
    if child == 0:
        os.close(ours)
        for number in (0, 1, 2):
            os.dup2(its, number)
        os.close(its)
        return
    os.close(its)
    os.write(ours, _ENDS_INPUT)
    _wait(child, ours)


def _wait(child, terminal):
    """Be the terminal until the child ends, then end as it did."""
    import select

    while True:
        ready, _, _ = select.select([terminal], [], [], 0.02)
        try:
            if ready and os.read(terminal, 65_536):
                continue
        except OSError:
            pass
        ended, status = os.waitpid(child, 0 if ready else os.WNOHANG)
        if ended:
            if os.WIFSIGNALED(status):
                os.kill(os.getpid(), os.WTERMSIG(status))
            sys.stdout = None
            os._exit(os.WEXITSTATUS(status))
