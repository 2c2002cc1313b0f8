"""Undo: one milepost is taken back alone, wherever it is, and nothing else moves."""

from __future__ import annotations

import os
import signal

from milepost.core.events import TaskFinished
from milepost.engine.records.journal import Journal
from tests.e2e.conftest import Sandbox
from tests.e2e.test_chaos import wait_until
from tests.integration.repositories import everything
from tests.places import state

THREE = "# Plan\n\n" + "".join(
    f"- [ ] 1.{n} Task {n}\n  - write {n}.txt {n}\n  - Verify: test -f {n}.txt\n" for n in (1, 2, 3)
)


def test_undo_follows_the_users_own_edits_of_the_roadmap_and_refuses_a_tree_with_changes(sandbox: Sandbox) -> None:
    sandbox.roadmap(THREE)
    assert sandbox.run("--parallel", "1").code == 0
    first, second, third = (sandbox.repo / "ROADMAP.md").read_text().split("- [x] ")[1:]
    moved = f"# Plan\n\n- [x] {third}\n## Later\n\n- [x] {first}"
    sandbox.write("ROADMAP.md", moved)
    before = everything(sandbox.repo, but=(".git/milepost", ".git/objects"))
    dirty = sandbox.milepost("undo", "1.1")
    assert dirty.code == 1 and "uncommitted" in dirty.stderr
    assert everything(sandbox.repo, but=(".git/milepost", ".git/objects")) == before

    sandbox.commit("Move one task, drop another")
    assert sandbox.milepost("undo", "1.1").code == 0, "its line moved"
    assert (sandbox.repo / "ROADMAP.md").read_text() == moved.replace("- [x] 1.1", "- [ ] 1.1")
    assert sandbox.milepost("undo", "1.2").code == 0, "its line is gone"
    assert (sandbox.repo / "ROADMAP.md").read_text() == moved.replace("- [x] 1.1", "- [ ] 1.1")
    assert sorted(path.name for path in sandbox.repo.glob("*.txt")) == ["3.txt"]
    assert second and sandbox.milepost("undo", "1.2").code == 2, "it is undone already"
    assert sandbox.git("status", "--porcelain") == ""


def test_undo_reaches_mileposts_of_earlier_runs_that_are_not_merged_yet(sandbox: Sandbox) -> None:
    sandbox.roadmap(THREE)
    sandbox.write("README.md", "edited\n")
    assert sandbox.run("--max-tasks", "1").code == 0
    answer = sandbox.run("--max-tasks", "1", "--json")
    assert answer.code == 0
    branch = answer.events[-1]["branch"]
    undone = sandbox.milepost("undo", "1.1")
    assert undone.code == 0 and branch in undone.stdout
    with Journal.look(state(sandbox.repo) / "milepost.db") as journal:
        [last] = [journal.events(one.run)[-1].event for one in journal.runs()[1:]]
    assert isinstance(last, TaskFinished) and (last.task, last.verdict, last.commit) == ("1.1", None, None)
    assert sandbox.milepost("undo", "1.1").code == 2, "it is undone already"
    assert (sandbox.repo / "README.md").read_text() == "edited\n"
    sandbox.git("checkout", "--quiet", "README.md")
    sandbox.git("merge", "--quiet", "--ff-only", branch)
    assert sorted(path.name for path in sandbox.repo.glob("*.txt")) == ["2.txt"]
    assert "- [ ] 1.1" in (sandbox.repo / "ROADMAP.md").read_text()


def test_undo_does_not_pull_the_branch_from_under_an_interrupted_run(sandbox: Sandbox) -> None:
    slow = "- [ ] 2.1 Slow\n  - write s.txt s\n  - sleep {}\n  - Depends on: 1.1\n  - Verify: test -f s.txt\n"
    sandbox.roadmap("- [ ] 1.1 Quick\n  - write q.txt q\n  - Verify: test -f q.txt\n" + slow.format(60))
    process = sandbox.start("run", "--agent", sandbox.agent)
    wait_until(lambda: any((sandbox.home / ".cache/milepost").glob("*/*/tree/s.txt")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    branch = sandbox.git("branch", "--list", "--format=%(refname:short)", "milepost/*")
    assert sandbox.mileposts(branch) == ["1.1"]
    answer = sandbox.milepost("undo", "1.1")
    assert answer.code == 1 and "milepost resume" in answer.stderr
    assert sandbox.mileposts(branch) == ["1.1"]


def test_two_roadmaps_in_one_repository_may_use_the_same_ids(sandbox: Sandbox) -> None:
    for name in ("a", "b"):
        sandbox.write(
            f"{name}/ROADMAP.md", f"- [ ] 1.1 Thing of {name}\n  - write {name}/f x\n  - Verify: test -f {name}/f\n"
        )
    sandbox.commit()
    for name in ("a", "b"):
        assert sandbox.milepost("run", f"{name}/ROADMAP.md", "--agent", sandbox.agent).code == 0
    assert "Thing of a" in sandbox.milepost("proof", "1.1", "--roadmap", "a/ROADMAP.md").stdout
    assert sandbox.milepost("undo", "1.1", "--roadmap", "a/ROADMAP.md").code == 0
    assert not (sandbox.repo / "a/f").exists() and (sandbox.repo / "b/f").exists()
    assert "- [ ] 1.1" in (sandbox.repo / "a/ROADMAP.md").read_text()
    assert "- [x] 1.1" in (sandbox.repo / "b/ROADMAP.md").read_text()
