"""Who does a task: fixed, in turn or measured, and always the same for the same facts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from milepost.core.attempt import Attempt, Outcome, OutcomeStatus
from milepost.core.errors import AgentUnknown
from milepost.core.memories import Took
from milepost.core.task import Plan, Task
from milepost.core.verdict import CheckResult, judge
from milepost.engine.memory.episodes import judges_agent
from milepost.engine.memory.task_kind import circumstances_of
from milepost.engine.records.run_spec import PARTS, FinishedAttempt, Repairs, Routing, RunSpec
from milepost.engine.routing.candidates import RoutingFacts, as_chosen, foretold, is_routed, pattern_for, routing_of
from milepost.engine.routing.choose import Choice, RoutingQuestion, choose
from milepost.engine.routing.track_record import AgentResult, trials_of
from milepost.engine.run.next_step import Repair, TaskSituation, decide, first_way, named
from milepost.memory.memory import StoredMemory
from milepost.plan.advice.traits import Traits
from milepost.repair.diagnosis.classify import classify
from milepost.store.database import open_database
from milepost.workspace.repository import Identity, Position

DOCS = Traits(kind="docs", size="small")
PASS = CheckResult(name="verify", outcome="passed", summary="exit 0", decisive=True)
FAIL = CheckResult(name="tests", outcome="failed", summary="1 failed")
MEASURED = Routing(mode="measured", agents=("a", "b"), explore=0.1)


def trials(
    agent: str, passed: int | None, tried: int, *, kind: str = "docs", usd: float = 0.0, size: str = "small"
) -> tuple[AgentResult, ...]:
    return tuple(
        AgentResult(
            run="r",
            task=f"{kind}{place}",
            agent=agent,
            kind=kind,
            size=size,
            risky=False,
            passed=None if passed is None else place < passed,
            attempts=1,
            seconds=1.0,
            cost_usd=usd,
        )
        for place in range(tried)
    )


def measured(*known: tuple[AgentResult, ...], traits: Traits = DOCS, **more: Any) -> Choice:
    return choose(RoutingQuestion(routing=MEASURED, traits=traits, trials=sum(known, ()), **more))


def test_who_did_more_tasks_of_the_kind_is_chosen_and_the_reason_has_the_figures() -> None:
    choice = measured(trials("a", 3, 7, usd=0.4), trials("b", 9, 11, usd=0.12))
    assert (choice.agent, choice.mode, choice.fallback) == ("b", "measured", ("a",))
    assert choice.reason == "9 of 11 docs tasks passed, $0.12 each; a 3 of 7, $0.40"


def test_a_kind_is_judged_by_itself() -> None:
    known = (trials("a", 9, 9, kind="code"), trials("a", 0, 5), trials("b", 1, 5, kind="code"), trials("b", 5, 5))
    assert measured(*known).agent == "b"
    assert measured(*known, traits=Traits(kind="code")).agent == "a"


def test_where_nothing_is_known_of_a_kind_all_else_that_is_known_counts() -> None:
    choice = measured(trials("a", 1, 4, kind="code"), trials("b", 4, 4, kind="code"))
    assert choice.agent == "b"
    assert choice.reason == "no docs task yet, 4 of 4 others passed; a no docs task yet, 1 of 4 others"


def test_size_tells_agents_of_one_kind_apart() -> None:
    known = (trials("a", 6, 6), trials("a", 0, 6, size="large"), trials("b", 3, 6), trials("b", 5, 6, size="large"))
    assert measured(*known).agent == "a"
    assert measured(*known, traits=Traits(kind="docs", size="large")).agent == "b"


def test_one_lucky_task_does_not_outweigh_a_long_record() -> None:
    lucky = (trials("a", 0, 4, kind="code"), trials("a", 1, 1), trials("b", 18, 20))
    assert measured(*lucky).agent == "b"


def test_of_equally_good_ones_the_cheaper_is_taken_but_not_for_what_is_risky() -> None:
    known = (trials("a", 20, 20, usd=0.9), trials("b", 20, 21, usd=0.1))
    assert measured(*known).agent == "b"
    assert measured(*known, traits=replace(DOCS, risky=True)).agent == "a"


def test_new_ones_are_tried_before_they_are_judged_each_in_its_turn_also_when_several_start_at_once() -> None:
    assert measured().agent == "a"
    assert measured(busy=("a",)).agent == "b"
    assert measured(trials("a", 3, 3), trials("b", 0, 2)).reason.startswith("new here: 2 tasks of 3")
    assert measured(trials("a", 3, 3), trials("b", 0, 2), busy=("b",)).agent == "a"


def test_who_was_given_tasks_that_nobody_could_judge_is_not_new_for_ever() -> None:
    assert measured(trials("a", 9, 9), trials("b", None, 2)).reason.startswith("new here: 2 tasks of 3")
    choice = measured(trials("a", 9, 9), trials("b", None, 3))
    assert choice.reason == "9 of 9 docs tasks passed; b 3 tasks, none judged"
    assert measured(trials("a", 0, 9), trials("b", None, 9)).agent == "a", "what is not known is not better than bad"
    assert measured(trials("a", 9, 10), trials("b", 9, 9), trials("b", None, 9, usd=9.0)).agent == "b", "its rate stays"
    known = (trials("a", 9, 9), trials("b", None, 20))
    explored = [measured(*known, dice=f"7f3a/{number}").agent for number in range(200)].count("b")
    assert explored == 0, "it was given more of the kind than the other"


def test_risky_tasks_are_given_to_nobody_who_is_only_tried_out() -> None:
    risky = replace(DOCS, risky=True)
    assert measured(trials("a", 3, 3), traits=risky).agent == "a"
    for number in range(200):
        assert measured(trials("a", 9, 9), trials("b", 0, 3), traits=risky, dice=f"r/{number}").agent == "a"


def test_a_share_of_the_tasks_explores_and_the_same_dice_always_fall_the_same() -> None:
    known = (trials("a", 9, 9), trials("b", 0, 3))
    first = [measured(*known, dice=f"7f3a/{number}") for number in range(1000)]
    explored = [choice for choice in first if choice.agent == "b"]
    assert 60 < len(explored) < 150
    assert explored[0].reason == "exploring: it had the fewest docs tasks, 3; best is a 9 of 9 docs tasks passed"
    assert [measured(*known, dice=f"7f3a/{number}") for number in range(1000)] == first
    assert measured(*known).agent == "a", "without dice nothing is left to chance"
    settled = replace(MEASURED, explore=0.0)
    one = RoutingQuestion(routing=settled, traits=DOCS, trials=trials("a", 1, 1), dice="7f3a/1")
    assert choose(one).agent == "a", "nobody is tried out, new or not"


def test_turns_go_round_from_whoever_was_last_also_when_the_list_changed() -> None:
    routing = Routing(mode="round-robin", agents=("a", "b", "c"))
    turns = [choose(RoutingQuestion(routing=routing, traits=DOCS, last=last)) for last in ("", "a", "b", "c", "gone")]
    assert [choice.agent for choice in turns] == ["a", "b", "c", "a", "a"]
    assert turns[1].considered == ("b", "c", "a")


@pytest.mark.parametrize(
    ("traits", "agent"),
    [
        (Traits(kind="docs", size="large", risky=True), "for risky"),
        (Traits(kind="docs", size="large"), "for docs"),
        (Traits(kind="code", size="large"), "for large"),
        (Traits(kind="code"), "a"),
    ],
)
def test_what_is_fixed_goes_before_the_mode_and_a_pattern_before_both(traits: Traits, agent: str) -> None:
    fixed = {"large": "for large", "docs": "for docs", "risky": "for risky"}
    routing = Routing(mode="fixed", agents=("a", "b"), fixed=fixed)
    assert choose(RoutingQuestion(routing=routing, traits=traits)).agent == agent
    choice = choose(RoutingQuestion(routing=routing, traits=traits, pattern="pattern:bump_version"))
    assert (choice.agent, choice.mode, choice.fallback) == ("pattern:bump_version", "pattern", ("a", "b"))


def settings(agents: list[str], **fixed: str) -> Any:
    return SimpleNamespace(mode="measured", agents=agents, fixed=fixed, explore=0.1)


def require(name: str) -> None:
    if name.startswith("no"):
        raise AgentUnknown(f"there is no {name}", "install it")


def test_who_cannot_work_is_left_out_with_the_reason() -> None:
    routing = routing_of(settings(["no1", "a", "auto", "a"]), require)
    assert routing.agents == ("a",)
    assert routing.left_out == (("no1", "there is no no1"), ("auto", "'auto' cannot choose itself"))


def test_where_nobody_can_work_or_a_fixed_one_cannot_that_is_said() -> None:
    with pytest.raises(AgentUnknown, match="can work here: no1: there is no no1; no2: there is no no2"):
        routing_of(settings(["no1", "no2"]), require)
    with pytest.raises(AgentUnknown, match="there is no nobody"):
        routing_of(settings(["a"], docs="nobody"), require)
    with pytest.raises(AgentUnknown, match="there are no agents to choose from"):
        routing_of(settings([]), require)


def test_a_choice_can_be_foretold_for_a_plan_and_only_where_the_router_is_asked() -> None:
    tasks = tuple(
        Task(id=name, title=name, status="open", line=1, agent=agent)
        for name, agent in (("1", ""), ("2", "x"), ("3", "auto"))
    )
    plan = Plan(tasks=tasks, waves=(("1", "2", "3"),))
    routing = Routing(mode="round-robin", agents=("a", "b"))
    choices = foretold(plan, ("1", "2", "3"), "auto", routing, RoutingFacts(folder=Path(), last="a"))
    assert {task: choice.agent for task, choice in choices.items()} == {"1": "b", "3": "a"}
    assert [task.agent for task in as_chosen(plan, choices).tasks] == ["b", "x", "a"]
    assert not is_routed(tasks[0], "tool")


def test_the_one_pattern_that_takes_exactly_what_a_task_gives_is_found(tmp_path: Path) -> None:
    def fits(**inputs: str) -> str:
        task = Task(id="1", title="Do", status="open", line=1, agent="pattern:auto", inputs=tuple(inputs.items()))
        assert is_routed(task, "tool")
        return pattern_for(task, tmp_path)

    assert fits(old="first", new="second") == "pattern:rename_symbol"
    assert fits(old="first") == "", "it is incomplete"
    assert fits(old="first", new="second", more="x") == "", "it gives more than that"
    assert fits(page="a.md", json="a.json") == "", "two take exactly that"
    assert fits() == ""


def tried(number: int, agent: str, *checks: CheckResult, status: OutcomeStatus = "finished") -> FinishedAttempt:
    attempt = Attempt(
        number=number,
        agent=agent,
        base="b",
        commit="c",
        outcome=Outcome(status=status, said="limit reached: try again in 9 s" if status == "limited" else ""),
        evidence=judge(f"t{number}", checks),
        duration_ms=1500,
    )
    return FinishedAttempt(attempt=attempt, proven_on="b", finished_at=1)


def took(run: str, task: Task, *tries: FinishedAttempt) -> list[Took]:
    tags = circumstances_of(task, (), {}).tags
    return [
        Took(
            run=run,
            task=task.id,
            title=task.title,
            attempt=one.attempt.number,
            agent=one.attempt.agent,
            verdict=one.attempt.evidence.verdict,
            duration_ms=one.attempt.duration_ms,
            tags=tags,
            judged=judges_agent(one.attempt, classify(one.attempt)),
        )
        for one in tries
    ]


DO = Task(id="1", title="Do", status="open", line=1)


def test_what_agents_made_of_a_task_is_told_by_their_attempts() -> None:
    task = Task(id="1", title="Document the flags", status="open", line=1)
    tries = (tried(1, "a", FAIL), tried(2, "a", FAIL), tried(3, "b", FAIL), tried(4, "recipe:lock", PASS))
    a, b = trials_of(took("r", task, *tries))
    assert (a.agent, a.kind, a.passed, a.attempts, a.seconds) == ("a", "docs", False, 2, 3.0)
    assert (b.agent, b.passed, b.attempts) == ("b", True, 1), "what a recipe mended counts for the agent before it"
    assert trials_of(took("r", task, *tries), under_way=[("r", "1")]) == (), "what is not over tells nothing yet"


def test_runs_of_one_name_on_two_machines_are_two() -> None:
    ours, theirs = took("r", DO, tried(1, "a", FAIL)), took("r", DO, tried(1, "a", PASS))
    found = trials_of([*ours, *(replace(one, owner="theirs") for one in theirs)])
    assert [(trial.passed, trial.attempts) for trial in found] == [(False, 1), (True, 1)]


def test_a_task_that_was_done_in_parts_was_not_done_by_whoever_failed_at_it_whole() -> None:
    found = trials_of(took("r", DO, tried(1, "a", FAIL), tried(2, PARTS, PASS)))
    assert [(trial.agent, trial.passed) for trial in found] == [("a", False)]


def test_what_says_nothing_of_an_agent_is_not_held_against_it() -> None:
    agent = CheckResult(name="agent", outcome="failed", summary="the agent's service cannot be asked now")
    merge = CheckResult(name="merge", outcome="failed", summary="others changed the same lines")
    for one in (tried(1, "a"), tried(1, "a", agent, status="limited"), tried(1, "a", merge)):
        assert [trial.passed for trial in trials_of(took("r", DO, one))] == [None]
    gave_up = tried(1, "a", agent, status="gave_up")
    assert [trial.passed for trial in trials_of(took("r", DO, gave_up))] == [False]


OLD = """
create table episodes (run text not null, task text not null, attempt integer not null, title text not null,
    folded_title text not null, agent text not null, verdict text not null, reason text not null,
    duration_ms integer not null, cost_usd real not null, primary key (run, task, attempt));
create table trials (run text not null, task text not null, agent_key text not null, agent text not null,
    kind text not null, size text not null, risky bigint not null, passed bigint, attempts bigint not null,
    seconds double precision not null, cost_usd double precision not null, primary key (run, task, agent_key));
insert into episodes values ('r', '1', 1, 'Write', 'write', 'a', 'passed', '', 1500, 0.5);
insert into episodes values ('r', '2', 1, 'Fix', 'fix', 'a', 'failed', '', 500, 0.0);
insert into trials values ('r', '1', 'a', 'a', 'docs', 'small', 1, 1, 1, 1.5, 0.5);
insert into trials values ('r', '2', 'a', 'a', 'fix', 'large', 0, null, 1, 0.5, 0.0);
"""


def test_what_an_earlier_version_measured_of_agents_stays(tmp_path: Path) -> None:
    path = tmp_path / "milepost.db"
    with closing(sqlite3.connect(path)) as old, old:
        old.executescript(OLD)
    with closing(open_database(path)) as database:
        one, two = trials_of(StoredMemory(database, project="p").journal.took(9))
        assert not database.columns("trials")
    assert (one.kind, one.size, one.risky, one.passed, one.seconds) == ("docs", "small", True, True, 1.5)
    assert (two.kind, two.size, two.risky, two.passed) == ("fix", "large", False, None)


TASK = Task(id="T1", title="Add f to a", status="open", line=1, files=("a.py",), verify=("pytest",))
ORDER = RunSpec(
    run="r",
    roadmap="ROADMAP.md",
    base="b",
    ahead="",
    user=Position(branch="main", commit="b"),
    tasks=("T1",),
    wished=(),
    max_tasks=None,
    agent="auto",
    trust="isolated",
    parallel=1,
    attempts=1,
    task_timeout_s=1,
    idle_timeout_s=1,
    check_timeout_s=1,
    identity=Identity(name="a", email="b"),
    started_at=0,
    routing=MEASURED,
)


def test_the_chosen_one_takes_a_task_up_unless_a_person_or_the_author_names_another() -> None:
    seen = TaskSituation(task=TASK, routed="a", fallback=("b",))
    assert first_way((), ORDER, seen).agent == "a"
    assert first_way((), ORDER, replace(seen, hand="c")).agent == "c"
    own = replace(seen, task=replace(TASK, agent="x"))
    assert first_way((), ORDER, own).agent == named(ORDER, own) == "x"


def test_others_that_were_considered_go_on_where_the_settings_name_no_fallback() -> None:
    seen = TaskSituation(task=TASK, routed="a", fallback=("b",))
    onward = decide((tried(1, "a", FAIL),), ORDER, seen)
    assert isinstance(onward, Repair) and onward.way.agent == "b"
    onward = decide((tried(1, "a", FAIL),), replace(ORDER, repairs=Repairs(fallback=("c",))), seen)
    assert isinstance(onward, Repair) and onward.way.agent == "c"
