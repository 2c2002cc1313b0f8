"""Faults of the machine and of the user's day: each ends in a state that `resume` goes on from."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests import places
from tests.e2e.conftest import Sandbox
from tests.e2e.test_bad_input import fill, mounted
from tests.e2e.test_chaos import wait_until
from tests.e2e.test_together import wait_for
from tests.slow import slow

WAITING = "- [ ] 1.1 Wait\n  - write a.txt hello\n  - wait\n  - Verify: grep -q hello a.txt\n"
QUICK = WAITING.replace("  - wait\n", "")
NEXT = "- [ ] 1.2 Next\n  - write b.txt b\n  - Depends on: 1.1\n  - Verify: test -f b.txt\n"
FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
MOST_MEMORY_KB = 400_000


def at_work(machine: Sandbox) -> bool:
    """Whether the agent has begun to write."""
    return any((machine.home / ".cache/milepost").glob("*/*/tree/a.txt"))


def branch_of(machine: Sandbox) -> str:
    return machine.git("branch", "--list", "--format=%(refname:short)", "milepost/*")


def goes_on(machine: Sandbox, *tasks: str) -> None:
    """`resume` ends the run, with one milepost a task."""
    resumed = machine.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert machine.mileposts() == [*tasks]
    assert machine.git("fsck", "--no-dangling") == ""


def test_a_run_that_is_terminated_ends_the_step_in_flight_and_goes_on_later(sandbox: Sandbox) -> None:
    sandbox.roadmap(WAITING + NEXT)
    process = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: at_work(sandbox))
    process.send_signal(signal.SIGTERM)
    wait_for(process, {"stopping after the running steps"})
    sandbox.let_go()
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130, stderr
    assert "milepost resume" in stdout
    goes_on(sandbox, "1.1", "1.2")


def test_a_terminal_that_is_closed_ends_the_run_and_it_goes_on_in_another(sandbox: Sandbox) -> None:
    sandbox.roadmap(WAITING + NEXT)
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which `nohup make test` would have it ignore
        os.chdir(sandbox.repo)
        argv = sandbox.argv("run", "--agent", sandbox.agent)
        os.execve(argv[0], argv, {**sandbox.environment, "TERM": "xterm"})
    wait_until(lambda: at_work(sandbox))
    os.close(terminal)
    sandbox.let_go()
    assert os.waitpid(pid, 0)[1] != 0
    goes_on(sandbox, "1.1", "1.2")


@slow
def test_a_hundred_megabytes_of_output_are_bounded_for_agents_and_for_checks(sandbox: Sandbox) -> None:
    sandbox.write("flood.sh", "head -c 100000000 /dev/zero | tr '\\0' x | fold -w 1000\necho x > a.txt\n")
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.roadmap(
        "- [ ] 1.1 Loud agent\n  - Agent: command:sh flood.sh\n  - Verify: test -f a.txt\n"
        "- [ ] 1.2 Loud check\n  - Verify: sh flood.sh\n"
        "- [ ] 1.3 Quiet\n  - Verify: test -f b.txt\n"
    )
    answer, memory_kb = measured(sandbox, "run", "--agent", "command:touch b.txt", "--json")
    assert answer.count("wrote more than 64000000 bytes") >= 2, answer
    assert memory_kb < MOST_MEMORY_KB
    assert sandbox.mileposts(branch_of(sandbox)) == ["1.3"], answer
    kept = sum(path.stat().st_size for path in places.state(sandbox.repo).rglob("*") if path.is_file())
    assert kept < 20_000_000
    assert sandbox.milepost("resume").stdout.startswith("nothing to do")


@slow
def test_a_thousand_tasks_are_planned_begun_stopped_and_gone_on_with(sandbox: Sandbox) -> None:
    item = "- [ ] T{0:04} Write {0}\n  - write f/{0}.txt x\n  - Verify: test -f f/{0}.txt\n"
    sandbox.roadmap("".join(item.format(number) for number in range(1, 1001)))
    assert len(sandbox.milepost("plan", "--json").json["tasks"]) == 1000
    done = 0
    for words in (("run", "--agent", sandbox.agent, "--parallel", "2"), ("resume",)):
        process = sandbox.start_cold(*words)
        wait_until(partial(has_more_than, sandbox, done), 300)
        assert peak_memory_kb(process.pid) < MOST_MEMORY_KB
        assert "resume it at any time" in sandbox.milepost("stop").stdout
        process.communicate(timeout=60)
        assert process.returncode == 130
        posts = sandbox.mileposts(branch_of(sandbox))
        assert len(posts) == len(set(posts)) > done, "it goes on, and nothing is done twice"
        done = len(posts)


def has_more_than(machine: Sandbox, mileposts: int) -> bool:
    branch = branch_of(machine)
    return bool(branch) and len(machine.mileposts(branch)) > mileposts


def peak_memory_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def measured(machine: Sandbox, *words: str) -> tuple[str, int]:
    """What a command printed, and the most memory that it or one of its children took."""
    printed = machine.home / "printed"
    with printed.open("w") as file:
        process = subprocess.Popen(
            machine.argv(*words), cwd=machine.repo, env=machine.environment, stdout=file, stderr=file
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return printed.read_text(), used.ru_maxrss


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_disk_that_is_full_while_an_agent_works_parks_the_run_until_there_is_space(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    place = tmp_path / "cache"
    place.mkdir()
    if not mounted("tmpfs", place, "-o", "size=12m"):
        pytest.skip("this machine does not let a tmpfs be mounted")
    sandbox.roadmap(WAITING + NEXT)
    try:
        process = sandbox.start("run", "--agent", sandbox.agent, MILEPOST_CHECKOUTS=str(place / "milepost"))
        wait_until(lambda: any(place.glob("milepost/*/*-act/tree/a.txt")))
        fill(place / "filler", shutil.disk_usage(place).free)
        sandbox.let_go()
        _, stderr = process.communicate(timeout=300)
        assert process.returncode == 1 and "Traceback" not in stderr
        assert "milepost resume" in stderr, stderr
        (place / "filler").unlink()
        resumed = sandbox.milepost("resume", MILEPOST_CHECKOUTS=str(place / "milepost"))
        assert resumed.code == 0, resumed.stderr
        assert sandbox.mileposts() == ["1.1", "1.2"]
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_locks_of_another_git_stop_nothing_for_good_and_stay_where_they_are(sandbox: Sandbox) -> None:
    """One on the run's branch parks the run; one on the user's index leaves their tree to them."""
    sandbox.roadmap(WAITING + NEXT)
    process = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: at_work(sandbox))
    sandbox.write(f".git/refs/heads/{branch_of(sandbox)}.lock", "")
    sandbox.let_go()
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 1 and ".lock" in stderr and "milepost resume" in stderr, stderr
    index = sandbox.write(".git/index.lock", "held by somebody else\n")
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    branch = branch_of(sandbox)
    assert f"git merge --ff-only {branch}" in resumed.stdout
    assert sandbox.mileposts(branch) == ["1.1", "1.2"]
    assert index.read_text() == "held by somebody else\n"
    index.unlink()
    assert sandbox.git("status", "--porcelain") == "" and sandbox.mileposts() == []


CLOCK = """\
import os, pathlib, time
real, place = time.time, pathlib.Path(os.environ["CLOCK"])
time.time = lambda: real() + int(place.read_text())
time.time_ns = lambda: int(time.time() * 1e9)
"""
DAY = 86_400


def test_a_clock_that_jumps_back_while_a_run_works_and_forth_before_it_goes_on(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Python's own clock: libfaketime cannot move the wall clock alone, it takes the pauses with it."""
    (tmp_path / "sitecustomize.py").write_text(CLOCK)
    clock = tmp_path / "clock"
    clock.write_text(str(400 * DAY))
    faked = {"PYTHONPATH": str(tmp_path), "CLOCK": str(clock)}
    sandbox.roadmap(WAITING.replace("  - wait", "  - fail-first\n  - wait") + NEXT)
    process = sandbox.start("run", "--agent", sandbox.agent, **faked)
    wait_until(lambda: at_work(sandbox))
    clock.write_text(str(-400 * DAY))
    sandbox.let_go()
    wait_until(lambda: sandbox.git("for-each-ref", "refs/milepost/*/1.1/1") != "", 90)
    process.kill()
    process.communicate()
    clock.write_text(str(800 * DAY))
    resumed = sandbox.milepost("resume", **faked)
    assert resumed.code == 0, resumed.stderr
    assert sandbox.mileposts() == ["1.1", "1.2"]


@pytest.mark.skipif(FAKETIME is None, reason="libfaketime is not installed")
@slow
def test_a_run_goes_on_where_every_clock_is_a_year_behind_the_one_it_began_with(sandbox: Sandbox) -> None:
    sandbox.roadmap(WAITING + NEXT)
    process = sandbox.start("run", "--agent", sandbox.agent, LD_PRELOAD=str(FAKETIME), FAKETIME="+400d")
    wait_until(lambda: at_work(sandbox))
    process.kill()
    process.communicate()
    sandbox.let_go()
    goes_on(sandbox, "1.1", "1.2")


@slow
def test_a_roadmap_that_is_edited_while_it_runs_stays_as_the_user_left_it(sandbox: Sandbox) -> None:
    sandbox.roadmap(WAITING)
    process = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: at_work(sandbox))
    mine = WAITING + "\nA thought of mine.\n"
    sandbox.write("ROADMAP.md", mine)
    sandbox.let_go()
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    branch = branch_of(sandbox)
    assert (sandbox.repo / "ROADMAP.md").read_text() == mine
    assert sandbox.git("status", "--porcelain") == " M ROADMAP.md"
    assert f"git merge --ff-only {branch}" in stdout, "whose turn it is now is told"
    assert "- [x] 1.1" in sandbox.git("show", f"{branch}:ROADMAP.md")


def test_submodules_and_pointers_to_large_files_are_neither_fetched_nor_changed(sandbox: Sandbox) -> None:
    library = replace(sandbox, repo=sandbox.home / "library")
    library.repo.mkdir()
    library.git("init", "--quiet")
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.com")):
        library.git("config", key, value)
    library.write("lib.txt", "a library\n")
    library.commit("Library")
    sandbox.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.repo), "library")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 1048576\n"
    sandbox.write("large.bin", pointer)
    sandbox.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    sandbox.roadmap(QUICK.replace("hello a.txt\n", "hello a.txt && grep -q oid large.bin\n"))
    ran = sandbox.home / "ran"
    for part in ("clean", "smudge", "process"):
        sandbox.git("config", f"filter.lfs.{part}", f"touch {ran}; cat")
    sandbox.git("config", "filter.lfs.required", "true")
    answer = sandbox.run()
    assert answer.code == 0, answer.stderr
    branch = branch_of(sandbox)
    assert f"git merge --ff-only {branch}" in answer.stdout, "content filters are for the user's own git"
    assert not ran.exists()
    assert sandbox.git("diff", "--name-only", "HEAD", branch).split() == ["ROADMAP.md", "a.txt"]
    assert (sandbox.repo / "large.bin").read_text() == pointer
    assert (sandbox.repo / "library/lib.txt").exists()


@slow
def test_a_repository_of_fifty_thousand_files_gets_its_milepost(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", '[verify]\nlevel = "files"\nenvironment = "off"\n')
    sandbox.commit()
    ref, blob = sandbox.git("rev-parse", "--symbolic-full-name", "HEAD"), "x\n"
    files = "".join(f"M 100644 :1 data/{number % 250}/{number}.txt\n" for number in range(50_000))
    roadmap = QUICK
    stream = (
        f"blob\nmark :1\ndata {len(blob)}\n{blob}\nblob\nmark :2\ndata {len(roadmap)}\n{roadmap}\n"
        f"commit {ref}\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 5\nMany\n"
        f"from {ref}^0\nM 100644 :2 ROADMAP.md\n{files}\n"
    )
    words = ["git", "fast-import", "--quiet"]
    subprocess.run(words, cwd=sandbox.repo, env=sandbox.environment, input=stream, text=True, check=True)
    sandbox.git("reset", "--quiet", "--hard")
    sandbox.write("data/0/0.txt", "mine\n")
    process = sandbox.start("run", "--agent", sandbox.agent)
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 0, stderr
    branch = branch_of(sandbox)
    assert sandbox.git("status", "--porcelain") == " M data/0/0.txt"
    assert f"git merge --ff-only {branch}" in stdout
    assert sandbox.git("diff", "--name-only", "HEAD", branch).split() == ["ROADMAP.md", "a.txt"]
