"""An attempt as an episode: its circumstances, its steps, and a name that nobody else has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.calls import Call, Reply, Usage
from milepost.core.memories import EpisodeStep
from milepost.core.task import Task
from milepost.engine.memory.episodes import episode_id, step_of
from milepost.engine.memory.task_kind import circumstances_of, kind_of
from milepost.engine.records.call_log import RecordedCall
from milepost.engine.records.run_spec import Remembering, RunSpec
from milepost.workspace.repository import Identity, Position

ORDER = RunSpec(
    run="ab12",
    roadmap="ROADMAP.md",
    base="b",
    ahead="",
    user=Position(branch="main", commit="b"),
    tasks=("1",),
    wished=(),
    max_tasks=None,
    agent="tool",
    trust="isolated",
    parallel=1,
    attempts=1,
    task_timeout_s=1,
    idle_timeout_s=1,
    check_timeout_s=1,
    identity=Identity(name="a", email="b"),
    started_at=0,
    memory=Remembering(mode="on", project="p", token="t"),
)


def test_an_episode_has_one_name_in_all_lives_of_its_run_and_no_other_attempt_anywhere_has_it() -> None:
    elsewhere = replace(ORDER, memory=replace(ORDER.memory, token="u"))
    asked = [(ORDER, "1", 1, "tool"), (ORDER, "1", 2, "tool"), (ORDER, "2", 1, "tool"), (ORDER, "1", 1, "code")]
    names = [episode_id(*one) for one in (*asked, (elsewhere, "1", 1, "tool"))]
    assert len(set(names)) == len(names)
    assert [episode_id(*one) for one in asked] == names[:4]


def made(call: Call, reply: Reply) -> EpisodeStep:
    recorded = RecordedCall(
        number=3, kind=call.kind, name=call.name, request="r", tree="t", reply=reply, duration_ms=70
    )
    return step_of(call, recorded, lambda text: text.replace("hunter2", "[redacted]"))


def test_a_call_becomes_a_step_with_what_came_of_it_and_without_secrets() -> None:
    call = Call(kind="tool", name="execute", summary="run cat hunter2", argv=("cat", "hunter2"))
    step = made(call, Reply(body={"text": "it says hunter2"}))
    assert (step.tool, step.action, step.observation) == ("execute", "run cat [redacted]", "it says [redacted]")
    assert step.parameters == {"argv": ["cat", "[redacted]"]}
    assert (step.result, step.latency_ms, step.signature) == ("success", 70, "")
    asked = made(
        Call(kind="model", name="m", summary="asking m"),
        Reply(body={"text": "so"}, usage=Usage(input_tokens=5, output_tokens=2)),
    )
    assert (asked.tool, asked.tokens, asked.parameters) == ("model", 7, {"model": "m"})


@pytest.mark.parametrize(
    ("reply", "result"),
    [
        (Reply(body={"text": "KeyError: 'a'"}, failed=True), "error"),
        (Reply(body={"text": "error: timed out after 3 s"}, failed=True), "timeout"),
        (Reply(refused="a person said no", failed=True), "error"),
    ],
)
def test_what_failed_is_told_from_what_took_too_long_and_has_a_signature(reply: Reply, result: str) -> None:
    step = made(Call(kind="tool", name="execute"), reply)
    assert step.result == result and step.signature


def test_what_code_noted_on_its_scratchpad_flows_into_the_episode() -> None:
    notes = [
        {"kind": "variable", "text": "", "name": "plan", "value": [1]},
        {"kind": "observation", "text": "hunter2 is in it", "name": "", "value": None},
        {"kind": "failed", "text": "too slow", "name": "regex", "value": None},
    ]
    step = made(Call(kind="tool", name="python"), Reply(body={"text": "", "notes": notes}))
    assert step.parameters["noted"] == [
        {"kind": "observation", "name": "", "text": "[redacted] is in it"},
        {"kind": "failed", "name": "regex", "text": "too slow"},
    ]


def test_circumstances_tell_language_framework_and_where_in_the_roadmap_a_task_stands() -> None:
    task = Task(id="1", title="Fix the login", status="open", line=1, phase="Phase 2: Users", section="Sign-in")
    manifests = {"pyproject.toml": '[project]\nname = "x"\ndependencies = ["django>=5", "click"]\n'}
    found = circumstances_of(task, ["a.py", "b.py", "web/app.ts"], manifests)
    assert (found.language, found.framework, found.complexity, found.domain) == (
        "python",
        "django",
        "simple",
        "sign-in",
    )
    assert found.tags[:2] == ("kind:fix", "size:small") and "phase-users" in found.tags
    assert kind_of(task) == "debugging"
    assert circumstances_of(replace(task, files=("web/app.ts",)), ["a.py"], {}).language == "typescript"
    assert circumstances_of(replace(task, phase="", section=""), [], {"pyproject.toml": "["}).domain == "general"
