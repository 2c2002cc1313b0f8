"""Timeouts are exact, whatever the code does to outlast them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from milepost.core.commands import Command, ExecutionLimits, Termination, TrustLevel
from milepost.core.errors import SandboxRefused
from milepost.sandbox.levels import open_executor, open_terminal, require

LIMIT_S = 0.3
# An idle machine needs a few milliseconds more than the limit, a busy one a moment: one of six tries must show it.
GRACE_S = 5.0
TRIES = 6

STUBBORN = {
    "a loop that blocks signals": """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True: pass
""",
    "a loop that catches all": """
while True:
    try:
        while True: pass
    except BaseException: pass
""",
    "a call of C": "7 ** (9 ** 9)",
    "children": """
import os
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True: pass
while True:
    try: os.wait()
    except BaseException: pass
""",
    "threads": """
import threading
def work():
    while True: pass
for _ in range(4): threading.Thread(target=work).start()
work()
""",
    "a process that stopped itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "a sleep": "import time\ntime.sleep(60)",
}


@pytest.fixture(params=[TrustLevel.ISOLATED, TrustLevel.SANDBOXED], ids=lambda level: level.value)
def level(request: pytest.FixtureRequest) -> TrustLevel:
    wanted: TrustLevel = request.param
    try:
        require(wanted)
    except SandboxRefused as refusal:
        pytest.skip(str(refusal))
    return wanted


@pytest.mark.parametrize("code", STUBBORN.values(), ids=STUBBORN.keys())
def test_a_session_ends_when_its_time_is_up(level: TrustLevel, code: str) -> None:
    with open_executor(level, ExecutionLimits(timeout_s=LIMIT_S)) as executor:

        def attempt() -> tuple[float, Termination]:
            executor.open()
            return timed(lambda: executor.run(code).termination)

        assert_exact(attempt)


@pytest.mark.parametrize("code", STUBBORN.values(), ids=STUBBORN.keys())
def test_a_command_ends_when_its_time_is_up(level: TrustLevel, code: str, tmp_path: Path) -> None:
    argv = (sys.executable, "-I", "-S", "-c", code)
    command = Command(argv=argv, cwd=tmp_path, scratch=tmp_path / "scratch", timeout_s=LIMIT_S)
    warm = Command(argv=("true",), cwd=tmp_path, scratch=tmp_path / "scratch")
    with open_terminal(level) as terminal:
        assert terminal.run(warm).succeeded
        assert_exact(lambda: timed(lambda: terminal.run(command).termination))


def assert_exact(attempt: Callable[[], tuple[float, Termination]]) -> None:
    seen = []
    for _ in range(TRIES):
        took_s, termination = attempt()
        assert termination == "timeout" and took_s >= LIMIT_S
        seen.append(took_s)
        if took_s <= LIMIT_S + GRACE_S:
            return
    pytest.fail(f"the limit is {LIMIT_S} s, and it took {seen}")


def timed(run: Callable[[], Termination]) -> tuple[float, Termination]:
    started = time.monotonic()
    termination = run()
    return time.monotonic() - started, termination
