"""The seven rules that make kill -9 harmless, each broken on purpose by a git that stands in for the worst moment."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until

ONE = "- [ ] 1.1 Write it\n  - write a.txt hello\n  - Verify: grep -q hello a.txt\n"
SLOW = "- [ ] 1.1 Slow\n  - write a.txt hello\n  - sleep 60\n  - Verify: grep -q hello a.txt\n"
QUICK = "command:cp README.md a.txt"


class TrappedGit:
    """A git on PATH that does something terrible, once, around one command; `log` tells what it saw."""

    def __init__(self, machine: Sandbox, when: str, *, before: str = "", after: str = "") -> None:
        folder = machine.home.parent / "trap"
        folder.mkdir()
        self.log = folder / "log"
        self.log.touch()
        self.path = f"{folder}:{machine.environment['PATH']}"
        self._machine = machine
        real = shutil.which("git")
        (folder / "git").write_text(
            f'#!/bin/sh\nlog="{self.log}"\ntrapped=\n'
            f'case "$*" in {when}) mkdir "{folder}/once" 2>/dev/null && trapped=yes ;; esac\n'
            f'if [ "$trapped" ]; then\n:\n{before}\nfi\n'
            f'{real} "$@"\ncode=$?\n'
            f'if [ "$trapped" ]; then\n:\n{after}\nfi\nexit $code\n'
        )
        (folder / "git").chmod(0o755)

    @property
    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()


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


def test_rule_1_truth_is_a_commit_and_a_checkout_is_made_anew_from_it(sandbox: Sandbox) -> None:
    left = killed_at_work(sandbox)
    (left / "stale.txt").write_text("left by the killed one\n")
    (left / "README.md").write_text("hello, also from the killed one\n")
    answer = sandbox.milepost("run", "--new", "--json", "--agent", "command:cp ROADMAP.md a.txt")
    assert answer.code == 0, answer.stderr
    assert sandbox.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["README.md", "ROADMAP.md", "a.txt"]
    assert (sandbox.repo / "README.md").read_text() == "A project\n"


def test_rule_2_a_commit_made_again_after_a_crash_is_the_same_commit(sandbox: Sandbox) -> None:
    trap = TrappedGit(sandbox, '*"notes --ref"*" add "*', before="kill -9 $PPID; exit 1")
    sandbox.roadmap(ONE)
    dead = sandbox.milepost("run", "--agent", sandbox.agent, PATH=trap.path)
    assert dead.code == -signal.SIGKILL
    unreachable = sandbox.git("fsck", "--unreachable", "--no-reflogs").splitlines()
    (made,) = [line.split()[2] for line in unreachable if line.split()[1] == "commit"]
    assert sandbox.milepost("resume").code == 0
    assert sandbox.git("rev-parse", "HEAD") == made


def test_rule_3_a_branch_that_moved_since_it_was_looked_at_is_not_moved(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    theirs = sandbox.git("commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}")
    real = shutil.which("git")
    move = f'{real} update-ref "$(for each; do case "$each" in refs/*) echo "$each";; esac; done)" {theirs}'
    trap = TrappedGit(sandbox, '*"update-ref refs/heads/milepost/"*" "*" "*', before="")
    script = Path(trap.path.partition(":")[0], "git")
    # The first move of the branch makes it; the second lands the milepost, and is the one to be raced.
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *"update-ref refs/heads/milepost/"*)\n'
        f'echo moved >>"{trap.log}"\n[ "$(wc -l <"{trap.log}")" = 2 ] && {move} ;;\nesac\nexec {real} "$@"\n'
    )
    answer = sandbox.milepost("run", "--agent", sandbox.agent, PATH=trap.path)
    assert answer.code == 1 and "Traceback" not in answer.stderr
    assert sandbox.git("rev-parse", branch_of(sandbox)) == theirs


def test_rule_4_a_milepost_that_landed_before_the_crash_is_not_landed_again(sandbox: Sandbox) -> None:
    """The branch moved and the engine died before it could write that down."""
    sandbox.roadmap(ONE)
    trap = TrappedGit(sandbox, '*"notes --ref"*" add "*', after=f'echo armed >"{sandbox.home}/armed"')
    script = Path(trap.path.partition(":")[0], "git")
    lethal = script.read_text().replace(
        "exit $code\n",
        f'case "$*" in *"update-ref refs/heads/milepost/"*)\n'
        f'if [ -e "{sandbox.home}/armed" ]; then rm "{sandbox.home}/armed"; kill -9 $PPID; fi ;;\nesac\nexit $code\n',
    )
    script.write_text(lethal)
    dead = sandbox.milepost("run", "--agent", sandbox.agent, PATH=trap.path)
    assert dead.code == -signal.SIGKILL
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
    trap = TrappedGit(
        sandbox, "write-tree", before=f'echo at the gate >>"$log"; read _ <"{gate}"; echo orphan went on >>"$log"'
    )
    script = Path(trap.path.partition(":")[0], "git")
    script.write_text(script.read_text().replace("trapped=\n", 'trapped=\necho "$*" >>"$log"\n', 1))
    environment = {**sandbox.environment, "PATH": trap.path}

    def start(*words: str) -> subprocess.Popen[bytes]:
        argv, quiet = sandbox.argv(*words), subprocess.DEVNULL
        return subprocess.Popen(argv, cwd=sandbox.repo, env=environment, stdout=quiet, stderr=quiet)

    first = start("run", "--agent", sandbox.agent)
    wait_until(lambda: "at the gate" in trap.lines)
    first.kill()
    first.wait()
    seen = len(trap.lines)
    second = start("resume")
    wait_until(lambda: len(trap.lines) > seen)
    with suppress(subprocess.TimeoutExpired):
        second.wait(1.5)  # long enough to go wrong
    held_back = second.poll() is None
    gate.write_text("go\n")
    assert second.wait(60) == 0 and held_back
    after = trap.lines[seen:]
    made = next(number for number, line in enumerate(after) if "read-tree" in line)
    assert after.index("orphan went on") < made, "no checkout was made while the orphan was at work"
    assert sandbox.mileposts() == ["1.1"]


def test_rule_6_locks_and_checkouts_that_a_killed_engine_left_are_stale(sandbox: Sandbox) -> None:
    left = killed_at_work(sandbox)
    sandbox.write("milepost.toml", f'[run]\nagent = "{QUICK}"\n')
    run = branch_of(sandbox).removeprefix("milepost/")
    for lock in (f"refs/heads/milepost/{run}", f"refs/milepost/{run}/1.1/1", "refs/notes/milepost"):
        sandbox.write(f".git/{lock}.lock", "")
    (left.parent / "index.lock").touch()
    shutil.rmtree(left / ".git")
    (sandbox.home.parent / "agent/agent.py").write_text("open('a.txt', 'w').write('hello')\n")
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert sandbox.mileposts() == ["1.1"]
    assert not any((sandbox.home / ".cache/milepost").glob("*/*"))


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
    pids = [path.name.removeprefix("pid-") for path in trees("*/*/tree/pid-*")]
    process.kill()
    process.communicate()
    wait_until(lambda: not any(Path("/proc", pid).exists() for pid in pids))
