"""Control groups of the real kernel, where some were delegated to us; bombs are bounded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.sandbox.walls import cgroup
from milepost.sandbox.walls.cgroup import CgroupFolder, Group, Offer

# What a relay does with a group, and no more: one guest that enters it before it runs anything.
_KEEPER = """
import json, os, sys
from milepost.sandbox.walls import cgroup

offer = cgroup.probe()
group = cgroup.Group(json.loads(sys.argv[2]), offer)
guest = os.fork()
if guest == 0:
    group.enter()
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", sys.argv[1]])
how = os.waitstatus_to_exitcode(os.waitpid(guest, 0)[1])
told = {"how": how, "names": group.names, "oom_killed": group.oom_killed(), "peak": group.peak_bytes()}
group.close()
print(json.dumps(told))
"""

_MANY_PROCESSES = """
import os, signal
children = []
try:
    for _ in range(20):
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except BlockingIOError:
    code = 7
else:
    code = 0
for child in children:
    os.kill(child, signal.SIGKILL)
os._exit(code)
"""

_MUCH_MEMORY = """
import os
for _ in range(4):
    if os.fork() == 0:
        kept = bytearray(40 << 20)
        os._exit(0)
    file = os.memfd_create("hoard")
    os.write(file, bytes(40 << 20))
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


@pytest.fixture
def offer() -> Offer:
    return cgroup.probe()


def kept(code: str, **bounds: float) -> dict[str, Any]:
    argv = [sys.executable, "-c", _KEEPER, code, json.dumps(bounds)]
    keeper = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    said, _ = keeper.communicate(timeout=300)
    cgroup.remove(keeper.pid, cgroup.probe())
    told: dict[str, Any] = json.loads(said)
    return told


def needs(offer: Offer, controller: str) -> CgroupFolder:
    if controller in offer.missing:
        pytest.skip(f"no control group for {controller} can be had here: {offer.missing[controller]}")
    return offer.places[controller]


def groups(place: CgroupFolder) -> Iterator[str]:
    return (each.name for each in Path(place.folder).iterdir() if each.name.startswith(cgroup.name_of(0)[:-1]))


def test_each_controller_can_be_had_or_the_reason_is_told(offer: Offer) -> None:
    assert {*offer.places, *offer.missing} == {"memory", "pids"}
    assert not {*offer.places} & {*offer.missing}
    assert all(offer.missing.values())


def test_a_tree_has_no_more_processes_than_its_group_allows(offer: Offer) -> None:
    needs(offer, "pids")
    assert kept(_MANY_PROCESSES, processes=10) == {
        "how": 7,
        "names": ["cgroup-pids"],
        "oom_killed": False,
        "peak": 0,
    }
    assert kept(_MANY_PROCESSES)["how"] == 0


def test_a_tree_that_uses_more_memory_than_its_group_allows_is_ended_by_the_kernel(offer: Offer) -> None:
    place = needs(offer, "memory")
    told = kept(_MUCH_MEMORY, memory_mb=100)
    assert (told["names"], told["oom_killed"]) == (["cgroup-memory"], True)
    assert told["how"] == -signal.SIGKILL or place.version == 1
    assert kept(_MUCH_MEMORY, memory_mb=500)["how"] == 0
    assert kept(_MUCH_MEMORY)["how"] == 0


def test_nothing_is_left_of_a_group_that_is_removed_with_its_guests_still_running(offer: Offer) -> None:
    place = needs(offer, "pids")
    group = Group({"processes": 10}, offer)
    guest = subprocess.Popen(["sleep", "60"], preexec_fn=group.enter)  # noqa: PLW1509
    group.close()
    cgroup.remove(os.getpid(), offer)
    assert guest.wait() == -signal.SIGKILL
    assert cgroup.name_of(os.getpid()) not in groups(place)


def test_a_group_can_be_used_from_inside_namespaces_and_another_root(offer: Offer, tmp_path: Path) -> None:
    needs(offer, "pids")
    leave = f"""
import ctypes
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
if ctypes.CDLL(None).unshare(CLONE_NEWNS | CLONE_NEWUSER):
    sys.exit("no namespaces")
os.chroot({str(tmp_path)!r})
"""
    inside = _KEEPER.replace("guest = os.fork()", "guest = os.fork()\nif guest != 0:" + leave.replace("\n", "\n    "))
    argv = [sys.executable, "-c", inside, _MANY_PROCESSES, json.dumps({"processes": 10})]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    if "no namespaces" in done.stderr:
        pytest.skip("this user may not make namespaces here")
    assert json.loads(done.stdout)["how"] == 7
    cgroup.probe()


def test_the_groups_that_dead_processes_left_are_removed_by_the_next_start(offer: Offer) -> None:
    place = needs(offer, "pids")
    argv = [sys.executable, "-c", _KEEPER, "", json.dumps({"processes": 10})]
    died = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    told, _ = died.communicate(timeout=300)
    assert json.loads(told)["names"] == ["cgroup-pids"], "it had a group and did not remove it"
    cgroup.probe()
    assert cgroup.name_of(died.pid) not in groups(place)


def test_a_group_without_bounds_holds_nothing_and_makes_nothing(offer: Offer) -> None:
    group = Group({}, offer)
    group.enter()
    assert (group.names, group.oom_killed(), group.peak_bytes()) == ([], False, 0)
    group.close()
