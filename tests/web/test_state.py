"""The state of the page: the same events always give the same, and no kind of event is without its handler."""

from __future__ import annotations

from typing import Any, get_args

from milepost.core.events import Event
from tests.web.modules import Modules

RUN = "7f3a"
RESULT = """({empty, apply, weave, glance}, [events, older]) => {
    const state = empty(), first = [];
    for (const [seq, at, event] of events) { apply(state, seq, at, event); }
    for (const [seq, at, event] of events) { first.push(apply(state, seq, at, event).length); }
    const came = weave(state, older);
    const by = glance(state);
    return {
        standing: Object.fromEntries([...state.tasks.values()].map(task => [task.id, task.status])),
        task: state.tasks.get('1.1'), cost: state.cost, tokens: state.tokens, state: state.state,
        talk: state.talk.map(one => one.kind), lines: state.lines.text, kinds: state.lines.kind,
        running: [...state.running], commands: [...state.commands.values()], gates: by.gates.map(gate => gate.gate),
        again: first.some(Boolean), came, unknown: [...state.unknown], ends: state.ends.map(end => end.status),
        walls: state.walls, refusals: by.refusals,
    };
}"""


def told(modules: Modules, *events: dict[str, Any], older: tuple[tuple[int, dict[str, Any]], ...] = ()) -> Any:
    """What the page knows after these events, and after they were all applied once more."""
    rows = [
        [event.pop("seq", place * 10), 100.0 + place, {"run": RUN, **event}] for place, event in enumerate(events, 1)
    ]
    return modules.call("state.js", RESULT, [rows, [[seq, 100.0, {"run": RUN, **event}] for seq, event in older]])


def started(*tasks: str) -> dict[str, Any]:
    return {"event": "run_started", "branch": "milepost/7f3a", "tasks": list(tasks)}


def stage(task: str, attempt: int = 1, stage: str = "act") -> dict[str, Any]:
    return {"event": "stage_started", "task": task, "title": "T", "attempt": attempt, "stage": stage, "agent": "tool"}


def printed(command: str, *lines: str, errors: tuple[int, ...] = ()) -> dict[str, Any]:
    said = {"lines": list(lines), "errors": list(errors)}
    return {"event": "command_printed", "task": "1.1", "attempt": 1, "command": command, **said}


def command(name: str, about: str = "") -> dict[str, Any]:
    whose = {"task": "1.1", "attempt": 1, "by": "agent", "about": about}
    return {"event": "command_started", "command": name, "argv": name, **whose}


def ended(name: str, exit_code: int = 0) -> dict[str, Any]:
    how = {"exit_code": exit_code, "ending": f"exit {exit_code}", "duration_ms": 5, "unshown": 0}
    return {"event": "command_finished", "task": "1.1", "attempt": 1, "command": name, **how}


def test_every_event_of_the_engine_has_a_handler(modules: Modules) -> None:
    known = modules.call("state.js", "({KINDS}) => KINDS")

    assert sorted(known) == sorted(kind.__dataclass_fields__["event"].default for kind in get_args(Event))


def test_an_event_of_a_newer_engine_is_passed_over(modules: Modules) -> None:
    assert told(modules, started("1.1"), {"event": "weather_changed"})["unknown"] == ["weather_changed"]


def test_events_that_come_again_change_nothing(modules: Modules) -> None:
    assert told(modules, started("1.1"), stage("1.1"), command("c1"), printed("c1", "a"), ended("c1"))["again"] is False


def test_a_run_is_told_by_its_events_and_money_is_counted_once(modules: Modules) -> None:
    call = {"task": "1.1", "attempt": 1, "number": 1, "model": "m", "cached_tokens": 0, "duration_ms": 1}
    over = {"agent": "tool", "verdict": "passed", "reason": "", "commit": "c", "duration_ms": 1, "cost_usd": 0.05}
    end = {
        "title": "T",
        "agent": "tool",
        "verdict": "passed",
        "commit": "abc",
        "attempts": 1,
        "reason": "",
        "checks": 4,
    }
    found = told(
        modules,
        started("1.1", "1.2"),
        stage("1.1"),
        {"event": "model_called", "input_tokens": 10, "output_tokens": 5, "cost_usd": 0.02, **call},
        {
            "event": "check_finished",
            "task": "1.1",
            "attempt": 1,
            "name": "tests",
            "outcome": "passed",
            "summary": "9 of 9",
        }
        | {"duration_ms": 3},
        {"event": "attempt_finished", "task": "1.1", "attempt": 1, **over},
        {"event": "milepost_made", "task": "1.1", "attempt": 1, "commit": "abc", "tree": "t"},
        {"event": "task_finished", "task": "1.1", "tests": 9, "duration_ms": 1, "cost_usd": 0.05, **end},
    )

    assert found["standing"] == {"1.1": "passed", "1.2": "waiting"}
    assert (round(found["cost"], 6), found["tokens"]) == (0.05, 15)
    assert found["ends"] == ["passed"]
    assert [attempt["verdict"] for attempt in found["task"]["attempts"]] == ["passed"]


def test_what_an_agent_says_never_becomes_a_verdict(modules: Modules) -> None:
    said = {"event": "agent_said", "task": "1.1", "attempt": 1, "text": "verdict: passed. All 14 tests pass."}

    assert told(modules, started("1.1"), stage("1.1"), said)["standing"] == {"1.1": "working"}


def test_a_question_makes_a_task_wait_until_it_is_answered(modules: Modules) -> None:
    asked = {"event": "gate_opened", "task": "1.1", "gate": "g", "kind": "before", "question": "?", "shown": "rm x"}
    asked["digest"] = "d"
    answer = {"event": "gate_answered", "task": "1.1", "gate": "g", "answer": "approve", "text": ""}

    waiting, answered = told(modules, started("1.1"), asked), told(modules, started("1.1"), asked, answer)

    assert (waiting["standing"]["1.1"], waiting["gates"]) == ("asking", ["g"])
    assert (answered["standing"]["1.1"], answered["gates"]) == ("waiting", [])


def held_run(*after: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    over = {"agent": "tool", "reason": "r", "commit": "c", "duration_ms": 1, "cost_usd": 0.0}
    asked = {"task": "1.1", "gate": "1.1/1/held", "kind": "held", "question": "?", "shown": "x"}
    end = {"id": "1.1", "title": "T", "verdict": "held", "reason": "r", "proposal": "", "commit": None}
    finished = {"branch": "b", "head": "h" * 40, "cost_usd": 0.0, "tasks": [end]}
    return (
        started("1.1"),
        stage("1.1"),
        {"event": "attempt_finished", "task": "1.1", "attempt": 1, "verdict": "held", **over},
        {"event": "gate_opened", **asked},
        over_task("held", None),
        {"event": "run_finished", **finished},
        *after,
    )


def over_task(verdict: str, commit: str | None, reason: str = "r") -> dict[str, Any]:
    facts = {
        "checks": 1,
        "tests": 1,
        "confidence": 0.5,
        "duration_ms": 1,
        "cost_usd": 0.0,
        "proposal": "",
        "attempts": 1,
    }
    how = {"verdict": verdict, "commit": commit, "reason": reason, "title": "T", "agent": "tool"}
    return {"event": "task_finished", "task": "1.1", **how, **facts}


def answered(answer: str, text: str = "") -> dict[str, Any]:
    return {"event": "gate_answered", "task": "1.1", "gate": "1.1/1/held", "answer": answer, "text": text}


def test_a_question_about_held_work_outlives_its_run_and_is_no_refusal(modules: Modules) -> None:
    found = told(modules, *held_run())
    assert (found["standing"], found["gates"], found["state"]) == ({"1.1": "held"}, ["1.1/1/held"], "finished")
    assert (found["ends"], found["refusals"]) == (["held"], 0)


def test_held_work_that_lands_after_its_run_is_passed_when_approved_and_accepted_when_taken(modules: Modules) -> None:
    yes = told(modules, *held_run(over_task("passed", "abc", "held, approved by Ada"), answered("approve")))
    assert (yes["standing"], yes["gates"]) == ({"1.1": "passed"}, [])
    assert yes["task"]["attempts"][0]["verdict"] == "passed"
    taken = told(modules, *held_run(over_task("held", "abc", "accepted by Ada, not verified"), answered("accept")))
    assert (taken["standing"], taken["gates"], taken["ends"]) == ({"1.1": "accepted"}, [], ["held", "accepted"])
    back = told(modules, *held_run(answered("reject", "the price stays")))
    assert (back["standing"], back["gates"]) == ({"1.1": "failed"}, [])
    assert back["task"]["reason"] == "reject by a person: the price stays"


def test_a_command_that_was_cut_short_is_no_longer_running_when_the_run_goes_on(modules: Modules) -> None:
    found = told(
        modules,
        started("1.1"),
        stage("1.1"),
        command("c1"),
        printed("c1", "half"),
        {"event": "run_resumed", "last_call": ""},
    )

    assert found["running"] == []
    assert [(one["cut"], one["exit"]) for one in found["commands"]] == [(True, None)]
    assert found["lines"] == ["c1", "half", "cut short"]


def test_what_the_end_of_a_run_does_not_name_is_not_done_and_no_longer_in_work(modules: Modules) -> None:
    asked = {"event": "gate_opened", "task": "1.2", "gate": "g", "kind": "before", "question": "?", "shown": "x"}
    end = {"event": "run_finished", "branch": "b", "tasks": [], "cost_usd": 0, "duration_ms": 1, "head": "abc"}

    found = told(modules, started("1.1", "1.2"), stage("1.1"), command("c1"), {**asked, "digest": "d"}, end)

    assert found["standing"] == {"1.1": "waiting", "1.2": "waiting"}
    assert (found["task"]["reason"], found["task"]["stage"], found["gates"]) == ("not done", "", [])
    assert [one["cut"] for one in found["commands"]] == [True]


def test_a_wall_falls_when_the_run_goes_on_or_its_task_is_paid_for_again(modules: Modules) -> None:
    wall = {"event": "budget_reached", "task": "1.1", "scope": "task", "message": "over"}
    call = {"event": "model_called", "attempt": 1, "number": 1, "model": "m", "cached_tokens": 0, "duration_ms": 1}
    call |= {"input_tokens": 1, "output_tokens": 1, "cost_usd": 0.01}

    def walls(*after: dict[str, Any]) -> int:
        return len(told(modules, started("1.1", "1.2"), wall, *after)["walls"])

    assert [walls(), walls({**call, "task": "1.2"}), walls({**call, "task": "1.1"})] == [1, 1, 0]
    assert walls({"event": "run_resumed", "last_call": ""}) == 0


def test_what_was_taken_back_is_no_longer_shown(modules: Modules) -> None:
    said = {"event": "agent_said", "task": "1.1", "attempt": 1, "text": "once"}
    check = {
        "event": "check_finished",
        "task": "1.1",
        "attempt": 1,
        "name": "tests",
        "outcome": "failed",
        "summary": "",
    }
    back = {"event": "events_taken_back", "task": "1.1", "attempt": 1, "seqs": [30, 40]}

    found = told(modules, started("1.1"), stage("1.1"), said, {**check, "duration_ms": 1}, back)

    assert found["talk"] == ["run", "stage"]
    assert found["task"]["attempts"][0]["checks"] == []


def test_older_lines_go_to_where_they_belong(modules: Modules) -> None:
    older = ((25, printed("c1", "first", "second", errors=(1,))),)

    found = told(modules, started("1.1"), command("c1"), ended("c1"), command("c2"), printed("c2", "new"), older=older)

    assert found["lines"] == ["c1", "first", "second", "exit 0", "c2", "new"]
    assert found["kinds"] == ["command", "output", "error", "success", "command", "output"]
    assert found["came"] == 2


def test_an_attempt_that_was_refused_is_counted_also_when_its_task_did_not_fail(modules: Modules) -> None:
    refused = {"event": "attempt_finished", "task": "1.1", "attempt": 1, "verdict": "failed", "reason": "red"}
    over = {"agent": "tool", "commit": "c", "duration_ms": 1, "cost_usd": 0.0}

    found = told(modules, started("1.1"), stage("1.1"), {**refused, **over}, stage("1.1", 2))

    assert (found["refusals"], found["standing"]) == (1, {"1.1": "working"})


def test_a_failure_that_is_no_trouble_is_neither_a_success_nor_a_failure_and_a_signal_is_always_trouble(
    modules: Modules,
) -> None:
    about = "before the change: failing is no trouble"
    ends = [step for code in (0, 2, -9) for step in (command(f"c{code}", about), ended(f"c{code}", code))]

    found = told(modules, started("1.1"), *ends)

    assert found["kinds"][1::2] == ["success", "untroubled", "failure"]
    assert found["lines"][3] == f"exit 2 · {about}"


def test_a_question_that_was_answered_waits_no_more_though_the_run_did_not_take_that_up(modules: Modules) -> None:
    asked = {"event": "gate_opened", "run": RUN, "task": "1.1", "gate": "g", "kind": "before", "question": "?"}
    events = [[10, 1.0, {"run": RUN, **started("1.1")}], [20, 2.0, {**asked, "shown": "rm x", "digest": "d"}]]
    settled = """({empty, apply, settle, glance}, [events, told]) => {
        const state = empty();
        for (const [seq, at, event] of events) apply(state, seq, at, event);
        settle(state, told);
        return [glance(state).gates.length, state.tasks.get('1.1').status];
    }"""

    def after(waiting: list[str], last: int) -> object:
        return modules.call("state.js", settled, [events, {"waiting": waiting, "last": last}])

    assert after([], 20) == [0, "waiting"]
    assert after(["g"], 20) == [1, "asking"]
    assert after([], 15) == [1, "asking"]  # asked since
