"""Roadmap, git and database brought to agree; tasks that were renamed; roadmaps that are folders."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from milepost.core.errors import RoadmapUnwritable
from milepost.engine.rewriting import rewrite
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
    assert "opened   1.1  One: it was taken back by" in sandbox.milepost("sync").stdout
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
    assert any("as before in this run" in event.get("what", "") for event in told)
    branch = told[-1]["branch"]
    assert len(sandbox.mileposts(branch)) == 1
    assert "- [x] Write the first file there is" in sandbox.git("show", f"{branch}:ROADMAP.md")


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

    with pytest.raises(RoadmapUnwritable, match="changes while it is read"):
        rewrite(path, restless)
