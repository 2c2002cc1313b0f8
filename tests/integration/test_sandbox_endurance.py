"""Many sessions, one after another and at once, and a host that dies: nothing is left of any of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.errors import SandboxRefused
from milepost.sandbox.levels import open_executor, require
from tests.attacks import tree
from tests.slow import ALL

SOURCES = Path(__file__).parents[2] / "src"
SESSIONS = 500 if ALL else 50
AT_ONCE = 200 if ALL else 20
WARM_UP = 5
LIMITS = ExecutionLimits(timeout_s=120)

# A session that leaves as much as it can.
UNTIDY = """
import os, socket, subprocess, tempfile, threading, time
os.makedirs("made/deep", exist_ok=True)
open("made/deep/file", "w").write("x")
kept = [open("made/deep/file"), tempfile.NamedTemporaryFile(delete=False), os.memfd_create("kept"), os.pipe()]
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
    os._exit(0)
print("untidy")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """What this process has of the machine."""

    processes: frozenset[int]
    descriptors: int
    mounts: tuple[str, ...]
    files: frozenset[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where everything temporary goes."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(params=[TrustLevel.ISOLATED, TrustLevel.SANDBOXED], ids=lambda level: level.value)
def level(request: pytest.FixtureRequest) -> TrustLevel:
    """A level, after its first session: what stays warm for those to come is there."""
    wanted: TrustLevel = request.param
    try:
        require(wanted)
    except SandboxRefused as refusal:
        pytest.skip(str(refusal))
    with open_executor(wanted) as executor:
        assert executor.run("pass").succeeded
    return wanted


def footprint(folder: Path) -> Footprint:
    return Footprint(
        processes=frozenset(tree.below(os.getpid())),
        descriptors=descriptors_of(os.getpid()),
        mounts=mounts(folder),
        files=frozenset(str(path) for path in folder.rglob("*")),
    )


def descriptors_of(*pids: int) -> int:
    return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)


def mounts(folder: Path) -> tuple[str, ...]:
    """Those of ours: others may mount what they like meanwhile."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return tuple(line for line in lines if str(folder) in line or "milepost" in line)


def test_sessions_one_after_another_leave_nothing(level: TrustLevel, folder: Path) -> None:
    before = footprint(folder)
    held: list[int] = []
    with open_executor(level, LIMITS) as executor:
        for number in range(SESSIONS):
            assert executor.run(UNTIDY).output == "untidy\n"
            executor.reset()
            if number in (WARM_UP, SESSIONS - 1):
                held.append(descriptors_of(os.getpid(), *keepers()))
    assert held[1] <= held[0] + 10, "descriptors grow with the sessions"
    assert_nothing_new(before, folder)


def assert_nothing_new(before: Footprint, folder: Path) -> None:
    """The last keepers may still be clearing up."""
    wait_until(lambda: footprint(folder).processes <= before.processes)
    after = footprint(folder)
    assert (after.descriptors, after.mounts, after.files) == (before.descriptors, before.mounts, before.files)


def keepers() -> list[int]:
    """The processes right below this one: they stay while sessions come and go."""
    return [pid for pid in tree.below(os.getpid()) if f"PPid:\t{os.getpid()}\n" in status_of(pid)]


def status_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""


def test_sessions_at_once_do_not_disturb_each_other_and_leave_nothing(level: TrustLevel, folder: Path) -> None:
    before = footprint(folder)
    together = threading.Barrier(AT_ONCE)

    def live(number: int) -> str:
        with open_executor(level, LIMITS) as executor:
            executor.inject("mine", number)
            assert executor.run(UNTIDY).output == "untidy\n"
            together.wait(timeout=120)
            said = executor.run("print(mine)").output
            together.wait(timeout=120)
            return said

    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert list(threads.map(live, range(AT_ONCE))) == [f"{number}\n" for number in range(AT_ONCE)]
    assert_nothing_new(before, folder)


HOST = textwrap.dedent("""
    import sys, threading, time
    sys.path.insert(0, sys.argv[1])
    from milepost.core.commands import trust_named
    from milepost.sandbox.levels import open_executor
    executors = [open_executor(trust_named(sys.argv[2])) for _ in range(3)]
    for executor in executors:
        assert executor.run(sys.argv[3]).output == "untidy\\n"
    for executor in executors:
        threading.Thread(target=executor.run, args=("while True: pass",), daemon=True).start()
    print("ready", flush=True)
    time.sleep(600)
""")


def test_a_killed_host_leaves_nothing_running_and_no_mount(level: TrustLevel, folder: Path) -> None:
    before = mounts(folder)
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(SOURCES), level.value, UNTIDY],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert host.stdout is not None
    with host.stdout:
        assert host.stdout.readline() == b"ready\n"
        started = tree.below(host.pid)
        assert len(started) >= 9  # of each session at least its keeper, itself and its child
        os.kill(host.pid, signal.SIGKILL)
        host.wait()
    wait_until(lambda: not any(lives(pid) for pid in started))
    assert mounts(folder) == before


def lives(pid: int) -> bool:
    return "State:" in (status := status_of(pid)) and "State:\tZ" not in status


def wait_until(condition: Callable[[], bool], patience_s: float = 60.0) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
