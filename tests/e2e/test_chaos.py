"""kill -9 at random instants: the run ends as if nothing had happened."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.e2e.conftest import Sandbox

TASKS = """# Twelve tasks

## Phase 1
- [ ] 1.1 First
  - write one/a.txt one
  - sleep 0.4
  - Verify: grep -q one one/a.txt
- [ ] 1.2 Second, repaired once
  - fail-first
  - write one/b.txt two
  - sleep 0.4
  - Verify: grep -q two one/b.txt
- [ ] 1.3 Third
  - write one/c.txt three
  - sleep 0.4
  - Verify: grep -q three one/c.txt
- [ ] 1.4 Fourth
  - write one/d.txt four
  - sleep 0.4
  - Verify: grep -q four one/d.txt
## Phase 2
- [ ] 2.1 Fifth
  - write two/a.txt five
  - sleep 0.4
  - Depends on: 1.1, 1.2
  - Verify: grep -q five two/a.txt && grep -q one one/a.txt
- [ ] 2.2 Sixth, repaired once
  - fail-first
  - write two/b.txt six
  - sleep 0.4
  - Depends on: 1.3
  - Verify: grep -q six two/b.txt
- [ ] 2.3 Seventh
  - write two/c.txt seven
  - sleep 0.4
  - Depends on: 1.4
  - Verify: grep -q seven two/c.txt
- [ ] 2.4 Eighth
  - write two/d.txt eight
  - sleep 0.4
  - Depends on: 2.1
  - Verify: grep -q eight two/d.txt
## Phase 3
- [ ] 3.1 Ninth
  - write three/a.txt nine
  - sleep 0.4
  - Depends on: 2.1, 2.2
  - Verify: grep -q nine three/a.txt
- [ ] 3.2 Tenth
  - write three/b.txt ten
  - sleep 0.4
  - Depends on: 2.3
  - Verify: grep -q ten three/b.txt
- [ ] 3.3 Eleventh
  - write three/c.txt eleven
  - sleep 0.4
  - Depends on: 2.4, 3.1
  - Verify: grep -q eleven three/c.txt
- [ ] 3.4 Twelfth
  - write three/d.txt twelve
  - sleep 0.4
  - Depends on: 3.3
  - Verify: grep -q twelve three/d.txt
"""
KILLS = 10


def test_a_run_killed_ten_times_ends_as_the_uninterrupted_one(make_sandbox: Callable[[], Sandbox]) -> None:
    calm, killed = make_sandbox(), make_sandbox()
    for machine in (calm, killed):
        machine.roadmap(TASKS)
        machine.write("README.md", "A project, and an edit that nobody committed\n")
    calm_end = calm.run("--parallel", "3", "--json")
    assert calm_end.code == 0, calm_end.stderr

    seed = random.randrange(10**6)
    kills = kill_again_and_again(killed, random.Random(seed))
    end = killed.run("--parallel", "3", "--json")

    told = f"seed {seed}, kills at {kills}\n{end.stderr}"
    assert end.code == 0, told
    calm_branch = calm_end.events[-1]["branch"]
    branch = killed.git("branch", "--list", "--format=%(refname:short)", "milepost/*")
    assert killed.git("rev-parse", f"{branch}^{{tree}}") == calm.git("rev-parse", f"{calm_branch}^{{tree}}"), told
    assert sorted(killed.mileposts(branch)) == sorted(calm.mileposts(calm_branch)), told
    assert len(killed.mileposts(branch)) == 12
    assert killed.git("show", f"{branch}:ROADMAP.md").count("- [x]") == 12
    assert killed.git("fsck", "--no-dangling", "--strict") == ""
    assert len(killed.git("worktree", "list").splitlines()) == 1
    assert not any((killed.home / ".cache/milepost").glob("*/*")), "a checkout was left"
    assert (killed.repo / "README.md").read_text() == "A project, and an edit that nobody committed\n"
    assert killed.git("status", "--porcelain") == " M README.md"
    assert killed.milepost("resume").stdout.startswith("nothing to do"), "the run is over"


def kill_again_and_again(machine: Sandbox, chance: random.Random) -> list[str]:
    """Start the run, kill it at a random instant, alone or with its whole group; as often as asked."""
    kills = []
    for number in range(KILLS):
        process = machine.start("run", "--agent", machine.agent, "--parallel", "3")
        instant = chance.uniform(0.3, 3.0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(instant)
        if process.poll() is None:
            group = number % 2 == 0
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
            kills.append(f"{instant:.2f} s{' (group)' if group else ''}")
        process.communicate()
    assert len(kills) == KILLS, "the run was over before the last kill"
    return kills


def test_nothing_of_a_killed_run_goes_on_running(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Slow\n  - write a.txt a\n  - sleep 600\n  - Verify: test -f a.txt\n")
    process = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: bool(agents_of(sandbox)))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    wait_until(lambda: not agents_of(sandbox))


def agents_of(machine: Sandbox) -> list[str]:
    """The processes that run this machine's agent."""
    agent = machine.agent.split()[-1].encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = place.read_bytes().split(b"\0")
            if agent in words and b"milepost" not in words:
                found.append(place.parent.name)
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
