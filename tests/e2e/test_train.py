"""Work that was done side by side ends in one history, and each step of it was verified as it stands there."""

from __future__ import annotations

import json

from tests.e2e.conftest import Sandbox
from tests.e2e.test_interruption import heard_until
from tests.slow import slow


def test_work_that_is_right_alone_and_wrong_together_does_not_land(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "# Roadmap\n\n"
        "- [ ] A1 Quick\n  - write a.txt one\n  - Verify: test -f a.txt\n"
        "- [ ] A2 Alone only\n  - write b.txt two\n  - wait\n  - Verify: test -f b.txt -a ! -f a.txt\n"
        "- [ ] A3 Behind it\n  - write c.txt three\n  - wait\n  - Verify: test -f c.txt\n"
    )
    process = sandbox.start("run", "--agent", sandbox.agent, "--parallel", "3", "--json")
    assert process.stdout is not None
    heard = list(heard_until("milepost_made", process.stdout))
    sandbox.let_go()
    heard += process.stdout
    process.communicate(timeout=300)
    ends = {task["id"]: task["verdict"] for task in json.loads(heard[-1])["tasks"]}
    assert ends == {"A1": "passed", "A2": "failed", "A3": "passed"}, heard
    assert sandbox.mileposts() == ["A1", "A3"]
    assert not (sandbox.repo / "b.txt").exists()


@slow
def test_work_is_not_blamed_for_what_is_before_it(sandbox: Sandbox) -> None:
    sandbox.write("milepost.toml", "[limits]\nattempts = 1\n")
    sandbox.roadmap(
        "# Roadmap\n\n"
        "- [ ] A1 Quick\n  - write a.txt one\n  - Verify: test -f a.txt\n"
        "- [ ] A2 Alone only\n  - write b.txt two\n  - sleep 1\n"
        "  - Verify: bash -c 'test ! -f a.txt || sleep 3; test -f b.txt -a ! -f a.txt'\n"
        "- [ ] A3 Behind it\n  - write c.txt three\n  - sleep 2\n"
        "  - Verify: bash -c 'test -f c.txt && ! test -f b.txt'\n"
    )
    answer = sandbox.run("--parallel", "3", "--json")
    ends = {task["id"]: task["verdict"] for task in answer.events[-1]["tasks"]}
    assert ends == {"A1": "passed", "A2": "failed", "A3": "passed"}, answer.stdout


@slow
def test_in_order_what_waits_for_a_later_task_does_not_hold_it_up_for_ever(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "# Roadmap\n\n"
        "- [ ] K1 First\n  - append s.txt one\n  - Files: s.txt\n  - Approve: before\n  - Verify: grep -q one s.txt\n"
        "- [ ] K2 Second\n  - append s.txt two\n  - Files: s.txt\n  - Verify: grep -q two s.txt\n"
    )
    assert sandbox.run("--parallel", "2", "--ordered").code == 1
    assert sandbox.milepost("approve", "K1").code == 0
    resumed = sandbox.milepost("resume")
    assert resumed.code == 0, resumed.stderr
    assert sorted(sandbox.mileposts()) == ["K1", "K2"]


def test_mileposts_land_in_the_order_of_the_plan_when_that_is_asked_for(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "# Roadmap\n\n"
        "- [ ] K1 First\n  - sleep 2\n  - write a.txt one\n  - Verify: test -f a.txt\n"
        "- [ ] K2 Second\n  - write b.txt two\n  - Verify: test -f b.txt\n"
        "- [ ] K3 Third\n  - write c.txt three\n  - Verify: test -f c.txt\n"
    )
    answer = sandbox.run("--parallel", "3", "--ordered")
    assert answer.code == 0, answer.stderr
    assert sandbox.mileposts() == ["K1", "K2", "K3"]


def test_two_tasks_that_add_a_line_at_the_same_place_need_no_agent_to_be_merged(sandbox: Sandbox) -> None:
    sandbox.write("CHANGELOG.md", "# Changelog\n\n- start\n")
    sandbox.roadmap(
        "# Roadmap\n\n"
        "- [ ] C1 One\n  - append CHANGELOG.md - one\n  - sleep 1\n  - Verify: grep -q one CHANGELOG.md\n"
        "- [ ] C2 Two\n  - append CHANGELOG.md - two\n  - sleep 1\n  - Verify: grep -q two CHANGELOG.md\n"
    )
    answer = sandbox.run("--parallel", "2", "--json")
    assert answer.code == 0, answer.stdout
    assert [task["attempts"] for task in answer.events[-1]["tasks"]] == [1, 1]
    assert sorted((sandbox.repo / "CHANGELOG.md").read_text().split("\n- ")[1:]) == ["one", "start", "two\n"] or (
        sorted((sandbox.repo / "CHANGELOG.md").read_text().split("\n- ")[1:]) == ["one\n", "start", "two"]
    )
    for task in ("C1", "C2"):
        proof = sandbox.milepost("proof", task, "--json").json
        assert proof["tree"] == sandbox.git("rev-parse", f"{proof['commit']}^{{tree}}"), json.dumps(proof)
