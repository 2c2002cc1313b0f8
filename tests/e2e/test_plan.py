"""`milepost plan` as a user has it, and a run that follows it."""

from __future__ import annotations

import json
import subprocess

from tests.e2e.conftest import Sandbox

IMPORTING = (
    "- [ ] 1.1 Use the words\n  - append cli.py print(1)\n  - Files: cli.py\n  - Verify: grep -q 'print' cli.py\n"
    "- [ ] 1.2 Change the words\n  - append words.py W=2\n  - Files: words.py\n  - Verify: grep -q W words.py\n"
)


def committed(sandbox: Sandbox, **files: str) -> None:
    for name, text in files.items():
        sandbox.write(name.replace("_", "."), text)
    sandbox.git("add", "--all")
    sandbox.git("commit", "--quiet", "--message", "files")


def test_a_problem_is_fatal_when_it_is_asked_to_be(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Make it nicer\n")
    relaxed, strict = sandbox.milepost("plan"), sandbox.milepost("plan", "--strict")
    assert (relaxed.code, strict.code) == (0, 1)
    assert '1.1 "Make it nicer" is vague (nicer)' in relaxed.stdout
    assert "with --strict each one is fatal" in strict.stdout
    assert sandbox.milepost("plan", "--strict", "--json").code == 1
    sandbox.roadmap("- [ ] 1.1 Write `a.txt`\n  - Verify: test -f a.txt\n")
    assert sandbox.milepost("plan", "--strict").code == 0


def test_a_fatal_problem_needs_no_flag(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 One\n  - Depends on: 1.2\n- [ ] 1.2 Two\n  - Depends on: 1.1\n")
    answer = sandbox.milepost("plan")
    assert answer.code == 1 and "error: 1.1 → 1.2 → 1.1: each waits for the next" in answer.stdout


def test_a_plan_for_machines_says_what_waits_and_why(sandbox: Sandbox) -> None:
    sandbox.roadmap(IMPORTING)
    committed(sandbox, cli_py="import words\n", words_py="")
    found = sandbox.milepost("plan", "--json").json
    assert found["waves"] == [["1.2"], ["1.1"]]
    assert found["waits"] == [{"task": "1.1", "after": "1.2", "why": "imports", "because": "cli.py imports words.py"}]
    assert (found["critical_path"], found["proposals"], found["problems"]) == (["1.2", "1.1"], [], [])
    assert [task["depends_on"] for task in found["tasks"]] == [[], []]
    assert "after 1.2 (cli.py imports words.py)" in sandbox.milepost("plan").stdout


def test_a_run_does_tasks_in_the_order_of_their_imports(sandbox: Sandbox) -> None:
    sandbox.roadmap(IMPORTING)
    committed(sandbox, cli_py="import words\n", words_py="")
    answer = sandbox.run("--json", "--parallel", "2")
    assert answer.code == 0, answer.stderr
    begun = [event["task"] for event in answer.events if event["event"] == "stage_started" and event["stage"] == "act"]
    ended = [event["task"] for event in answer.events if event["event"] == "task_finished"]
    assert begun == ended == ["1.2", "1.1"]


def test_a_run_keeps_the_order_of_the_roadmap_where_it_is_asked_to(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "- [ ] 1.1 One\n  - write a.txt a\n  - Verify: test -f a.txt\n"
        "- [ ] 1.2 Two\n  - write b.txt b\n  - Verify: test -f c.txt\n"
        "- [ ] 1.3 Three\n  - write c.txt c\n  - Verify: test -f c.txt\n"
    )
    answer = sandbox.run("--json", "--parallel", "3", "--order", "outline")
    tasks = {task["id"]: (task["verdict"], task["reason"]) for task in answer.events[-1]["tasks"]}
    assert (tasks["1.1"][0], tasks["1.2"][0]) == ("passed", "failed")
    assert tasks["1.3"] == (None, "waits for 1.2")
    assert sandbox.milepost("plan", "--order", "sideways").code == 2


def test_a_task_of_a_run_is_not_held_up_by_one_that_was_not_asked_for(sandbox: Sandbox) -> None:
    sandbox.roadmap(IMPORTING)
    committed(sandbox, cli_py="import words\n", words_py="")
    assert sandbox.run("--task", "1.1").code == 0


def test_a_graph_is_text_for_other_programs(sandbox: Sandbox) -> None:
    sandbox.roadmap(IMPORTING)
    committed(sandbox, cli_py="import words\n", words_py="")
    mermaid, dot = (sandbox.milepost("plan", "--graph", form).stdout for form in ("mermaid", "dot"))
    assert mermaid.startswith("flowchart LR\n") and '  t2 -.->|"cli.py imports words.py"| t1' in mermaid
    assert dot.startswith("digraph plan {\n") and 't2 -> t1 [label="cli.py imports words.py", style=dashed];' in dot
    assert sandbox.milepost("plan", "--graph", "png").code == 2


def test_settings_and_flags_say_which_tasks_share_an_attempt(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Sort `rows`\n  - Verify: a\n- [ ] 1.2 Colour `rows`\n  - Verify: b\n")
    sandbox.write("milepost.toml", '[plan]\ngroup = "smart"\n')
    leader = sandbox.milepost("plan", "--json").json["tasks"][0]
    assert (leader["members"], leader["verify"]) == (["1.2"], ["a", "b"])
    assert "members" not in sandbox.milepost("plan", "--json", "--group", "none").json["tasks"][0]


def test_programs_and_files_are_looked_for_where_they_would_be_used(sandbox: Sandbox) -> None:
    sandbox.roadmap(
        "- [ ] 1.1 Fix rounding\n  - Files: src/dration.py\n  - Verify: no-such-program --all\n"
        "- [ ] 1.2 Fix more\n  - Files: src/duration.py\n  - Verify: sh ./check.sh\n"
    )
    sandbox.write("src/duration.py", "")
    told = " ".join(sandbox.milepost("plan").stdout.split())
    assert "1.1 names src/dration.py, which does not exist: did you mean src/duration.py?" in told
    assert "1.1 is verified by `no-such-program`, not found on this machine" in told
    assert "2 things to check" in told


def test_a_plan_of_many_tasks_is_short_where_it_can_be(sandbox: Sandbox) -> None:
    sandbox.roadmap("".join(f"- [ ] 1.{number} Do thing {number}\n" for number in range(1, 301)))
    short, long = sandbox.milepost("plan"), sandbox.milepost("plan", "--all")
    assert len(short.stdout.splitlines()) < 320 and "milepost plan --all lists them" in short.stdout
    assert len(long.stdout.splitlines()) > 600


def test_a_plan_outside_of_a_repository_is_a_plan(sandbox: Sandbox) -> None:
    folder = sandbox.home / "elsewhere"
    folder.mkdir()
    (folder / "ROADMAP.md").write_text("- [ ] 1.1 Fix it\n  - Files: nothing.py\n  - Verify: true\n")
    done = subprocess.run(
        sandbox.argv("plan", "--json"), cwd=folder, env=sandbox.environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["problems"] == []
