from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from milepost.core.errors import EngineBusy, StateUnwritable
from milepost.engine.project import state_lock
from milepost.engine.project.state_lock import Holder, StateLock, holder_of

# Takes the lock as an engine would, then dies and leaves a child that holds the lock until its input ends.
ENGINE_THAT_LEAVES_AN_ORPHAN = """
import os, subprocess, sys
from pathlib import Path
from milepost.engine.project.state_lock import StateLock
lock = StateLock(Path(sys.argv[1]), "r1").__enter__()
subprocess.Popen(["cat"], pass_fds=(lock.fd,), stdout=subprocess.DEVNULL)
os.kill(os.getpid(), 9)
"""


def orphaned(folder: Path) -> subprocess.Popen[bytes]:
    engine = subprocess.Popen([sys.executable, "-c", ENGINE_THAT_LEAVES_AN_ORPHAN, str(folder)], stdin=subprocess.PIPE)
    os.waitid(os.P_PID, engine.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet buried by its parent
    return engine


def release(engine: subprocess.Popen[bytes]) -> None:
    assert engine.stdin is not None
    engine.stdin.close()
    engine.wait()


def test_a_lock_says_who_holds_it_and_for_which_run_and_is_free_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    assert holder_of(folder) is None
    with StateLock(folder, "r1") as lock:
        holder = holder_of(folder)
        assert holder is not None and holder.alive
        assert (holder.pid, holder.run) == (os.getpid(), "r1")
        lock.name_run("r2")
        assert (renamed := holder_of(folder)) is not None and renamed.run == "r2"
    assert holder_of(folder) is None
    with StateLock(folder):
        pass


def test_a_living_holder_is_named_and_not_waited_for(tmp_path: Path) -> None:
    with (
        StateLock(tmp_path, "r1"),
        pytest.raises(EngineBusy, match=rf"run r1 .*pid {os.getpid()}") as raised,
        StateLock(tmp_path),
    ):
        pass
    assert "milepost stop" in raised.value.advice
    with StateLock(tmp_path, "r2"):
        pass


def test_orphans_of_a_dead_engine_are_waited_for(tmp_path: Path) -> None:
    engine = orphaned(tmp_path)
    holder = holder_of(tmp_path)
    assert holder is not None and not holder.alive, "held, by nobody who lives"
    taken = threading.Event()

    def take() -> None:
        with StateLock(tmp_path):
            taken.set()

    waiting = threading.Thread(target=take)
    waiting.start()
    assert not taken.wait(0.3)
    release(engine)
    waiting.join(60)
    assert taken.is_set()


def test_orphans_that_never_end_are_given_up_on_with_a_way_to_find_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_lock, "ORPHANS_WAIT_S", 0.1)
    engine = orphaned(tmp_path)
    try:
        with pytest.raises(EngineBusy) as raised, StateLock(tmp_path):
            pass
        assert str(tmp_path / "lock") in raised.value.advice
    finally:
        release(engine)


def test_a_process_that_got_the_number_of_a_dead_holder_is_not_taken_for_it() -> None:
    me = os.getpid()
    assert not Holder(pid=me, born="1", run="", since=0).alive
    assert not Holder(pid=2**22 + 1, born="", run="", since=0).alive, "a process that never was"


def test_a_lock_file_that_is_damaged_names_nobody_and_locks_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b"\xff not json")
    with StateLock(tmp_path, "r1"):
        assert (holder := holder_of(tmp_path)) is not None and holder.run == "r1"


def test_a_state_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StateUnwritable, match="cannot be written"), StateLock(tmp_path / "file"):
        pass
    assert (tmp_path / "file").read_text() == "in the way"
