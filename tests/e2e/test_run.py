"""From the command line to the commit."""

from __future__ import annotations

import json
import subprocess
import sys

from tests import places
from tests.e2e.conftest import Answer, Sandbox
from tests.e2e.test_chaos import wait_until

ONE = "# Roadmap\n\n- [ ] 1.1 Write it\n  - write a.txt hello\n  - Verify: grep -q hello a.txt\n"


def test_a_task_becomes_one_commit_with_its_tick_its_trailers_and_its_proof(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    answer = sandbox.run()
    assert answer.code == 0, answer.stderr
    assert sandbox.git("log", "-1", "--format=%an <%ae> %s") == "Ada <ada@example.com> 1.1: Write it"
    assert sorted(sandbox.git("show", "--format=", "--name-only", "HEAD").splitlines()) == ["ROADMAP.md", "a.txt"]
    assert (sandbox.repo / "ROADMAP.md").read_text() == ONE.replace("- [ ] 1.1", "- [x] 1.1")
    trailers = dict(
        line.split(": ", 1) for line in sandbox.git("log", "-1", "--format=%(trailers)").splitlines() if line
    )
    assert trailers["Milepost-Task"] == "1.1"
    assert trailers["Milepost-Verdict"] == "passed"
    assert trailers["Milepost-Attempt"] == "1"
    assert trailers["Milepost-Agent"] == sandbox.agent
    note = json.loads(sandbox.git("notes", "--ref=milepost", "show", "HEAD"))
    assert note["evidence"]["tree"] == sandbox.git("rev-parse", "HEAD^{tree}"), "what was proven is what was committed"
    assert sandbox.git("rev-parse", f"refs/milepost/{trailers['Milepost-Run']}/1.1/1")


def test_the_last_line_of_json_is_the_summary(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE + "- [ ] 1.2 Cannot work\n  - write b.txt b\n  - Verify: false\n")
    answer = sandbox.run("--json")
    assert answer.code == 1
    last = answer.events[-1]
    assert last["event"] == "run_finished"
    first, second = last["tasks"]
    head = sandbox.git("rev-parse", "HEAD")
    assert (first["id"], first["verdict"], first["commit"], first["attempts"]) == ("1.1", "passed", head, 1)
    assert (second["id"], second["verdict"], second["commit"]) == ("1.2", "failed", None)
    assert second["attempts"] == 2, "the same change twice is enough"
    assert "`false` exit 1" in second["reason"]
    assert last["branch"] == f"milepost/{last['run']}" and last["cost_usd"] == 0


def test_a_failed_verification_is_repaired_with_the_evidence(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Twice\n  - fail-first\n  - write a.txt good\n  - Verify: grep good a.txt\n")
    answer = sandbox.run("--json")
    assert answer.code == 0, answer.stderr
    assert answer.events[-1]["tasks"][0]["attempts"] == 2
    run = answer.events[-1]["run"]
    assert sandbox.git("show", f"refs/milepost/{run}/1.1/1:a.txt") == "BROKEN", "the failed attempt is kept"
    assert sandbox.mileposts() == ["1.1"]


def test_a_task_that_no_check_can_judge_stays_unticked(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Make it nicer\n  - write a.txt nicer\n")
    answer = sandbox.run("--json")
    assert answer.code == 1
    assert answer.events[-1]["tasks"][0]["verdict"] == "held"
    assert sandbox.mileposts() == []
    assert "- [ ] 1.1" in (sandbox.repo / "ROADMAP.md").read_text()
    assert sandbox.git("branch", "--list", "milepost/*") == "", "a run without a milepost leaves no branch"


def test_an_agent_that_changes_nothing_is_not_done_whatever_passes(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Nothing\n  - Verify: true\n")
    answer = sandbox.run("--json")
    assert answer.code == 1
    assert answer.events[-1]["tasks"][0]["verdict"] == "failed"
    assert "changed nothing" in answer.events[-1]["tasks"][0]["reason"]


def test_an_agent_that_ticks_its_own_box_has_done_nothing(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Lie\n  - write ROADMAP.md '- [x] 1.1 Lie'\n  - Verify: true\n")
    answer = sandbox.run("--json")
    assert answer.events[-1]["tasks"][0]["verdict"] == "failed"
    assert (sandbox.repo / "ROADMAP.md").read_text().startswith("- [ ] 1.1 Lie")


def test_an_agent_that_gives_up_fails_though_the_check_would_pass(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Quit\n  - write a.txt a\n  - exit 3\n  - Verify: test -f a.txt\n")
    answer = sandbox.run("--json")
    assert answer.code == 1
    assert "gave up" in answer.events[-1]["tasks"][0]["reason"]


def test_tasks_that_wait_for_a_failed_one_are_told_as_waiting(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "- [ ] 1.1 Fails\n  - write a.txt a\n  - Verify: false\n"
        "- [ ] 1.2 Waits\n  - write b.txt b\n  - Depends on: 1.1\n  - Verify: true\n"
    )
    tasks = sandbox.run("--json").events[-1]["tasks"]
    assert (tasks[1]["verdict"], tasks[1]["reason"], tasks[1]["attempts"]) == (None, "waits for 1.1", 0)


def test_parallel_tasks_that_change_the_same_line_both_land_one_on_top_of_the_other(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "- [ ] 1.1 One\n  - write same.txt both-one\n  - wait\n  - Verify: grep -q both-one same.txt\n"
        "- [ ] 1.2 Two\n  - write same.txt both-two\n  - wait\n  - Verify: grep -q both-two same.txt\n"
    )
    process = sandbox.start("run", "--agent", sandbox.agent, "--parallel", "2", "--json")
    wait_until(lambda: len([*(sandbox.home / ".cache/milepost").glob("*/*/tree/same.txt")]) == 2)
    sandbox.let_go()
    stdout, stderr = process.communicate(timeout=300)
    answer = Answer(process.returncode, stdout, stderr)
    assert answer.code == 0, answer.stdout
    attempts = sorted(task["attempts"] for task in answer.events[-1]["tasks"])
    assert attempts == [1, 2], "the second to arrive did its work again on top of the first"
    assert sorted(sandbox.mileposts()) == ["1.1", "1.2"]


def test_work_that_breaks_on_top_of_what_landed_meanwhile_does_not_land(sandbox: Sandbox) -> None:
    """Each passes alone; together they do not. The first to arrive wins, the other is refused."""
    sandbox.roadmap(
        "- [ ] 1.1 Left\n  - write left.txt l\n  - sleep 0.3\n  - Verify: test -f left.txt -a ! -f right.txt\n"
        "- [ ] 1.2 Right\n  - write right.txt r\n  - sleep 0.3\n  - Verify: test -f right.txt -a ! -f left.txt\n"
    )
    answer = sandbox.run("--parallel", "2", "--json")
    assert answer.code == 1
    verdicts = sorted(task["verdict"] for task in answer.events[-1]["tasks"])
    assert verdicts == ["failed", "passed"]
    assert len(sandbox.mileposts()) == 1


def test_the_users_dirty_tree_is_not_touched_and_the_one_command_is_named(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    sandbox.write("README.md", "edited\n")
    before = sandbox.git("rev-parse", "HEAD")
    answer = sandbox.run()
    assert answer.code == 0
    assert sandbox.git("rev-parse", "HEAD") == before
    assert (sandbox.repo / "README.md").read_text() == "edited\n"
    assert "your branch was not changed: your working tree has uncommitted changes" in answer.stdout
    command = next(line for line in answer.stdout.splitlines() if "git merge --ff-only" in line).split(":   ")[1]
    sandbox.git("checkout", "README.md")
    sandbox.git(*command.split()[1:])
    assert sandbox.mileposts() == ["1.1"]


def test_a_second_run_goes_on_from_mileposts_that_are_not_merged_yet(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE + "- [ ] 1.2 More\n  - write b.txt b\n  - Verify: test -f b.txt -a -f a.txt\n")
    sandbox.write("README.md", "edited\n")
    assert sandbox.run("--max-tasks", "1").code == 0
    answer = sandbox.run("--json")
    assert answer.code == 0, answer.stdout
    assert [task["id"] for task in answer.events[-1]["tasks"]] == ["1.2"], "1.1 is not done again"
    assert sandbox.mileposts(answer.events[-1]["branch"]) == ["1.1", "1.2"]
    again = sandbox.run()
    assert (again.code, "git merge --ff-only" in again.stdout) == (0, True)


def test_mileposts_that_wait_for_one_branch_are_not_brought_to_another(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE + "- [ ] 1.2 More\n  - write b.txt b\n  - Verify: test -f b.txt\n")
    sandbox.write("README.md", "edited\n")
    first = sandbox.run("--task", "1.1", "--json").events[-1]["branch"]
    again = sandbox.run("--task", "1.2")
    assert f"from {first}" in again.stderr and "not yet merged into" in again.stderr, "it says what it builds on"
    sandbox.git("checkout", "--quiet", "README.md")
    sandbox.git("checkout", "--quiet", "-b", "other")
    assert sandbox.run("--task", "1.2").code == 0
    assert sandbox.mileposts("other") == ["1.2"]


def test_a_user_who_goes_back_behind_a_milepost_gets_it_done_again(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    assert sandbox.run().code == 0
    sandbox.git("reset", "--quiet", "--hard", "HEAD^")
    assert sandbox.run().code == 0
    assert sandbox.mileposts() == ["1.1"]


def test_only_the_tasks_that_were_asked_for_are_done(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE + "- [ ] 1.2 Other\n  - write b.txt b\n  - Verify: test -f b.txt\n")
    answer = sandbox.run("--task", "1.2", "--json")
    assert answer.code == 0
    assert [task["id"] for task in answer.events[-1]["tasks"]] == ["1.2"]
    assert sandbox.mileposts() == ["1.2"]


def test_a_dry_run_shows_the_plan_and_changes_nothing(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    answer = sandbox.run("--dry-run")
    assert answer.code == 0 and "1.1" in answer.stdout
    assert not places.state(sandbox.repo).exists()


def test_a_test_of_the_project_that_breaks_fails_the_task(sandbox: Sandbox) -> None:
    sandbox.write("value.py", "VALUE = 1\n")
    sandbox.write(
        "test_value.py",
        "import unittest\nfrom value import VALUE\n\n\nclass Value(unittest.TestCase):\n"
        "    def test_value(self):\n        self.assertEqual(VALUE, 1)\n",
    )
    sandbox.roadmap("- [ ] 1.1 Break it\n  - write value.py 'VALUE = 2'\n  - Verify: grep -q 2 value.py\n")
    task = sandbox.run("--json").events[-1]["tasks"][0]
    assert task["verdict"] == "failed"
    assert "test_value" in task["reason"]


def test_mending_a_test_that_failed_before_is_proof_enough(sandbox: Sandbox) -> None:
    sandbox.write("value.py", "VALUE = 1\n")
    sandbox.write(
        "test_value.py",
        "import unittest\nfrom value import VALUE\n\n\nclass Value(unittest.TestCase):\n"
        "    def test_value(self):\n        self.assertEqual(VALUE, 2)\n",
    )
    sandbox.roadmap("- [ ] 1.1 Mend it\n  - write value.py 'VALUE = 2'\n")
    answer = sandbox.run("--json")
    assert answer.code == 0, answer.stdout


def test_undo_takes_back_one_milepost_alone_and_opens_its_box(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE + "- [ ] 1.2 More\n  - write b.txt b\n  - Verify: test -f b.txt\n")
    assert sandbox.run().code == 0
    answer = sandbox.milepost("undo", "1.1")
    assert answer.code == 0, answer.stderr
    assert not (sandbox.repo / "a.txt").exists() and (sandbox.repo / "b.txt").exists()
    roadmap = (sandbox.repo / "ROADMAP.md").read_text()
    assert "- [ ] 1.1" in roadmap and "- [x] 1.2" in roadmap
    assert sandbox.milepost("undo", "1.1").code == 2, "it is undone already"
    assert sandbox.run().code == 0, "and can be done again"
    assert "- [x] 1.1" in (sandbox.repo / "ROADMAP.md").read_text()


def test_undo_refuses_where_later_work_builds_on_it(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        ONE + "- [ ] 1.2 Same file\n  - write a.txt later\n  - Depends on: 1.1\n  - Verify: grep later a.txt\n"
    )
    assert sandbox.run().code == 0
    before = sandbox.git("rev-parse", "HEAD")
    answer = sandbox.milepost("undo", "1.1")
    assert answer.code == 1 and "a.txt" in answer.stderr
    assert sandbox.git("rev-parse", "HEAD") == before


def test_proof_log_and_status_tell_what_happened(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    assert sandbox.run().code == 0
    proof = sandbox.milepost("proof", "1.1", "--json").json
    assert (proof["task"], proof["verdict"], proof["commit"]) == ("1.1", "passed", sandbox.git("rev-parse", "HEAD"))
    assert proof["tree"] == sandbox.git("rev-parse", "HEAD^{tree}")
    verify = next(check for check in proof["checks"] if check["name"] == "verify")
    assert (verify["argv"], verify["exit_code"], verify["outcome"]) == (["grep", "-q", "hello", "a.txt"], 0, "passed")
    assert any(name.startswith("landlock") for name in proof["enforced"])
    assert "1.1" in sandbox.milepost("log").stdout
    assert sandbox.milepost("status", "--json").json["state"] == "finished"
    assert sandbox.milepost("proof", "9.9").code == 2


def test_the_proof_needs_only_git(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    assert sandbox.run().code == 0
    subprocess.run(["rm", "-r", str(places.state(sandbox.repo))], check=True)
    assert sandbox.milepost("proof", "1.1", "--json").json["verdict"] == "passed"


def test_secrets_reach_neither_agents_nor_what_is_kept(sandbox: Sandbox) -> None:
    secret = "s3cr3t-value-of-the-user"
    agent = sandbox.home.parent / "agent" / "leak.py"
    agent.write_text(
        "import os\nopen('seen.txt','w').write(os.environ.get('FAKE_API_KEY', 'nothing'))\n"
        f"print('the key is {secret}')\nprint(os.environ.get('GIVEN'))\n"
    )
    sandbox.write("milepost.toml", '[agents.command]\nenv_from = ["GIVEN"]\n')
    sandbox.roadmap(f"- [ ] 1.1 Leak\n  - Verify: sh -c 'grep nothing seen.txt && echo {secret[:6]}{secret[6:]}'\n")
    answer = sandbox.milepost(
        "run", "--json", "--agent", f"command:{sys.executable} {agent}", FAKE_API_KEY=secret, GIVEN="given-secret-value"
    )
    assert answer.code == 0, answer.stdout
    assert secret not in answer.stdout and "given-secret-value" not in answer.stdout
    kept = b"".join(path.read_bytes() for path in places.state(sandbox.repo).glob("milepost.db*"))
    assert b"given-secret-value" not in kept
    told = [event["text"] for event in answer.events if event["event"] == "agent_said"]
    assert told == ["the key is [secret]", "[secret]"]


def test_a_private_key_that_an_agent_prints_is_kept_nowhere(sandbox: Sandbox) -> None:
    agent = sandbox.home.parent / "agent" / "pem.py"
    body = "\n".join(f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{number:04d}" for number in range(26))
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    agent.write_text(f"import sys\nprint({key!r})\nprint('after')\nsys.exit(3)\n")
    sandbox.roadmap("- [ ] 1.1 Leak\n  - Verify: true\n")
    answer = sandbox.milepost("run", "--json", "--agent", f"command:{sys.executable} {agent}")
    assert "MIIE" not in answer.stdout and "after" in answer.stdout
    kept = b"".join(path.read_bytes() for path in places.state(sandbox.repo).glob("milepost.db*"))
    assert b"MIIE" not in kept


def test_a_secret_in_the_agents_command_line_is_refused_before_it_is_recorded(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    answer = sandbox.milepost("run", "--agent", "command:true --key s3cr3t-of-mine", MY_API_KEY="s3cr3t-of-mine")
    assert answer.code == 2
    assert "env_from" in answer.stderr and "s3cr3t" not in answer.stderr
    assert not places.state(sandbox.repo).exists()


def test_a_branch_that_has_the_name_of_ours_is_told_before_anything_starts(sandbox: Sandbox) -> None:
    sandbox.roadmap(ONE)
    sandbox.git("branch", "milepost")
    answer = sandbox.run()
    assert answer.code == 2 and "git branch -m milepost" in answer.stderr
    assert not places.state(sandbox.repo).exists()


def test_an_agent_object_that_breaks_has_given_up(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Break\n  - Verify: true\n")
    code = (
        "import milepost\n"
        "class Broken:\n"
        "    def act(self, assignment, workspace, tools):\n"
        "        tools.say('\\udce9')\n"
        "        raise ValueError('no idea')\n"
        "ending = milepost.run(agent=Broken())\n"
        "assert ending.tasks[0].reason == 'the agent gave up: ValueError: no idea', ending\n"
        "assert milepost.status().state == 'finished'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=sandbox.repo, env=sandbox.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_work_that_was_proven_again_lands_before_the_next_is_proven(sandbox: Sandbox) -> None:
    """Otherwise what was proven goes stale, and six tasks at once need twenty-one verifications."""
    tasks = "".join(
        f"- [ ] T{number} Task\n  - write f{number}.txt x\n  - sleep 0.5\n  - Verify: true\n  - Behaviour: same\n"
        for number in range(1, 7)
    )
    sandbox.roadmap(tasks)
    answer = sandbox.run("--parallel", "6", "--json")
    assert answer.code == 0, answer.stdout
    verifications = [event for event in answer.events if event.get("stage") == "verify"]
    assert len(verifications) <= 11
