"""The filter on system calls: the program for a kind of guest, and the way to put a process behind it for good."""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache

from . import kernel
from .bpf import assemble
from .syscall_rules import Calls, judgements
from .syscalls import machine_named

__all__ = ["Calls", "install", "program"]

_SET_MODE_FILTER = 1
_NEW_LISTENER = 1 << 3
_WAIT_UNLESS_KILLED = 1 << 5  # a signal does not take back a question that is being answered


@cache
def program(calls: Calls, machine: str) -> bytes:
    """The classic BPF that judges each call of a guest; OSError for a machine whose calls are not known."""
    return assemble(judgements(calls), machine_named(machine))


def install(program: bytes, *, listen: bool) -> int:
    """Put this process, which can gain no privileges any more, behind a program; the descriptor to answer on, or -1.

    Whoever holds that descriptor decides: it belongs to the relay, and must be closed here before any code of a guest.
    """
    if not listen:
        _load(program, 0)
        return -1
    try:
        return _load(program, _NEW_LISTENER | _WAIT_UNLESS_KILLED)
    except OSError as problem:
        if problem.errno != errno.EINVAL:
            raise
    return _load(program, _NEW_LISTENER)


def _load(program: bytes, flags: int) -> int:
    text = ctypes.create_string_buffer(program, len(program))
    filter_ = _Filter(len(program) // 8, ctypes.addressof(text))
    number = machine_named(os.uname().machine).numbers["seccomp"]
    return kernel.call(number, _SET_MODE_FILTER, flags, bytes(filter_), what="seccomp")


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))
