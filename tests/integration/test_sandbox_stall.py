"""A command that never ends is told from one that works or speaks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from milepost.core.commands import OWN_LOOPBACK, Command, CommandResult, TrustLevel, ending_in_words
from milepost.core.errors import SandboxRefused
from milepost.sandbox.levels import open_terminal, require

SERVER = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print('up', flush=True); s.accept()"
LAYERS = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SERVER!r}])"
WORKS = "import time; end = time.monotonic() + 5\nwhile time.monotonic() < end: pass"
SPEAKS = "import time\nfor _ in range(25): print('.', end='', flush=True); time.sleep(0.2)"


@pytest.fixture(params=[TrustLevel.ISOLATED, TrustLevel.SANDBOXED], ids=lambda level: level.value)
def level(request: pytest.FixtureRequest) -> TrustLevel:
    try:
        require(request.param)
    except SandboxRefused as refused:
        pytest.skip(refused.message)
    return TrustLevel(request.param)


def run(level: TrustLevel, code: str, folder: Path) -> CommandResult:
    (folder / "work").mkdir()
    with open_terminal(level) as terminal:
        return terminal.run(
            Command(
                argv=(sys.executable, "-c", code),
                cwd=folder / "work",
                scratch=folder / "scratch",
                timeout_s=60,
                stall_timeout_s=2.5,
                network=OWN_LOOPBACK,
            )
        )


@pytest.mark.parametrize("code", [SERVER, LAYERS], ids=["a server", "a server that a program waits for"])
def test_a_server_that_nobody_stops_is_ended_and_said_to_be_one(level: TrustLevel, code: str, tmp_path: Path) -> None:
    done = run(level, code, tmp_path)
    assert done.termination == "idle", done
    told = ending_in_words(done, program="python", timeout_s=60)
    assert told == "was stopped: it said nothing and did nothing for 2.5 s, as a server that nobody stops"


@pytest.mark.parametrize("code", [WORKS, SPEAKS], ids=["works", "speaks"])
def test_what_works_or_speaks_goes_on(level: TrustLevel, code: str, tmp_path: Path) -> None:
    assert run(level, code, tmp_path).succeeded
