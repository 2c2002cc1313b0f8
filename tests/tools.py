"""The programs of the machine that tests need. One that does not work skips what needs it, with the reason."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

import pytest

from tests.live.installed import REQUIRED

# Marks a test: `@needs("cargo", "cmake")`. The programs are run when the test starts, not when it is collected.
needs = pytest.mark.needs

_LONGEST_S = 60
_ASKED_FOR_ITS_VERSION = {
    "dot": ("-V",),
    "go": ("version",),
    "java": ("-version",),
    "javac": ("-version",),
    "kubectl": ("version", "--client"),
}


def need(*programs: str) -> None:
    """Skip the test or fixture that asks, unless all of these programs work here."""
    for program in programs:
        if not works(program):
            pytest.skip(absence(program))


def works(program: str) -> bool:
    """Whether a program can be used here; fails where MILEPOST_LIVE_REQUIRED has its name and it cannot."""
    reason = absence(program)
    if reason and program in os.environ.get(REQUIRED, "").replace(" ", "").split(","):
        pytest.fail(reason)
    return not reason


@cache
def absence(program: str) -> str:
    """Why a program cannot be used here; empty when it works.

    To be on PATH is not enough: rustup's `cargo` is there without any toolchain.
    """
    found = shutil.which(program)
    if found is None:
        return f"{program} is not installed"
    try:
        done = subprocess.run(
            [found, *_ASKED_FOR_ITS_VERSION.get(program, ("--version",))],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST_S,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{program} does not work here: {problem}"
    if done.returncode == 0:
        return ""
    said = (done.stderr + done.stdout).strip().splitlines()
    return f"{program} does not work here: {said[0] if said else f'exit {done.returncode}'}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        need(*mark.args)
