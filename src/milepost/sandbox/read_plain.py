"""A file that somebody else may have put there, read without waiting for anybody and not without end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

LARGEST_PLAIN = 32_000_000
LARGEST_SETTINGS = 2_000_000  # of what is parsed in a language as slow as ours


def read_plain(path: Path, largest: int = LARGEST_PLAIN) -> bytes:
    """The bytes of a plain file; OSError for a pipe, a socket, a device, a folder, and for one that is too large."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        facts = os.fstat(file)
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file", str(path))
        if facts.st_size > largest:
            raise OSError(errno.EFBIG, f"it is larger than {largest // 1_000_000} MB", str(path))
        with open(file, "rb", closefd=False) as stream:
            return stream.read(largest)
    finally:
        os.close(file)


def plain_text(path: Path, largest: int = LARGEST_PLAIN) -> str:
    """The same as text, with signs in the place of what is none."""
    return read_plain(path, largest).decode("utf-8", "replace")
