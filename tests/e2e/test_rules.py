"""The seven rules that make kill -9 harmless, each broken on purpose by a git that stands in for the worst moment."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests import places
from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until

ONE = "- [ ] 1.1 Write it\n  - write a.txt hello\n  - Verify: grep -q hello a.txt\n"
SLOW = "- [ ] 1.1 Slow\n  - write a.txt hello\n  - sleep 60\n  - Verify: grep -q hello a.txt\n"

# Every git logs its words. The run's branch is moved twice: when it is made, and when the milepost lands on it.
TRAP = """#!/bin/sh
git={git} log={log} landing=
echo "$*" >>"$log"
case "$*" in
  *"update-ref refs/heads/milepost/"*) [ "$(grep -c "update-ref refs/heads/milepost/" "$log")" = 2 ] && landing=yes ;;
esac
{script}
"""


@dataclass(frozen=True)
class Trap:
    """A git on PATH that does something terrible at the worst moment, and a log of what all of them were asked."""

    path: str
    log: Path

    @property
    def lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


def trapped_git(machine: Sandbox, script: str) -> Trap:
    folder = machine.home.parent / "trap"
    folder.mkdir()
    program = folder / "git"
    program.write_text(TRAP.format(git=shutil.which("git"), log=folder / "log", script=script))
    program.chmod(0o755)
    return Trap(path=f"{folder}:{machine.environment['PATH']}", log=folder / "log")


def branch_of(machine: Sandbox) -> str:
    return machine.git("branch", "--list", "--format=%(refname:short)", "milepost/*")


def killed_at_work(machine: Sandbox) -> Path:
    """Start a run and kill the engine while the agent works; gives the checkout that it left."""
    machine.roadmap(SLOW)
    process = machine.start("run", "--agent", machine.agent)
    trees = (machine.home / ".cache/milepost").glob
    wait_until(lambda: any(trees("*/*/tree/a.txt")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return next(iter(trees("*/*/tree")))


def let_the_agent_be_quick(machine: Sandbox) -> None:
    (machine.home.parent / "agent/agent.py").write_text("open('a.txt', 'w').write('hello')\n")


def test_rule_1_truth_is_a_commit_and_a_checkout_is_made_anew_from_it(sandbox: Sandbox) -> None:
    left = killed_at_work(sandbox)
    (left / "stale.txt").write_text("left by the killed one\n")
    (left / "README.md").write_text("edited by the killed one\n")
    let_the_agent_be_quick(sandbox)
    answer = sandbox.milepost("resume")
    assert answer.code == 0, answer.stderr
    assert sandbox.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["README.md", "ROADMAP.md", "a.txt"]
    assert (sandbox.repo / "README.md").read_text() == "A project\n"


def test_rule_2_a_commit_made_again_after_a_crash_is_the_same_commit(sandbox: Sandbox) -> None:
    """The milepost is committed, and the engine dies before the branch moves to it."""
    trap = trapped_git(sandbox, 'if [ "$landing" ]; then kill -9 $PPID; exit 1; fi; exec "$git" "$@"')
    sandbox.roadmap(ONE)
    assert sandbox.milepost("run", "--agent", sandbox.agent, PATH=trap.path).code == -signal.SIGKILL
    unreachable = sandbox.git("fsck", "--unreachable", "--no-reflogs").splitlines()
    (made,) = [line.split()[2] for line in unreachable if line.split()[1] == "commit"]
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert sandbox.git("rev-parse", "HEAD") == made


def test_rule_3_a_branch_that_moved_since_it_was_looked_at_is_not_moved(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    theirs = sandbox.git("commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}")
    race = f'for word; do case "$word" in refs/heads/*) "$git" update-ref "$word" {theirs} ;; esac; done'
    trap = trapped_git(sandbox, f'if [ "$landing" ]; then {race}; fi; exec "$git" "$@"')
    answer = sandbox.milepost("run", "--agent", sandbox.agent, PATH=trap.path)
    assert answer.code == 1 and "Traceback" not in answer.stderr
    assert sandbox.git("rev-parse", branch_of(sandbox)) == theirs


def test_rule_4_a_milepost_that_landed_before_the_crash_is_not_landed_again(sandbox: Sandbox) -> None:
    """The branch moves, and the engine dies before it can write that down."""
    sandbox.roadmap(ONE)
    trap = trapped_git(sandbox, '"$git" "$@"; code=$?; [ "$landing" ] && kill -9 $PPID; exit $code')
    assert sandbox.milepost("run", "--agent", sandbox.agent, PATH=trap.path).code == -signal.SIGKILL
    landed = sandbox.git("rev-parse", branch_of(sandbox))
    assert sandbox.mileposts(landed) == ["1.1"]
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert sandbox.mileposts() == ["1.1"]
    assert sandbox.git("rev-parse", "HEAD") == landed


def test_rule_5_a_git_that_outlives_its_engine_holds_the_next_engine_back(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    gate = sandbox.home / "gate"
    os.mkfifo(gate)
    orphan = f'mkdir "$log.once" && echo waiting >>"$log" && read _ <"{gate}" && echo going on >>"$log"'
    trap = trapped_git(sandbox, f'case "$*" in write-tree) {orphan} ;; esac; exec "$git" "$@"')

    def start(*words: str) -> subprocess.Popen[bytes]:
        environment, quiet = {**sandbox.environment, "PATH": trap.path}, subprocess.DEVNULL
        return subprocess.Popen(sandbox.argv(*words), cwd=sandbox.repo, env=environment, stdout=quiet, stderr=quiet)

    first = start("run", "--agent", sandbox.agent)
    wait_until(lambda: "waiting" in trap.lines)
    first.kill()
    first.wait()
    seen = len(trap.lines)
    second = start("resume")
    wait_until(lambda: len(trap.lines) > seen)
    with suppress(subprocess.TimeoutExpired):
        second.wait(1)  # long enough to go wrong
    holder = json.loads((places.state(sandbox.repo) / "lock").read_text())["pid"]
    gate.write_text("go\n")
    assert second.wait(300) == 0
    assert holder == first.pid, "nobody took the lock while the orphan was at work"
    after = trap.lines[seen:]
    first_checkout = next(number for number, line in enumerate(after) if "read-tree" in line)
    assert after.index("going on") < first_checkout
    assert sandbox.mileposts() == ["1.1"]


def test_rule_6_locks_and_checkouts_that_a_killed_engine_left_are_stale(sandbox: Sandbox) -> None:
    left = killed_at_work(sandbox)
    branch = branch_of(sandbox)
    run = branch.removeprefix("milepost/")
    for ref in (f"refs/heads/{branch}", f"refs/milepost/{run}/1.1/1", "refs/notes/milepost"):
        sandbox.write(f".git/{ref}.lock", "")
    (left.parent / "index.lock").touch()
    shutil.rmtree(left / ".git", ignore_errors=True)  # or killed before it was there
    let_the_agent_be_quick(sandbox)
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert sandbox.mileposts() == ["1.1"]
    assert not any((sandbox.home / ".cache/milepost").glob("*/*"))


def running(script: Path) -> list[Path]:
    """The processes that have a script in their command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(script).encode() in (process / "cmdline").read_bytes():
                found.append(process)
    return found


def test_rule_7_nothing_that_an_agent_started_outlives_the_engine(sandbox: Sandbox) -> None:
    """Only the engine is killed, not its group, and the agent's child has left for a session of its own."""
    script = sandbox.home.parent / "agent" / "fork.py"
    script.write_text(
        "import os, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    os.fork()\n"
        "open(f'pid-{os.getpid()}', 'w').close()\ntime.sleep(600)\n"
    )
    sandbox.roadmap(ONE)
    process = sandbox.start("run", "--agent", f"command:python3 {script}")
    trees = (sandbox.home / ".cache/milepost").glob
    wait_until(lambda: len(list(trees("*/*/tree/pid-*"))) == 3)
    # By what they run: a guest may have numbers of its own.
    assert len(running(script)) >= 3
    process.kill()
    process.communicate()
    wait_until(lambda: not running(script))
