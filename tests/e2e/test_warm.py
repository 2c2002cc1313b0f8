"""The tests' own way to start the command line, which must be no way to start anything else."""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import termios
from fcntl import ioctl
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e import warm
from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until

A_FULL_PIPE = 65_536
STATES = ("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd", "Umask", "Threads", "NoNewPrivs", "Seccomp")
LONG = "".join(f"- [ ] T{number} Write a file\n" for number in range(1000))


class Facts(NamedTuple):
    """What the kernel knows of a process, its numbers left out."""

    files: dict[str, str]
    states: list[str]
    leads_its_session: bool
    folder: Path


def facts(process: subprocess.Popen[str]) -> Facts:
    """Of a process that can write no more."""
    wait_until(lambda: waiting(process) == A_FULL_PIPE)
    place = Path(f"/proc/{process.pid}")
    told = (place / "status").read_text().splitlines()
    return Facts(
        files={file.name: re.sub(r"\d+", "", str(file.readlink())) for file in (place / "fd").iterdir()},
        states=[line for line in told if line.startswith(STATES)],
        leads_its_session=os.getsid(process.pid) == process.pid,
        folder=(place / "cwd").readlink(),
    )


def waiting(process: subprocess.Popen[str]) -> int:
    """The bytes in its pipe."""
    assert process.stdout is not None
    (number,) = struct.unpack("i", ioctl(process.stdout, termios.FIONREAD, b"\0" * 4))
    return int(number)


def test_a_warm_process_is_what_a_cold_one_is(sandbox: Sandbox) -> None:
    sandbox.write("ROADMAP.md", LONG)
    seen = []
    for process in (sandbox.start("plan", "--json"), sandbox.start_cold("plan", "--json")):
        with process:
            seen.append(facts(process))
            process.communicate(timeout=60)
        assert process.returncode == 0
    assert seen[0] == seen[1]
    assert set(seen[0].files) == {"0", "1", "2"}, "nothing of the nursery's is open in it"


def test_a_warm_process_is_killed_by_its_own_id_and_stays_until_it_was_waited_for(sandbox: Sandbox) -> None:
    sandbox.write("ROADMAP.md", LONG)
    with sandbox.start("plan", "--json") as process:
        assert isinstance(process, warm.Process)
        facts(process)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        os.kill(process.pid, signal.SIGKILL)
        wait_until(lambda: " (zombie)" in Path(f"/proc/{process.pid}/status").read_text())
        assert process.wait(60) == -signal.SIGKILL
        assert not Path(f"/proc/{process.pid}").exists()


def test_several_warm_processes_run_at_a_time_and_each_has_its_own_end(sandbox: Sandbox) -> None:
    sandbox.write("ROADMAP.md", LONG)
    first, second = sandbox.start("plan", "--json"), sandbox.start("plan", "nowhere.md")
    said, told = second.communicate(timeout=60)
    assert (second.returncode, said) == (2, "") and "nowhere.md" in told
    assert first.poll() is None
    first.communicate(timeout=60)
    assert first.returncode == 0


@pytest.mark.parametrize("variable", ["PYTHONWARNINGS", "PYTHONPATH", "LC_ALL", "LD_PRELOAD", "TMPDIR"])
def test_what_decides_how_a_program_starts_starts_it_cold(sandbox: Sandbox, variable: str) -> None:
    assert warm.is_possible({**sandbox.environment, "MILEPOST_AGENT": "x"})
    assert not warm.is_possible({**sandbox.environment, variable: "x"})
