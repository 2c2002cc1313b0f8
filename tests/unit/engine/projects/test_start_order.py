"""Which runs of several projects may begin, as what they wait for gets its milepost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.cli.live_display import next_lines
from milepost.core.errors import PlanInvalid
from milepost.core.events import RunFinished, TaskFinished, TaskSummary
from milepost.core.task import Plan
from milepost.core.verdict import Verdict
from milepost.engine.authoring.mismatches import RoadmapFacts, mismatches
from milepost.engine.projects.budget_shares import Took, left_of
from milepost.engine.projects.parallel import LegEnd
from milepost.engine.projects.sequential import _able, _Turns
from milepost.engine.projects.start_order import ReadyRun, Succession
from milepost.plan.graph.build_graph import plan
from milepost.plan.options import Planning
from milepost.plan.projects.joint_plan import FamilyPlan, ProjectPlan
from milepost.roadmap import read
from milepost.roadmap.reading.options import Manner
from milepost.workspace.mileposts import Milepost

CALLS = {"@acme/api": "api", "@acme/web": "web"}


def plans(**texts: str) -> dict[str, Plan]:
    manner = Manner(projects=tuple((call, call) for call in CALLS))
    return {name: plan(read(text.encode(), manner)) for name, text in texts.items()}


def passed(task: str, verdict: Verdict | None = Verdict.PASSED) -> TaskFinished:
    return TaskFinished(
        run="0001",
        task=task,
        title="",
        agent="",
        verdict=verdict,
        commit="c",
        attempts=1,
        reason="",
        checks=0,
        tests=0,
        duration_ms=0,
        cost_usd=0.0,
    )


def finished(*tasks: tuple[str, Verdict | None, str]) -> RunFinished:
    ends = tuple(
        TaskSummary(id=name, title="", verdict=verdict, commit=None, attempts=1, reason=reason)
        for name, verdict, reason in tasks
    )
    return RunFinished(
        run="0001", branch="", tasks=ends, cost_usd=1.0, duration_ms=0, head="", fast_forwarded="main", by_hand=""
    )


def test_a_project_begins_again_when_what_it_waits_for_is_there() -> None:
    found = Succession(
        plans(
            api="- [ ] 1.1 A\n- [ ] 1.2 B (depends: @acme/web:1.1)\n",
            web="- [ ] 1.1 C (depends: @acme/api:1.1)\n- [ ] 1.2 D (depends: 1.1)\n",
        ),
        CALLS,
        frozenset(),
    )
    assert list(found.starts()) == [ReadyRun(project="api", tasks=("1.1",), met=())]
    assert not list(found.starts()), "it is under way"
    assert not found.hear("api", passed("1.1", Verdict.FAILED))
    assert found.hear("api", passed("1.1"))
    assert list(found.starts()) == [ReadyRun(project="web", tasks=(), met=("@acme/api:1.1",))]
    assert found.hear("web", passed("1.1"))
    assert not list(found.starts()), "api is under way still"
    assert found.hear("api", LegEnd(finished=finished(("1.1", Verdict.PASSED, ""))))
    (again,) = found.starts()
    assert (again.tasks, again.met) == ((), ("@acme/web:1.1",)), "all that is left needs not be named"
    assert found.hear("api", LegEnd(finished=finished(("1.2", Verdict.PASSED, ""))))
    assert found.hear("web", LegEnd(finished=finished(("1.2", Verdict.PASSED, ""))))
    assert not list(found.starts())
    assert {name: end.why for name, end in found.ended().items()} == {"api": "", "web": ""}


def test_an_interrupted_run_goes_on_as_it_was_and_what_fails_keeps_back_who_waits() -> None:
    made = plans(api="- [ ] 1.1 A\n- [ ] 1.2 B\n", web="- [ ] 1.1 C (depends: @acme/api:1.1)\n")
    found = Succession(made, CALLS, frozenset({"api"}))
    assert list(found.starts()) == [ReadyRun(project="api", tasks=(), met=())]
    assert found.hear("api", LegEnd(why="1.1 failed", finished=finished(("1.1", Verdict.FAILED, "no"))))
    assert not list(found.starts()), "neither tried again, nor begun by who waits"
    assert {name: end.why for name, end in found.ended().items()} == {
        "api": "1.1 failed",
        "web": "1.1 waits for @acme/api:1.1",
    }
    stopped = Succession(made, CALLS, frozenset())
    assert len(list(stopped.starts())) == 1
    stopped.hear("api", LegEnd(why="was stopped", stopped=True))
    assert stopped.ended()["web"] == LegEnd(why="was stopped", stopped=True)


def test_a_circle_is_refused_before_anything_begins() -> None:
    circle = plans(api="- [ ] 1.1 A (depends: @acme/web:1.1)\n", web="- [ ] 1.1 B (depends: @acme/api:1.1)\n")
    with pytest.raises(PlanInvalid, match=r"api:1\.1 → web:1\.1 → api:1\.1"):
        Succession(circle, CALLS, frozenset())


def test_a_later_run_of_a_project_gets_what_the_earlier_ones_left_of_its_share() -> None:
    before = Took(all_usd=5.0, going_on_usd=2.0)
    assert left_of(6.0, before, before) == pytest.approx(6.0), "the one that goes on keeps what it took"
    assert left_of(6.0, before, Took(all_usd=6.0)) == pytest.approx(3.0), "4.00 were new, and 1.00 of that is taken"


def test_in_turn_what_had_to_wait_once_gets_another_turn() -> None:
    turns = _Turns()
    waits = ("1.2", None, "waits for app:1.1")
    turns.take_in("core", LegEnd(finished=finished(("1.1", Verdict.FAILED, "no"), waits, ("1.3", None, "skipped"))))
    assert turns.given_up("core") == {"1.1", "1.3"}
    turns.take_in("core", LegEnd(finished=finished(waits)))
    assert turns.given_up("core") == {"1.1", "1.2", "1.3"}
    assert turns.cost_usd == 2.0 and not turns.halted


def test_the_members_of_a_group_are_not_left_over_so_that_nobody_is_named() -> None:
    text = b"## Both\n\n- [ ] 1.1 A\n  - Verify: true\n- [ ] 1.2 B\n  - Verify: true\n"
    made = plan(read(text), Planning(grouping="section"))
    assert made.waves == (("1.1",),) and made.tasks[0].members == ("1.2",)
    assert list(Succession({"api": made}, CALLS, frozenset()).starts()) == [ReadyRun(project="api", tasks=(), met=())]
    family = FamilyPlan(projects=(ProjectPlan(name="api", folder="", roadmap="", plan=made),), waves=())
    assert list(_able(family, _Turns())) == [("api", ())]


def test_of_a_group_the_task_with_the_milepost_is_offered_for_undo() -> None:
    ends = [
        TaskSummary(id=name, title="", verdict=Verdict.PASSED, commit=commit, attempts=1, reason="")
        for name, commit in (("1.1", "a"), ("1.2", "b"), ("1.2.1", "b"))
    ]
    last = next_lines(replace(finished(), tasks=tuple(ends)))
    assert [line.split("milepost ")[1].split("  ")[0] for line in last] == ["proof 1.2", "undo 1.2"]


def test_a_task_above_others_that_has_no_box_is_not_said_to_be_ticked() -> None:
    post = Milepost(commit="c" * 40, task="1.1.1", run="r", attempt=1, agent="a", title="T", roadmap="ROADMAP.md")
    tasks = read(b"- [ ] 1.1 A\n  - [x] 1.1.1 B\n").tasks

    def kinds(*boxes: str) -> list[str]:
        names = {(post.commit, "1.1.1"): "1.1.1"}
        facts = RoadmapFacts(
            tasks=tasks, landed=(post,), taken_back=(), names=names, alike=frozenset(), boxes=frozenset(boxes)
        )
        return [one.kind for one in mismatches(facts)]

    assert kinds("1.1", "1.1.1") == ["ticked"]
    assert kinds("1.1.1") == []
