"""Roadmaps of other forms, folders and groups, from the command line to the commits and back."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import Sandbox

EMOJI = """# Plan

- ✅ 1.1 Long ago
- ⚪ 1.2 Two
  - Verify: grep -q two two.txt
  - write two.txt two
- ⚪ 1.3 Three
  - Verify: grep -q three three.txt
  - write three.txt three
"""


def test_a_guess_is_run_only_when_somebody_says_that_it_is_right(sandbox: Sandbox) -> None:
    path = sandbox.write("TODO.md", EMOJI)
    sandbox.commit("Roadmap")
    refused = sandbox.run()
    assert refused.code == 2
    assert "error: TODO.md has no boxes: its tasks are a guess (emoji), and a run costs money" in refused.stderr
    assert "milepost run --dialect emoji" in refused.stderr
    done = sandbox.run("--dialect", "emoji")
    assert done.code == 0, done.stderr
    assert path.read_text() == EMOJI.replace("⚪", "✅")
    assert sorted(sandbox.mileposts()) == ["1.2", "1.3"]

    assert sandbox.milepost("undo", "1.3", "1.2").code == 0
    assert path.read_text() == EMOJI, "the sign comes back as it was, though no other is left to learn it from"


def test_what_has_no_box_is_done_once_and_known_from_its_milepost(sandbox: Sandbox) -> None:
    text = "# Things\n\n## Next\n\n- 1.1 One\n  - Verify: grep -q one one.txt\n  - write one.txt one\n"
    path = sandbox.write("ROADMAP.md", text)
    sandbox.write("milepost.toml", '[roadmap]\ndialect = "bullets"\n')
    sandbox.commit("Roadmap")
    assert "no checkbox" in sandbox.milepost("plan").stdout
    assert sandbox.run().code == 0
    assert path.read_text() == text
    assert sandbox.mileposts() == ["1.1"]
    assert sandbox.milepost("plan", "--json").json["tasks"][0]["status"] == "done"
    again = sandbox.run()
    assert again.code == 0
    assert "all 1 tasks are done" in again.stdout + again.stderr
    assert sandbox.mileposts() == ["1.1"]
    assert sandbox.milepost("undo", "1.1").code == 0
    assert sandbox.milepost("plan", "--json").json["tasks"][0]["status"] == "open"


def page(number: int, status: str, more: str = "") -> str:
    return (
        f"---\nid: BACK-{number}\ntitle: Write file {number}\nstatus: {status}\n{more}---\n\n## Description\n\n"
        f"Verify: grep -q {number} {number}.txt\n\nwrite {number}.txt {number}\n"
    )


def test_a_folder_with_a_file_a_task_is_worked_on_page_by_page(sandbox: Sandbox) -> None:
    sandbox.write("backlog/tasks/back-1 - One.md", page(1, "To Do", "dependencies: [BACK-2]\n"))
    sandbox.write("backlog/tasks/back-2 - Two.md", page(2, "In Progress"))
    sandbox.write("backlog/tasks/back-3 - Three.md", page(3, "Done"))
    sandbox.commit("Roadmap")
    plan = sandbox.milepost("plan", "--json").json
    assert plan["waves"] == [["BACK-2"], ["BACK-1"]]
    assert {task["page"] for task in plan["tasks"]} == {
        "back-1 - One.md",
        "back-2 - Two.md",
        "back-3 - Three.md",
    }
    done = sandbox.run()
    assert done.code == 0, done.stderr
    first = (sandbox.repo / "backlog/tasks/back-1 - One.md").read_text()
    assert first == page(1, "Done", "dependencies: [BACK-2]\n")
    assert sandbox.mileposts() == ["BACK-2", "BACK-1"]
    changed = sandbox.git("show", "--name-only", "--format=", "HEAD").splitlines()
    assert changed == ["1.txt", "backlog/tasks/back-1 - One.md"]
    assert sandbox.milepost("undo", "BACK-1").code == 0
    assert "status: To Do" in (sandbox.repo / "backlog/tasks/back-1 - One.md").read_text()
    told = sandbox.milepost("sync", "--json").json
    assert [(one["kind"], one["task"]) for one in told["mismatches"]] == [("by hand", "")], "BACK-3 has no milepost"
    assert not told["changed"]


def test_the_tasks_of_task_master_are_worked_on_and_its_file_keeps_its_form(sandbox: Sandbox) -> None:
    tasks = [
        {"id": 1, "title": "One", "status": "pending", "dependencies": [], "details": "write one.txt one"},
        {"id": 2, "title": "Two", "status": "done", "dependencies": [1], "details": ""},
    ]
    text = json.dumps({"master": {"tasks": tasks}}, indent=4) + "\n"
    path = sandbox.write(".taskmaster/tasks/tasks.json", text)
    sandbox.commit("Roadmap")
    plan = sandbox.milepost("plan", "--json").json
    assert [(task["id"], task["status"]) for task in plan["tasks"]] == [("1", "open"), ("2", "done")]
    sandbox.run()  # nothing can prove it: it is held, and the file is as it was
    assert path.read_text() == text
    assert not sandbox.mileposts()


GROUPED = """## Files

- [ ] 1.1 Write `one.txt`
  - Files: both/
  - Verify: grep -q one both/one.txt
  - write both/one.txt one
- [ ] 1.2 Write `two.txt`
  - Files: both/
  - Verify: grep -q two both/two.txt
  - write both/two.txt two
- [ ] 1.3 After both
  - Depends on: 1.2
  - Verify: grep -q three three.txt
  - write three.txt three
"""


def test_a_group_is_one_attempt_and_one_milepost_that_ticks_and_proves_all_of_it(sandbox: Sandbox) -> None:
    sandbox.roadmap(GROUPED)
    events = sandbox.run("--group", "smart", "--json").events
    last = events[-1]
    assert [(task["id"], task["verdict"]) for task in last["tasks"]] == [
        ("1.1", "passed"),
        ("1.2", "passed"),
        ("1.3", "passed"),
    ], last
    assert last["tasks"][0]["commit"] == last["tasks"][1]["commit"] != last["tasks"][2]["commit"]
    assert sandbox.mileposts() == ["1.1", "1.3"]
    assert (sandbox.repo / "ROADMAP.md").read_text() == GROUPED.replace("[ ]", "[x]")
    proof = sandbox.milepost("proof", "1.2", "--json").json
    assert (proof["task"], proof["verdict"]) == ("1.1", "passed")
    asked = " ".join(" ".join(check["argv"]) for check in proof["checks"])
    assert "grep -q one both/one.txt" in asked and "grep -q two both/two.txt" in asked
    assert sandbox.milepost("verify", "1.2", "--replay").code == 0
    assert sandbox.milepost("sync").stdout.endswith("agree\n")
    alone = sandbox.milepost("undo", "1.2")
    assert alone.code == 2 and "1.2 was done together with 1.1, in one milepost" in alone.stderr
    assert "depends on 1.1" in sandbox.milepost("undo", "1.1").stderr
    assert sandbox.milepost("undo", "1.1", "--with-dependents").code == 0
    assert (sandbox.repo / "ROADMAP.md").read_text() == GROUPED


def test_a_group_that_is_too_much_for_one_attempt_is_done_task_by_task(sandbox: Sandbox) -> None:
    agent = Path(sandbox.agent.split()[-1])
    slow = (
        "import json, os, time\nif 'belongs together' in json.load(open(os.environ['MILEPOST_ASSIGNMENT']))['text']:\n"
    )
    agent.write_text(f"{slow}    time.sleep(600)\n{agent.read_text()}")
    sandbox.write("milepost.toml", "[limits]\ntask_timeout_s = 6\n")
    sandbox.roadmap(GROUPED)
    done = sandbox.run("--group", "smart", "--json")
    ends = [(task["id"], task["verdict"]) for task in done.events[-1]["tasks"]]
    assert ends == [("1.1", "passed"), ("1.2", "passed"), ("1.3", "passed")], done.events[-1]
    assert sorted(sandbox.mileposts()) == ["1.1", "1.2", "1.3"]


def test_a_task_that_is_named_is_not_put_together_with_others(sandbox: Sandbox) -> None:
    sandbox.roadmap(GROUPED)
    done = sandbox.run("--group", "smart", "--task", "1.2")
    assert done.code == 0, done.stderr
    assert sandbox.mileposts() == ["1.2"]
    assert (sandbox.repo / "ROADMAP.md").read_text() == GROUPED.replace("[ ] 1.2", "[x] 1.2")


def test_each_innermost_box_can_be_a_task_and_the_box_above_is_ticked_with_the_last(sandbox: Sandbox) -> None:
    text = (
        "- [ ] 1 All\n  - [ ] 1.1 One\n    - Verify: grep -q one one.txt\n    - write one.txt one\n"
        "  - [ ] 1.2 Two\n    - Verify: grep -q two two.txt\n    - write two.txt two\n"
    )
    sandbox.write("milepost.toml", '[plan]\nunit = "subtask"\n')
    sandbox.roadmap(text)
    assert sandbox.run("--task", "1.1").code == 0
    assert (sandbox.repo / "ROADMAP.md").read_text() == text.replace("[ ] 1.1", "[x] 1.1")
    assert sandbox.run().code == 0
    assert (sandbox.repo / "ROADMAP.md").read_text() == text.replace("[ ]", "[x]")
    assert sandbox.milepost("undo", "1.2").code == 0
    assert (sandbox.repo / "ROADMAP.md").read_text() == text.replace("[ ] 1.1", "[x] 1.1")
