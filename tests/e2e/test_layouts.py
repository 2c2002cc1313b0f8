"""Repositories as people have them: every layout gets its milepost, and what the user is in the middle of is left."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until
from tests.integration.repositories import everything, marking, marks
from tests.integration.test_workspace_git import HOOKS, PROGRAMS, SWITCHES
from tests.slow import sampled

ONE = "- [ ] 1.1 Write it\n  - write a.txt hello\n  - Verify: grep -q hello a.txt && git log -1 && git diff HEAD\n"
WAITING = "- [ ] 1.1 Wait\n  - write a.txt hello\n  - sleep {}\n  - Verify: grep -q hello a.txt\n"


def linked_worktree(machine: Sandbox) -> Sandbox:
    machine.git("worktree", "add", "--quiet", "-b", "side", str(machine.home / "side"))
    return replace(machine, repo=machine.home / "side")


def sha256_with_the_roadmap_in_a_folder(machine: Sandbox) -> Sandbox:
    there = replace(machine, repo=machine.home / "sha256")
    shutil.copytree(machine.repo, there.repo / "docs", ignore=shutil.ignore_patterns(".git"))
    there.git("init", "--quiet", "--object-format=sha256")
    there.git("config", "user.email", "ada@example.com")
    there.git("config", "user.name", "Ada")
    there.commit()
    return there


def shallow_clone(machine: Sandbox) -> Sandbox:
    machine.git("clone", "--quiet", "--depth=1", f"file://{machine.repo}", str(machine.home / "shallow"))
    return replace(machine, repo=machine.home / "shallow")


def borrowed_objects_and_odd_path(machine: Sandbox) -> Sandbox:
    there = machine.home / "with space" / "ünï'code"
    there.parent.mkdir()
    machine.git("clone", "--quiet", "--shared", str(machine.repo), str(there))
    return replace(machine, repo=there)


def detached_with_packed_refs(machine: Sandbox) -> Sandbox:
    machine.git("checkout", "--quiet", "--detach")
    machine.git("gc", "--quiet")
    return machine


@pytest.mark.parametrize(
    "laid_out",
    sampled(
        [
            linked_worktree,
            shallow_clone,
            sha256_with_the_roadmap_in_a_folder,
            detached_with_packed_refs,
            borrowed_objects_and_odd_path,
        ],
        2,
    ),
)
def test_a_milepost_lands_in_every_layout(sandbox: Sandbox, laid_out: Callable[[Sandbox], Sandbox]) -> None:
    sandbox.roadmap(ONE)
    there = laid_out(sandbox)
    decoy = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index", "GIT_WORK_TREE": "/"}  # as in a hook
    answer = there.milepost("run", "--agent", there.agent, **decoy)
    assert answer.code == 0, answer.stderr
    assert (there.repo / "a.txt").read_text() == "hello\n"
    assert there.mileposts() == ["1.1"]
    assert there.git("status", "--porcelain") == ""
    assert there.git("fsck", "--no-dangling") == ""
    assert '"verdict": "passed"' in there.git("notes", "--ref=milepost", "show", "HEAD")


def test_a_run_starts_no_program_that_the_repository_configures(sandbox: Sandbox) -> None:
    sandbox.write(".gitattributes", "*.txt filter=mark diff=mark merge=mark\n")
    sandbox.roadmap(ONE)
    for hook in HOOKS:
        (sandbox.repo / ".git/hooks" / hook).symlink_to(marking(sandbox.home, hook))
    included = sandbox.home / "included"
    for key, value in ({key: marking(sandbox.home, key) for key in PROGRAMS} | SWITCHES).items():
        sandbox.git("config", "--file", str(included), key, value)
    sandbox.git("config", "include.path", str(included))
    answer = sandbox.run("--json")
    assert marks(sandbox.home) == []
    assert answer.code == 0, answer.stderr
    last = answer.events[-1]
    assert last["by_hand"] == f"git merge --ff-only {last['branch']}", "content filters are for the user's own git"
    sandbox.git("config", "--unset", "include.path")
    sandbox.git("config", "core.hooksPath", "/dev/null")
    assert sandbox.git("show", f"{last['branch']}:a.txt") == "hello"
    assert sandbox.mileposts(last["branch"]) == ["1.1"]


def mid_rebase(machine: Sandbox) -> None:
    machine.git("-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "--quiet", "-i", "HEAD~1")


def file_in_the_way(machine: Sandbox) -> None:
    machine.write(".git/info/exclude", "a.txt\n")
    machine.write("a.txt", "mine, and in no commit\n")


@pytest.mark.parametrize("busy", [mid_rebase, file_in_the_way])
def test_what_the_user_is_in_the_middle_of_is_left_as_it_is(sandbox: Sandbox, busy: Callable[[Sandbox], None]) -> None:
    sandbox.roadmap(ONE)
    busy(sandbox)
    ours = ("objects", "refs/milepost", "refs/milepost-train", "refs/heads/milepost", "refs/notes", "logs", "ORIG_HEAD")
    but = (".git/milepost", *(f".git/{each}" for each in ours))
    before = everything(sandbox.repo, but=but)
    answer = sandbox.run("--json")
    assert answer.code == 0, answer.stderr
    assert everything(sandbox.repo, but=but) == before
    last = answer.events[-1]
    assert last["by_hand"] == f"git merge --ff-only {last['branch']}"
    assert sandbox.mileposts(last["branch"]) == ["1.1"]


def started(machine: Sandbox, seconds: float) -> subprocess.Popen[str]:
    """A run whose agent is at work."""
    machine.roadmap(WAITING.format(seconds))
    process = machine.start("run", "--json", "--agent", machine.agent)
    wait_until(lambda: any((machine.home / ".cache/milepost").glob("*/*/tree/a.txt")))
    return process


def test_a_user_who_goes_on_working_meanwhile_is_told_how_to_merge(sandbox: Sandbox) -> None:
    process = started(sandbox, 0.5)
    sandbox.write("mine.txt", "mine\n")
    sandbox.commit("Mine")
    head = sandbox.git("rev-parse", "HEAD")
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert sandbox.git("rev-parse", "HEAD") == head
    branch = sandbox.git("branch", "--list", "--format=%(refname:short)", "milepost/*")
    assert f'"by_hand": "git merge {branch}"' in stdout
    proof = sandbox.milepost("proof", "1.1", "--json").json
    assert proof["commit"] == sandbox.git("rev-parse", branch), "it is found before it is merged"
    undo = sandbox.milepost("undo", "1.1")
    assert undo.code == 1 and f"git merge {branch}" in undo.stderr
    sandbox.git("merge", "--quiet", "--no-edit", branch)
    assert sandbox.milepost("undo", "1.1").code == 0
    assert not (sandbox.repo / "a.txt").exists() and (sandbox.repo / "mine.txt").exists()


def test_a_branch_that_somebody_moved_is_not_overwritten_and_the_run_can_go_on(sandbox: Sandbox) -> None:
    process = started(sandbox, 0.5)
    branch = sandbox.git("branch", "--list", "--format=%(refname:short)", "milepost/*")
    theirs = sandbox.git("commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}")
    sandbox.git("update-ref", f"refs/heads/{branch}", theirs)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1 and "moved by somebody else" in stderr
    assert sandbox.git("rev-parse", branch) == theirs

    advice = stderr.partition("git update-ref ")[2].split()[:2]
    sandbox.git("update-ref", *advice)
    resumed = sandbox.milepost("resume", "--json")
    assert resumed.code == 0, resumed.stderr
    assert not [event for event in resumed.events if event.get("stage") == "act"], "nothing is done again"
    assert sandbox.mileposts() == ["1.1"]


def test_a_run_does_not_pull_its_branch_from_under_a_user_who_looks_at_it(sandbox: Sandbox) -> None:
    process = started(sandbox, 0.5)
    branch = sandbox.git("branch", "--list", "--format=%(refname:short)", "milepost/*")
    sandbox.git("checkout", "--quiet", branch)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1 and "is checked out" in stderr
    assert sandbox.git("status", "--porcelain") == ""
    sandbox.git("checkout", "--quiet", "main")
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert sandbox.mileposts() == ["1.1"]
