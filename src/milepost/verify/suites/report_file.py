"""The file that a test runner leaves its report in, written by code that nobody trusts."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from milepost.core.machine_failure import machine_failure

LARGEST_REPORT = 32_000_000


def clear(path: Path) -> None:
    """Make sure that nothing is at `path`, so that what is found there later was written later."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read(path: Path) -> str | None:
    """The text of the report, or None where there is no plain file of a sane size.

    The tests could put anything there: a link is not followed, and a pipe is not waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as problem:
        if failure := machine_failure(problem, "the report of the tests cannot be read"):
            raise failure from problem
        return None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST_REPORT:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(LARGEST_REPORT).decode("utf-8", errors="replace")
    finally:
        os.close(descriptor)
