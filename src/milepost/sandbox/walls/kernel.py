"""The kernel's calls that Python has no function for, made by their number."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def call(number: int, *arguments: int | bytes | bytearray | None, what: str = "") -> int:
    """What the kernel returns, or OSError; a bytearray is written to by the kernel."""
    returned = int(_libc.syscall(ctypes.c_long(number), *map(_as_word, arguments)))
    if returned < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}" if what else os.strerror(error))
    return returned


def _as_word(argument: int | bytes | bytearray | None) -> object:
    if isinstance(argument, int):
        return ctypes.c_long(argument)
    if isinstance(argument, bytearray):
        return (ctypes.c_char * len(argument)).from_buffer(argument)
    return argument
