from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.attempt import Attempt, Outcome, OutcomeStatus
from milepost.core.failures import Failure, FailureClass
from milepost.core.task import Task
from milepost.core.task_parts import is_vague, parts_of
from milepost.core.verdict import CheckResult, TestCase, TestOutcome, judge
from milepost.repair.diagnosis.classify import classify
from milepost.repair.strategy.advice import advice_for
from milepost.repair.strategy.breakers import Breaker, Diagnosis
from milepost.repair.strategy.proposals import proposal_for
from milepost.repair.strategy.split import maker_of
from milepost.repair.strategy.strategies import (
    Decompose,
    Defer,
    Dissolve,
    Escalate,
    Mode,
    Retry,
    Rewrite,
    Situation,
    Skip,
    Strategy,
    SwitchAgent,
    choose,
    start_of_next,
)

TASK = Task(id="2.1", title="Command line `dur`", status="open", line=22, files=("cli.py",), verify=("pytest t.py",))
VAGUE = Task(id="3.1", title="Make it nicer", status="open", line=31)
LARGE = Task(
    id="4",
    title="Durations",
    status="open",
    line=40,
    files=("parse.py", "format.py"),
    verify=("pytest test_parse.py", "pytest test_format.py"),
    agent="claude",
)


def attempt(number: int, *checks: CheckResult, status: OutcomeStatus = "finished", said: str = "") -> Attempt:
    return Attempt(
        number=number,
        agent="command:x",
        base="0" * 40,
        commit="1" * 40,
        outcome=Outcome(status=status, said=said),
        evidence=judge("2" * 40, checks),
        duration_ms=1,
    )


def failed(name: str, summary: str = "exit 1", *cases: TestCase, exit_code: int | None = 1) -> CheckResult:
    return CheckResult(name=name, outcome="failed", summary=summary, cases=cases, exit_code=exit_code)


def red(number: int, *names: str, before: TestOutcome | None = None) -> Attempt:
    cases = (TestCase(id=name, outcome="failed", message="1 != 2", before=before) for name in names)
    return attempt(number, failed("tests", "1 != 2", *cases))


def gave_up(number: int, said: str) -> Attempt:
    return attempt(number, failed("agent", f"the agent gave up: {said}"), status="gave_up", said=said)


def timed_out(number: int) -> Attempt:
    return attempt(number, failed("agent", "the agent ran out of time"), status="timed_out")


def chosen(
    *history: Attempt,
    task: Task = TASK,
    mode: Mode = "auto-fix",
    left: int = 2,
    fallbacks: tuple[str, ...] = (),
    others: tuple[Task, ...] = (),
    waited_for: frozenset[str] = frozenset(),
    decomposed: bool = False,
    breaker: Breaker | None = None,
) -> Strategy:
    failure = classify(history[-1])
    assert failure is not None
    diagnosis = Diagnosis(breaker=breaker, what="what was seen", advice="what to do") if breaker else None
    situation = Situation(
        mode=mode,
        run="7f3a",
        task=task,
        attempts_left=left,
        fallbacks=fallbacks,
        others=others,
        waited_for=waited_for,
        decomposed=decomposed,
        now=1_700_000_000,
    )
    return choose(history, failure, diagnosis, situation)


def other(name: str, *files: str, depends_on: tuple[str, ...] = ()) -> Task:
    return Task(id=name, title=name, status="open", line=1, files=files, depends_on=depends_on)


def missing(name: str) -> Attempt:
    return attempt(1, failed("imports", f"cli: No module named '{name}'"))


def test_a_plain_failure_is_tried_again_at_once_with_advice() -> None:
    strategy = chosen(red(1, "a"))

    assert isinstance(strategy, Retry)
    assert (strategy.start, strategy.wait_s) == ("base", 0.0)
    assert "why" in strategy.advice


def test_fewer_failures_go_on_from_what_the_attempt_left() -> None:
    fewer, more = (red(1, "a", "b"), red(2, "a")), (red(1, "a"), red(2, "a", "b"))

    retry = chosen(*fewer)
    assert isinstance(retry, Retry) and retry.start == "attempt" and "attempt 2 left" in retry.advice
    assert chosen(*more) == Retry(start="base", advice=retry.advice.partition(" You start")[0])


@pytest.mark.parametrize("check", ["names", "changed tests", "counter-proof", "audit", "scope", "secrets"])
def test_what_was_refused_is_not_built_upon_though_it_came_further(check: str) -> None:
    history = (gave_up(1, "exit 1"), attempt(2, failed(check, "refused"), failed("tests", "1 != 2")))
    failure = classify(history[-1])

    assert failure is not None
    assert start_of_next(history, failure) == "base"


def test_what_follows_a_regression_that_grew_starts_from_the_base() -> None:
    grew = (red(1, "a", "b", "c"), red(2, "a", before="passed"))
    shrank = (red(1, "a", "b", before="passed"), red(2, "a", before="passed"))

    def start(history: tuple[Attempt, ...]) -> str:
        failure = classify(history[-1])
        assert failure is not None
        return start_of_next(history, failure)

    assert start(grew) == "base"
    assert start(shrank) == "attempt"


def test_failures_that_pass_by_themselves_are_waited_for() -> None:
    unavailable = chosen(gave_up(2, "HTTP 503"))
    stated = chosen(gave_up(1, "HTTP 429, retry after 90 s"))
    unstated = chosen(gave_up(1, "HTTP 429"))

    assert isinstance(unavailable, Retry) and 1.8 <= unavailable.wait_s <= 2.2
    assert isinstance(stated, Retry) and stated.wait_s == 90
    assert isinstance(unstated, Retry) and unstated.wait_s == 30
    assert isinstance(waited := chosen(timed_out(1)), Retry) and waited.start == "attempt"


def test_an_agent_that_says_that_it_is_limited_is_waited_for_as_long_as_it_says() -> None:
    limited = replace(timed_out(1), outcome=Outcome(status="limited", said="limit reached: try again in 3600 s"))

    assert isinstance(strategy := chosen(limited), Retry)
    assert strategy.wait_s == 3600.0


@pytest.mark.parametrize(
    "said", ["HTTP 401", "insufficient_quota", "The model `x` does not exist", "not found: claude"]
)
def test_what_no_attempt_can_change_goes_to_another_agent_or_a_person_and_is_never_retried(said: str) -> None:
    assert chosen(gave_up(1, said), fallbacks=("codex", "aider")) == SwitchAgent(
        name="codex", advice=_advice(chosen(gave_up(1, said), fallbacks=("codex",)))
    )
    assert isinstance(chosen(gave_up(1, said), fallbacks=("codex",), left=0), Escalate)
    alone = chosen(gave_up(1, said))
    assert isinstance(alone, Escalate)
    assert "milepost retry 2.1" in alone.proposal
    assert len(alone.proposal.splitlines()) <= 3


def _advice(strategy: Strategy) -> str:
    assert isinstance(strategy, SwitchAgent)
    return strategy.advice


def test_a_missing_module_that_another_open_task_makes_is_waited_for() -> None:
    makers = (other("9", "docs/durations.md"), other("1.1", "src/durations.py"))

    assert chosen(missing("durations"), others=makers) == Defer(until_task="1.1", missing="durations")
    assert isinstance(chosen(missing("durations"), others=makers[:1]), Retry)
    assert isinstance(chosen(missing("durations"), others=makers, waited_for=frozenset({"1.1"})), Retry)


def test_nobody_waits_for_a_task_that_waits_for_it() -> None:
    behind = (other("5", "durations.py", depends_on=("4",)), other("4", depends_on=("2.1",)))

    assert isinstance(chosen(missing("durations"), others=behind), Retry)


@pytest.mark.parametrize(
    ("lacking", "file", "makes"),
    [
        ("pkg.sub", "src/pkg/sub.py", True),
        ("pkg", "pkg/__init__.py", True),
        ("pkg", "pkg/deep/mod.py", True),
        ("pkg.sub", "pkg/other.py", False),
        ("yaml", "docs/yaml.md", False),
        ("/cache/tree/data/a.json", "data/a.json", True),
        ("./lib/x", "src/lib/x.ts", True),
        ("@scope/x", "x.ts", False),
        ("foo::bar", "src/foo/bar.rs", True),
        ("", "a.py", False),
    ],
)
def test_a_named_file_is_known_as_what_is_missing(lacking: str, file: str, makes: bool) -> None:
    assert (maker_of(lacking, TASK, (other("1", file),)) is not None) == makes


def test_what_a_task_makes_itself_is_not_waited_for() -> None:
    assert maker_of("cli", TASK, (other("1", "tools/cli.py"),)) is None


def test_a_vague_task_is_given_back_with_what_it_does_not_say() -> None:
    strategy = chosen(gave_up(1, "exit 1"), task=VAGUE, fallbacks=("codex",))

    assert isinstance(strategy, Rewrite)
    assert "line 31" in strategy.proposal and "Files:" in strategy.proposal and "Verify:" in strategy.proposal
    assert "milepost retry 3.1" in strategy.proposal
    assert not is_vague(TASK)
    assert not is_vague(
        replace(VAGUE, text="Every button of the settings page gets the blue border of the start page.")
    )
    assert isinstance(chosen(red(1, "a"), task=VAGUE), Retry)
    assert isinstance(chosen(attempt(1, failed("stubs", "a.py:3: pass")), task=VAGUE), Retry)
    assert isinstance(chosen(attempt(1, failed("stubs", "a.py:3: pass")), task=VAGUE, left=0), Rewrite)


def test_what_no_check_could_judge_is_given_back_whatever_it_says() -> None:
    assert isinstance(chosen(attempt(1), task=replace(TASK, verify=())), Rewrite)


def test_a_group_that_is_too_large_is_dissolved_and_never_split() -> None:
    group = replace(LARGE, members=("4.2",))
    assert chosen(timed_out(1), timed_out(2), task=group) == Dissolve()
    assert chosen(timed_out(1), timed_out(2), task=replace(group, verify=()), left=0) == Dissolve()


def test_a_task_that_is_too_large_is_done_in_parts_that_can_be_proven() -> None:
    strategy = chosen(timed_out(1), timed_out(2), task=LARGE)

    assert isinstance(strategy, Decompose)
    first, second = strategy.parts
    assert (first.id, first.files, first.verify) == ("4.a", ("parse.py",), ("pytest test_parse.py",))
    assert (second.id, second.files, second.verify) == ("4.b", ("format.py",), ("pytest test_format.py",))
    assert (first.depends_on, second.depends_on, first.agent) == ((), ("4.a",), "claude")
    assert isinstance(chosen(timed_out(1), timed_out(2), task=LARGE, decomposed=True), Retry)
    assert isinstance(chosen(timed_out(1), timed_out(2), task=replace(LARGE, verify=())), Retry)
    assert isinstance(chosen(timed_out(1), task=LARGE), Retry)


def test_a_prompt_that_is_too_long_is_split_at_once() -> None:
    assert isinstance(chosen(gave_up(1, "prompt is too long"), task=LARGE), Decompose)
    assert isinstance(chosen(gave_up(1, "prompt is too long")), Retry)


def test_parts_are_two_to_five_by_subtasks_verify_lines_files_or_sentences() -> None:
    steps = tuple(Task(id=f"4.{n}", title=f"Step {n}", status="open", line=n, verify=("make",)) for n in (1, 2, 3))
    text = "Read the file as UTF-8. Split it into lines. Count the words of each."

    assert [part.id for part in parts_of(replace(LARGE, subtasks=steps))] == ["4.1", "4.2", "4.3"]
    assert [part.depends_on for part in parts_of(replace(LARGE, subtasks=steps))] == [(), ("4.1",), ("4.2",)]
    assert [part.files for part in parts_of(replace(LARGE, verify=()))] == [("parse.py",), ("format.py",)]
    assert [part.title for part in parts_of(replace(VAGUE, text=text))] == [
        "Read the file as UTF-8",
        "Split it into lines",
        "Count the words of each",
    ]
    assert parts_of(VAGUE) == ()
    assert len(parts_of(replace(LARGE, verify=("make",) * 9))) == 2


def test_a_stuck_task_goes_to_another_agent_then_to_a_person() -> None:
    assert isinstance(chosen(red(1, "a"), breaker="same_error", fallbacks=("codex",)), SwitchAgent)
    assert isinstance(chosen(red(1, "a"), breaker="no_progress", task=LARGE), Decompose)
    left = chosen(red(1, "a"), breaker="same_error")
    assert left == Escalate(proposal="what was seen\nwhat to do, then: milepost retry 2.1\nsee: milepost proof 2.1")


def test_a_used_up_task_is_left_even_with_agents_in_reserve() -> None:
    for breaker in ("attempts", "cost", "limited"):
        assert isinstance(chosen(red(1, "a"), breaker=breaker, fallbacks=("codex",)), Escalate)
    assert isinstance(chosen(red(1, "a"), left=0, fallbacks=("codex",)), Escalate)


def test_a_stuck_task_that_cannot_be_proven_in_parts_is_proposed_to_be_split() -> None:
    strategy = chosen(red(1, "a"), breaker="no_progress", task=replace(LARGE, verify=()))

    assert isinstance(strategy, Escalate)
    assert "split 4 into (1) Durations: parse.py; (2) Durations: format.py" in strategy.proposal


def test_a_program_that_is_missing_twice_is_asked_of_the_person() -> None:
    lacking = attempt(1, failed("verify", "`dur 1h` not found: dur", exit_code=None))

    assert isinstance(chosen(lacking), Retry)
    strategy = chosen(lacking, replace(lacking, number=2))
    assert isinstance(strategy, Escalate)
    assert "'dur' is not on this machine" in strategy.proposal


def test_a_machine_that_stays_in_the_way_skips_the_task() -> None:
    crash = attempt(1, failed("tests", "the tests did not run to their end: was ended by SIGSEGV", exit_code=None))

    assert isinstance(chosen(crash), Retry)
    assert isinstance(chosen(crash, left=0), Skip)


def test_without_adapting_nothing_is_tried_again() -> None:
    assert chosen(red(1, "a"), mode="no-adapt") == Skip(reason="1 != 2")
    assert chosen(gave_up(1, "HTTP 429"), mode="no-adapt", fallbacks=("codex",)) == Skip(
        reason="the agent gave up: HTTP 429"
    )


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        (chosen(red(1, "a"), mode="suggest"), "another attempt may work"),
        (chosen(red(1, "a"), mode="suggest", breaker="same_error", fallbacks=("codex",)), "--agent codex"),
        (chosen(missing("x"), mode="suggest", others=(other("1.1", "x.py"),)), "`Depends on: 1.1` below line 22"),
        (chosen(timed_out(1), timed_out(2), mode="suggest", task=LARGE), "split 4 into (1)"),
    ],
)
def test_a_suggestion_says_what_would_have_been_done_and_does_nothing(strategy: Strategy, said: str) -> None:
    assert isinstance(strategy, Escalate)
    assert said in strategy.proposal
    assert "milepost retry" in strategy.proposal
    assert 1 <= len(strategy.proposal.splitlines()) <= 3


def test_a_proposal_stays_short_whatever_failed() -> None:
    failure = Failure(kind=FailureClass.TEST_FAILURE, severity="low", signature="x", summary="long\n" * 900)
    situation = Situation(mode="auto-fix", run="7f3a", task=TASK, attempts_left=0)
    strategy = choose((red(1, "a"),), failure, None, situation)

    assert isinstance(strategy, Escalate)
    assert len(strategy.proposal.splitlines()) <= 3
    assert max(map(len, strategy.proposal.splitlines())) <= 300


@pytest.mark.parametrize(
    "check",
    [
        "changed tests",
        "counter-proof",
        "audit",
        "names",
        "hidden tests",
        "independent tests",
        "own tests",
        "review",
        "done",
    ],
)
def test_each_check_that_refuses_tells_the_next_attempt_what_to_do_otherwise(check: str) -> None:
    failed = Failure(
        kind=FailureClass.WRONG_APPROACH, severity="high", signature="s", summary="no", subject="", check=check
    )
    other = Failure(
        kind=FailureClass.WRONG_APPROACH, severity="high", signature="s", summary="no", subject="", check="agent"
    )
    assert advice_for(failed, start="base") != advice_for(other, start="base")
    assert advice_for(failed, start="attempt", number=2).endswith("from what attempt 2 left: go on from there.")


def test_a_task_that_says_all_it_can_is_told_what_was_in_the_way() -> None:
    failure = Failure(
        kind=FailureClass.CONTEXT_MISSING,
        severity="high",
        signature="s",
        summary="its tests could not be run at the base",
    )
    task = replace(TASK, files=("a.py",), verify=("pytest",))

    told = proposal_for(task, failure, None, "rewrite")

    assert told.startswith(f"{failure.summary}\n")
    assert f"milepost accept {TASK.id}" in told and "does not say" not in told
