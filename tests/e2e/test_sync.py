"""Roadmap, git and database brought to agree; tasks that were renamed; roadmaps that are folders."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path

import pytest

from milepost.core.errors import RoadmapUnwritable
from milepost.engine.authoring.write_file import rewrite
from tests.e2e.conftest import Sandbox

ROADMAP = """# Plan

- [ ] 1.1 One
  - Files: one.txt
  - Verify: grep -q one one.txt
  - write one.txt one
- [ ] Write the second file
  - Files: two.txt
  - Verify: grep -q two two.txt
  - write two.txt two
- [x] 3.1 Long ago
"""


def kinds(answer: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(one["kind"], one["task"].partition("-")[0]) for one in answer]


def test_sync_ticks_what_has_a_milepost_opens_what_was_taken_back_and_says_the_rest(sandbox: Sandbox) -> None:
    sandbox.roadmap(ROADMAP)
    assert sandbox.run().code == 0
    found = sandbox.milepost("sync", "--json").json
    assert kinds(found["mismatches"]) == [("by hand", "")]
    assert not found["changed"]

    path = sandbox.repo / "ROADMAP.md"
    ticked = path.read_text()
    path.chmod(0o640)
    path.write_bytes(ticked.replace("[x] 1.1", "[ ] 1.1").encode())
    looked = sandbox.milepost("sync", "--dry-run")
    assert "ticked" in looked.stdout
    assert "nothing was changed" in looked.stdout
    assert path.read_text() != ticked
    told = sandbox.milepost("sync").stdout
    assert "1.1  One: its milepost" in told
    assert "ROADMAP.md was changed" in told
    assert path.read_text() == ticked
    assert stat.S_IMODE(path.stat().st_mode) == 0o640

    assert sandbox.milepost("undo", "1.1").code == 0
    opened = path.read_text()
    assert "[ ] 1.1" in opened
    path.write_text(opened.replace("[ ] 1.1", "[x] 1.1"))
    assert "opened   1.1  One: it was undone by" in sandbox.milepost("sync").stdout
    assert path.read_text() == opened


def test_a_task_that_was_renamed_keeps_its_history_and_that_is_said(sandbox: Sandbox) -> None:
    sandbox.roadmap(ROADMAP)
    assert sandbox.run().code == 0
    path = sandbox.repo / "ROADMAP.md"
    path.write_text(path.read_text().replace("Write the second file", "Write the second file of all"))
    sandbox.commit("Rename")
    plan = sandbox.milepost("plan", "--json").json
    new = next(task["id"] for task in plan["tasks"] if task["title"] == "Write the second file of all")
    assert [(one["id"], one["title"]) for one in plan["renamed"]] == [(new, "Write the second file")]
    assert f"renamed  {new}" in sandbox.milepost("plan").stdout
    assert ("renamed", "write") in kinds(sandbox.milepost("sync", "--json").json["mismatches"])
    assert sandbox.milepost("proof", new, "--json").json["verdict"] == "passed"
    assert sandbox.milepost("attempts", new).code == 0
    assert sandbox.milepost("diff", new).stdout.count("+two") == 1
    assert sandbox.milepost("undo", new).code == 0
    assert "- [ ] Write the second file of all" in path.read_text()
    assert not (sandbox.repo / "two.txt").exists()


def test_a_task_renamed_while_it_is_worked_on_is_done_once_and_ticked_under_its_new_name(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] Write the first file\n  - Verify: grep -q one one.txt\n  - wait\n  - write one.txt one\n")
    path = sandbox.repo / "ROADMAP.md"
    told = []
    with sandbox.start("run", "--agent", sandbox.agent, "--json") as running:
        assert running.stdout is not None
        for event in map(json.loads, running.stdout):
            told.append(event)
            if event.get("stage") == "act":
                path.write_text(path.read_text().replace("the first file", "the first file there is"))
            elif event["event"] == "steered":
                sandbox.let_go()
    assert running.wait() == 0
    assert any("keeps its old id in this run" in event.get("what", "") for event in told)
    branch = told[-1]["branch"]
    assert len(sandbox.mileposts(branch)) == 1
    assert "- [x] Write the first file there is" in sandbox.git("show", f"{branch}:ROADMAP.md")
    new = sandbox.milepost("plan", "--json").json["tasks"][0]["id"]
    take_in = told[-1]["by_hand"].partition("   (")[0]
    assert subprocess.run(take_in, shell=True, cwd=sandbox.repo, env=sandbox.environment).returncode == 0
    assert "- [x] Write the first file there is" in path.read_text()
    assert sandbox.milepost("proof", new, "--json").json["verdict"] == "passed"
    assert kinds(sandbox.milepost("sync", "--json").json["mismatches"]) == [("renamed", "write")]


def test_a_roadmap_is_changed_whole_and_not_over_what_somebody_wrote_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "ROADMAP.md"
    path.write_bytes(b"a\r\n")
    (tmp_path / "link.md").symlink_to(path)

    def slow(content: bytes) -> bytes:
        if content == b"a\r\n":
            path.write_bytes(b"b\r\n")
        return content + b"!"

    assert rewrite(tmp_path / "link.md", slow)
    assert path.read_bytes() == b"b\r\n!"
    assert (tmp_path / "link.md").is_symlink()
    assert not rewrite(path, lambda content: content)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ROADMAP.md", "link.md"]
    turn = iter(range(99))

    def restless(content: bytes) -> bytes:
        path.write_bytes(str(next(turn)).encode())
        return content + b"!"

    with pytest.raises(RoadmapUnwritable, match="keeps changing while it is read"):
        rewrite(path, restless)


def test_undo_opens_what_its_milepost_ticked_and_nothing_else(sandbox: Sandbox) -> None:
    text = "- [ ] 1.1 Both\n  - [x] by hand\n  - [ ] by it\n  - Verify: grep -q one one.txt\n  - write one.txt one\n"
    sandbox.roadmap(text)
    assert sandbox.run().code == 0
    assert (sandbox.repo / "ROADMAP.md").read_text() == text.replace("[ ]", "[x]")
    assert sandbox.milepost("undo", "1.1").code == 0
    assert (sandbox.repo / "ROADMAP.md").read_text() == text


def test_a_proof_is_of_its_own_roadmap(sandbox: Sandbox) -> None:
    sandbox.write("a.md", "- [ ] 1.1 Fails\n  - Verify: grep -q never one.txt\n  - write one.txt one\n")
    sandbox.write("b.md", "- [ ] 1.1 Never tried\n")
    sandbox.commit("Roadmaps")
    sandbox.milepost("run", "a.md", "--agent", sandbox.agent)
    assert sandbox.milepost("proof", "1.1", "--roadmap", "a.md").code == 0
    other = sandbox.milepost("proof", "1.1", "--roadmap", "b.md")
    assert other.code == 2 and "there is neither a milepost nor an attempt for task '1.1'" in other.stderr


def test_a_roadmap_that_pretends_to_be_a_folder_names_no_file(sandbox: Sandbox) -> None:
    victim = sandbox.write("victim.txt", "mine\n")
    hostile = f"\x1c{victim}\x1d---\nid: T-1\ntitle: do it\nstatus: To Do\n---\n"
    sandbox.roadmap(hostile)
    sandbox.git("commit", "--quiet", "--allow-empty", "--message", "T-1: x\n\nMilepost-Task: T-1\nMilepost-Run: abcd\n")
    for words in (("sync",), ("plan",), ("run", "--agent", sandbox.agent)):
        refused = sandbox.milepost(*words)
        assert refused.code == 2 and "starts with a control character" in refused.stderr
    assert victim.read_text() == "mine\n"


def test_tasks_that_are_numbered_anew_while_they_are_worked_on_are_ticked_and_others_are_not(sandbox: Sandbox) -> None:
    task = "- [ ] {} Make the {} file\n  - Verify: grep -q {} {}.txt\n  - wait\n  - write {}.txt {}\n"
    sandbox.roadmap(task.format("1.1", *"xxxxx"))
    with sandbox.start("run", "--agent", sandbox.agent, "--json") as running:
        assert running.stdout is not None
        for event in map(json.loads, running.stdout):
            if event.get("stage") == "act" and event["task"] == "1.1":
                sandbox.roadmap(f"- [ ] 1.1 Plan the release\n{task.format('1.2', *'xxxxx')}")
            elif event["event"] == "steered":
                sandbox.let_go()
    branch = event["branch"]
    assert "- [ ] 1.1 Plan the release" in sandbox.git("show", f"{branch}:ROADMAP.md")
    assert "- [x] 1.2 Make the x file" in sandbox.git("show", f"{branch}:ROADMAP.md")
