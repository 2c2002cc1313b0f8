"""The agent `auto`: who is chosen for a task, and why; that a choice stays, and what is learnt from its end."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from tests.e2e.conftest import Answer, Sandbox

# Writes the files that the task names, badly where they end in what it is bad at.
WORKER = """\
import json, os, pathlib, sys
for name in json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))["files"]:
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(name).write_text("'bad'\\n" if name.endswith({bad_at!r}) else "'good'\\n")
"""


@pytest.fixture
def pair(sandbox: Sandbox) -> tuple[str, str]:
    """Two agents: one that fails at docs, one that fails at nothing."""
    folder = sandbox.home / "agents"
    folder.mkdir()
    (folder / "careless.py").write_text(WORKER.format(bad_at=".md"))
    (folder / "careful.py").write_text(WORKER.format(bad_at="/"))
    return f"command:{sys.executable} {folder}/careless.py", f"command:{sys.executable} {folder}/careful.py"


def set_up(sandbox: Sandbox, agents: Sequence[str], mode: str, more: str = "", *, parallel: int = 1) -> None:
    toml = f'[run]\nagent = "auto"\nparallel = {parallel}\n[limits]\nattempts = 1\n[router]\nmode = "{mode}"\n'
    sandbox.write("milepost.toml", f"{toml}agents = {json.dumps(list(agents))}\n{more}")


def tasks(*files: str, before: str = "") -> str:
    lines = (
        f"- [ ] T{place} Write {file}\n  - Files: {file}\n  - Verify: grep -q good {file}\n"
        for place, file in enumerate(files, 1)
    )
    return "# Roadmap\n\n" + before + "".join(lines)


def choices(answer: Answer) -> list[dict[str, Any]]:
    return [event for event in answer.events if event["event"] == "agent_chosen"]


def attempts(answer: Answer) -> list[tuple[str, str, str]]:
    return [
        (event["task"], event["agent"], event["verdict"])
        for event in answer.events
        if event["event"] == "attempt_finished"
    ]


def test_the_agent_that_fails_at_docs_is_measured_and_docs_go_to_the_other(
    sandbox: Sandbox, pair: tuple[str, str]
) -> None:
    careless, careful = pair
    set_up(sandbox, pair, "measured", "explore = 0.000001\n")
    sandbox.roadmap(tasks("docs/a.md", "docs/b.md", "docs/c.md"))
    learning = sandbox.milepost("run", "--json")
    assert learning.code == 0, learning.stderr
    assert [(one["task"], one["agent"], one["mode"]) for one in choices(learning)] == [
        (task, careless, "measured") for task in ("T1", "T2", "T3")
    ]
    assert attempts(learning) == [
        one for task in ("T1", "T2", "T3") for one in ((task, careless, "failed"), (task, careful, "passed"))
    ], "the others that were considered are the fallback"

    sandbox.roadmap(tasks("docs/d.md", "d.py"))
    foretold = sandbox.milepost("plan", "--json").json["chosen"]
    learnt = sandbox.milepost("run", "--json")
    assert learnt.code == 0, learnt.stderr
    docs, code = choices(learnt)
    assert docs["agent"] == foretold["T1"]["agent"] == careful
    assert docs["reason"] == foretold["T1"]["reason"] == f"3 of 3 docs tasks passed; {careless} 0 of 3"
    assert docs["considered"] == [careful, careless]
    assert code["reason"].startswith("no code task yet, 4 of 4 others passed"), "the first task is over by then"
    told = sandbox.milepost("events")
    assert "3 of 3 docs tasks passed" in told.stdout.replace("\n", ""), told.stdout


def test_turns_alternate_over_runs_and_stay_as_they_were_when_the_run_is_killed(
    sandbox: Sandbox, pair: tuple[str, str]
) -> None:
    one, two = pair
    set_up(sandbox, pair, "round-robin", parallel=2)
    sandbox.roadmap(tasks("a.py"))
    first = sandbox.milepost("run", "--json")
    assert [event["agent"] for event in choices(first)] == [one]

    sandbox.roadmap(tasks("b.py", "c.py", "d.py"))
    seen, trace = sandbox.home / "seen", sandbox.home / "trace"
    kills = 0
    while not seen.exists() or sum(line.endswith(" route") for line in seen.read_text().splitlines()) < 2:
        life = sandbox.milepost("run", MILEPOST_CHAOS_SEEN=str(seen), MILEPOST_CHAOS_TRACE=str(trace))
        assert life.code == -9, life.stderr
        kills += 1
    assert kills >= 3, "after the survey, and after each of the two first choices"
    end = sandbox.milepost("run", MILEPOST_CHAOS_TRACE=str(trace))
    assert end.code == 0, end.stderr
    made = [line for line in trace.read_text().splitlines() if line.startswith("made") and line.endswith(" route")]
    assert len(made) == len(set(made)) == 3, "no choice was made twice"
    log = sandbox.milepost("events", "--json")
    expected = [("T1", two), ("T2", one), ("T3", two)]
    assert [(event["task"], event["agent"]) for event in choices(log)] == expected
    assert sorted((task, agent) for task, agent, _ in attempts(log)) == expected


def test_what_is_fixed_by_trait_or_named_by_the_task_is_not_measured(sandbox: Sandbox, pair: tuple[str, str]) -> None:
    careless, careful = pair
    set_up(sandbox, pair, "fixed", f"[router.fixed]\ndocs = {json.dumps(careful)}\n")
    named = f"- [ ] N1 Name it\n  - Files: n.py\n  - Verify: grep -q good n.py\n  - Agent: {careful}\n"
    sandbox.roadmap(tasks("docs/a.md", "b.py", before=named))
    done = sandbox.milepost("run", "--json")
    assert done.code == 0, done.stderr
    assert [(one["task"], one["agent"], one["reason"]) for one in choices(done)] == [
        ("T1", careful, "set for docs tasks"),
        ("T2", careless, "the first that can work here"),
    ]
    assert sorted(attempts(done)) == [("N1", careful, "passed"), ("T1", careful, "passed"), ("T2", careless, "passed")]


def test_who_cannot_work_here_is_left_out_once_and_where_nobody_can_one_line_says_so(
    sandbox: Sandbox, pair: tuple[str, str]
) -> None:
    set_up(sandbox, ("command:no-such-program", pair[1]), "fixed")
    sandbox.roadmap(tasks("a.py", "b.py"))
    done = sandbox.milepost("run", "--json")
    assert done.code == 0, done.stderr
    start, *rest = choices(done)
    assert (start["task"], start["agent"], start["considered"]) == ("", "", [pair[1]])
    assert start["reason"] == "command:no-such-program is skipped: the program 'no-such-program' is not on PATH"
    assert [one["agent"] for one in rest] == [pair[1], pair[1]]

    set_up(sandbox, ("command:no-such-program", "tool"), "fixed")
    sandbox.roadmap(tasks("c.py"))
    refused = sandbox.milepost("run")
    assert refused.code == 2, refused.stderr
    assert "none of the agents under [router] can work here" in refused.stderr
    assert "no-such-program" in refused.stderr and "; tool: " in refused.stderr


def test_without_anybody_to_choose_among_auto_is_refused_and_a_plan_is_shown_all_the_same(sandbox: Sandbox) -> None:
    set_up(sandbox, (), "measured")
    sandbox.roadmap(tasks("a.py"))
    refused = sandbox.milepost("run")
    assert refused.code == 2
    assert "there are no agents to choose from" in refused.stderr
    plan = sandbox.milepost("plan")
    assert plan.code == 0
    assert "auto   the agent is 'auto', but there are no agents to choose from" in plan.stdout


def test_a_pattern_that_takes_exactly_what_the_task_gives_goes_before_any_agent(
    sandbox: Sandbox, pair: tuple[str, str]
) -> None:
    set_up(sandbox, pair, "fixed")
    sandbox.write("a.py", "first = 1\n")
    task = "- [ ] T1 Call it second\n  - Pattern: auto old=first new=second\n  - Verify: grep -q second a.py\n"
    sandbox.roadmap(f"# Roadmap\n\n{task}")
    done = sandbox.milepost("run", "--json")
    assert done.code == 0, done.stderr
    (choice,) = choices(done)
    assert (choice["agent"], choice["mode"]) == ("pattern:rename_symbol", "pattern")
    assert choice["considered"] == ["pattern:rename_symbol", *pair]
    assert sandbox.git("show", "HEAD:a.py") == "second = 1"
