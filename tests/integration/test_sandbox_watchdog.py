"""The watchdog, with real trees of processes: each bomb is bounded, and runs to its end when nothing is watched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from milepost.sandbox.walls.disk import Added, Changes
from milepost.sandbox.walls.watchdog import Watchdog

# What a relay does with a watchdog, and no more: one guest, looked at until it ends or must.
_KEEPER = """
import json, os, select, signal, sys
from milepost.sandbox.walls import confine, tree
from milepost.sandbox.walls.watchdog import Watchdog

code, bounds, folders = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
confine.adopt_orphans()
watchdog = Watchdog(bounds, {"shared": folders, "own": []})
guest = os.fork()
if guest == 0:
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", code, *folders])
ended = select.poll()
ended.register(os.pidfd_open(guest))
verdict = None
while not verdict and not ended.poll(watchdog.interval_ms):
    verdict = watchdog.look()
for pid in tree.descendants(os.getpid()):
    os.kill(pid, signal.SIGKILL)
code = os.waitpid(guest, 0)[1]
print(json.dumps({"verdict": verdict, "exit_code": code, "peak": watchdog.peak_bytes}))
"""


MEMORY_BOMBS = {
    "many children with a little each": """
import os, time
readers = []
for _ in range(4):
    reader, writer = os.pipe()
    readers.append(reader)
    if os.fork() == 0:
        kept = bytearray(50 << 20)
        os.write(writer, b"x")
        os.close(writer)
        time.sleep(HOLD)
        os._exit(0)
    os.close(writer)
assert all(os.read(reader, 1) for reader in readers)
time.sleep(HOLD)
""",
    "orphans that got away from their parent": """
import os, time
reader, writer = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            kept = bytearray(50 << 20)
            os.write(writer, b"x")
            time.sleep(HOLD)
        os._exit(0)
    os.wait()
for _ in range(4):
    os.read(reader, 1)
time.sleep(HOLD)
""",
    "pages that a fork had shared, written to": """
import os, time
kept = bytearray(50 << 20)
reader, writer = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        for page in range(0, len(kept), 4096):
            kept[page] = 1
        os.write(writer, b"x")
        time.sleep(HOLD)
        os._exit(0)
for _ in range(3):
    os.read(reader, 1)
time.sleep(HOLD)
""",
    "a shared mapping": """
import mmap, time
kept = mmap.mmap(-1, 200 << 20)
for page in range(0, len(kept), 4096):
    kept[page] = 1
time.sleep(HOLD)
""",
    "memory that is a file nobody has mapped": """
import os, time
piece = bytes(1 << 20)
for number in range(8):
    file = os.memfd_create("hoard")
    for _ in range(25):
        os.write(file, piece)
time.sleep(HOLD)
""",
    "memory that is a file of a process that may not be looked into": """
import ctypes, os, time
PR_SET_DUMPABLE = 4
ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
for number in range(8):
    file = os.memfd_create("hoard")
    for _ in range(25):
        os.write(file, bytes(1 << 20))
time.sleep(HOLD)
""",
    "a file of which one page is mapped": """
import mmap, os, time
file = os.memfd_create("hoard")
for _ in range(200):
    os.write(file, bytes(1 << 20))
kept = mmap.mmap(file, 4096)
kept[0] = 1
time.sleep(HOLD)
""",
    "a process whose first thread has ended": """
import ctypes, os, platform, threading, time
leader_goes = threading.Event()
def hoard():
    leader_goes.wait()
    kept = bytearray(200 << 20)
    time.sleep(HOLD)
    os._exit(0)
threading.Thread(target=hoard).start()
leader_goes.set()
ctypes.CDLL(None).syscall({"x86_64": 60}.get(platform.machine(), 93), 0)
""",
    "page tables of pages that are only read": """
import mmap, time
MAP_NORESERVE = 0x4000
kept = mmap.mmap(-1, 100 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE, mmap.PROT_READ)
for page in range(0, len(kept), 2 << 20):
    kept[page]
time.sleep(HOLD)
""",
}


def watched(code: str, *folders: Path, **bounds: int) -> dict[str, Any]:
    code = code.replace("HOLD", "600" if bounds else "0")
    argv = [sys.executable, "-c", _KEEPER, code, json.dumps(bounds), *map(str, folders)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("bomb", MEMORY_BOMBS)
def test_a_tree_that_uses_more_memory_than_it_may_is_ended(bomb: str) -> None:
    told = watched(MEMORY_BOMBS[bomb], memory_mb=120)
    assert told["verdict"] == ["memory", "used more than 120 MB of memory"]
    assert told["peak"] > 120 << 20


@pytest.mark.parametrize("bomb", MEMORY_BOMBS)
def test_the_same_tree_runs_to_its_end_when_nothing_is_watched(bomb: str) -> None:
    assert watched(MEMORY_BOMBS[bomb])["exit_code"] == 0


# Little, since it is held against every tree that is watched at the same time, by other tests, too.
def test_files_with_a_name_in_shared_memory_count_as_memory(tmp_path: Path) -> None:
    name = f"/dev/shm/milepost-test-{os.getpid()}"
    hoard = f"""
import os, time
file = os.open({name!r}, os.O_CREAT | os.O_WRONLY)
for _ in range(30):
    os.write(file, bytes(1 << 20))
os.close(file)
time.sleep(HOLD)
"""
    try:
        assert watched(hoard, memory_mb=20)["verdict"] == ["memory", "used more than 20 MB of memory"]
        assert watched(hoard)["exit_code"] == 0
    finally:
        Path(name).unlink()


def test_a_mapped_file_in_shared_memory_counts_once() -> None:
    name = f"/dev/shm/milepost-test-{os.getpid()}"
    shared = f"""
import mmap, os
file = os.open({name!r}, os.O_CREAT | os.O_RDWR)
os.truncate(file, 30 << 20)
kept = mmap.mmap(file, 30 << 20)
kept.write(bytes(30 << 20))
for _ in range(4):
    if os.fork() == 0:
        assert kept[-1] == 0
        for page in range(0, len(kept), 4096):
            kept[page]
        os._exit(0)
for _ in range(4):
    os.wait()
"""
    try:
        assert watched(shared, memory_mb=80)["verdict"] is None
    finally:
        Path(name).unlink()


def test_what_a_tree_shares_counts_once() -> None:
    shared = """
import mmap, os
kept, shared = bytearray(os.urandom(1 << 20) * 50), mmap.mmap(-1, 20 << 20)
shared.write(bytes(20 << 20))
reader, writer = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        assert shared[-1] == 0 and len(kept) == 50 << 20
        for _ in range(100):
            os.sched_yield()
        os.write(writer, b"x")
        os._exit(0)
for _ in range(6):
    os.wait()
"""
    assert watched(shared, memory_mb=120) | {"peak": 0} == {"verdict": None, "exit_code": 0, "peak": 0}


def test_a_child_that_borrows_its_parents_memory_until_it_runs_a_program_counts_once() -> None:
    borrowing = """
import os
kept = bytearray(80 << 20)
for _ in range(150):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""
    assert watched(borrowing, memory_mb=120)["verdict"] is None


DISK_BOMBS = {
    "one long file": """
import sys
with open(sys.argv[1] + "/long", "wb") as file:
    for _ in range(60):
        file.write(bytes(1 << 20))
""",
    "many files in many folders": """
import os, sys
for folder in range(60):
    os.makedirs(f"{sys.argv[1]}/a/{folder}")
    with open(f"{sys.argv[1]}/a/{folder}/file", "wb") as file:
        file.write(bytes(1 << 20))
""",
    "a file without a name": """
import os, sys
file = os.open(sys.argv[1] + "/nameless", os.O_CREAT | os.O_RDWR)
os.unlink(sys.argv[1] + "/nameless")
for _ in range(60):
    os.write(file, bytes(1 << 20))
""",
    "a file without a name of which one page is mapped": """
import mmap, os, sys
file = os.open(sys.argv[1] + "/nameless", os.O_CREAT | os.O_RDWR)
os.unlink(sys.argv[1] + "/nameless")
os.posix_fallocate(file, 0, 60 << 20)
kept = mmap.mmap(file, 4096)
os.close(file)
""",
    "a folder that is deeper than a path is long": """
import os, sys
os.chdir(sys.argv[1])
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
with open("long", "wb") as file:
    for _ in range(60):
        file.write(bytes(1 << 20))
""",
    "a file that pretends to be old": """
import os, sys
with open(sys.argv[1] + "/old", "wb") as file:
    for _ in range(60):
        file.write(bytes(1 << 20))
        os.utime(file.fileno(), (0, 0))
""",
}


@pytest.mark.parametrize("bomb", DISK_BOMBS)
def test_a_tree_that_writes_more_than_it_may_is_ended(bomb: str, tmp_path: Path) -> None:
    told = watched(DISK_BOMBS[bomb] + "\nimport time; time.sleep(HOLD)", tmp_path, disk_mb=30)
    assert told["verdict"] == ["disk", "wrote more than 30 MB"]


@pytest.mark.parametrize("bomb", DISK_BOMBS)
def test_the_same_writing_goes_on_to_its_end_when_nothing_is_watched(bomb: str, tmp_path: Path) -> None:
    assert watched(DISK_BOMBS[bomb] + "\nimport time; time.sleep(HOLD)", tmp_path)["exit_code"] == 0


def test_a_tree_that_makes_more_files_than_it_may_is_ended(tmp_path: Path) -> None:
    flood = """
import os, sys, time
for number in range(1500):
    os.close(os.open(f"{sys.argv[1]}/{number}", os.O_CREAT))
time.sleep(HOLD)
"""
    assert watched(flood, tmp_path, inodes=500)["verdict"] == ["disk", "made more than 500 files"]
    (tmp_path / "again").mkdir()
    assert watched(flood, tmp_path / "again")["exit_code"] == 0


def test_what_others_write_meanwhile_is_not_held_against_the_tree(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    waits = """
import os, subprocess, sys, time
with open(sys.argv[1] + "/short", "wb") as file:
    file.write(bytes(1 << 20))
for _ in range(60):
    with open(sys.argv[1] + "/../others", "ab") as file:
        file.write(bytes(1 << 20))
        file.flush()
        time.sleep(0.002)
"""
    assert watched(waits, tmp_path / "own", disk_mb=30)["verdict"] is None


def test_what_was_there_before_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "before").write_bytes(bytes(60 << 20))
    changes = """
import os, sys
os.chmod(sys.argv[1] + "/before", 0o600)
with open(sys.argv[1] + "/new", "wb") as file:
    for _ in range(20):
        file.write(bytes(1 << 20))
"""
    assert watched(changes, tmp_path, disk_mb=30)["verdict"] is None


def test_a_walk_counts_a_file_with_two_names_once_and_follows_no_link(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "large").write_bytes(bytes(1 << 20))
    (inside / "file").write_bytes(bytes(1 << 16))
    (inside / "again").hardlink_to(inside / "file")
    (inside / "folder").symlink_to("../outside")  # so short that it takes no block
    changes = Changes(0)
    assert list(changes.count([str(inside)])) == []
    assert [*changes.changed.values()] == [Added(bytes=1 << 16, inodes=2)]


def test_a_walk_tells_what_was_made_from_what_was_only_changed(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(bytes(1 << 16))
    since_ns = (tmp_path / "old").stat().st_ctime_ns + 20_000_000
    while time.time_ns() < since_ns + 20_000_000:
        os.sched_yield()
    (tmp_path / "old").chmod(0o600)
    (tmp_path / "new").write_bytes(bytes(1 << 15))
    changes = Changes(since_ns)
    assert list(changes.count([str(tmp_path)])) == []
    assert [*changes.changed.values()] == [Added(bytes=(1 << 16) + (1 << 15), inodes=2)]
    assert [*changes.made.values()] == [Added(bytes=1 << 15, inodes=1)]


def test_nothing_to_watch_asks_for_no_look() -> None:
    assert Watchdog({"memory_mb": None, "processes": 64}, {"shared": [], "own": []}).interval_ms is None


def test_what_is_watched_is_named() -> None:
    watchdog = Watchdog({"memory_mb": 256, "disk_mb": 100, "inodes": None}, {"shared": ["/"], "own": []})
    assert watchdog.names == ["watchdog-memory", "watchdog-disk"]
    assert watchdog.interval_ms == 0
