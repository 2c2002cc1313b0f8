"""Each guard with a situation in which it alone stands between the watcher and a mistake."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from milepost.core.watching import RemedyKind
from milepost.watch.heal import decide as deciding
from milepost.watch.heal.decide import GUARDS, SIGHTS, decide
from milepost.watch.heal.situation import (
    CameBy,
    Decision,
    Escalate,
    HealLimits,
    InstanceState,
    PastRemedy,
    Remedy,
    RemedyOutcome,
    Situation,
    Traffic,
    Wait,
    WarmRelease,
)

NOW = 10_000.0
HELPED, MISSED = RemedyOutcome.HELPED, RemedyOutcome.DID_NOT_HELP
WELL = InstanceState(
    name="2.0", alive=True, was_ready=True, answers=True, error_rate=0.0, answer_ms=20, memory_share=0.3
)
FAILS, SLOW = replace(WELL, error_rate=0.3), replace(WELL, answer_ms=1600)
FULL, SILENT, DEAD = (
    replace(WELL, memory_share=0.9),
    replace(WELL, answers=False),
    replace(WELL, alive=False, answers=False),
)
QUIET = Traffic(requests=200, error_rate=0.0, p99_ms=40, utilisation=0.4)
ERRORS = Traffic(requests=200, error_rate=0.3, p99_ms=40, utilisation=0.4)
BUSY = Traffic(requests=900, error_rate=0.1, p99_ms=3000, utilisation=1.2)
BEFORE = Traffic(requests=200, error_rate=0.0, p99_ms=40)


def instances(*kinds: InstanceState) -> tuple[InstanceState, ...]:
    return tuple(replace(kind, name=f"2.{at}") for at, kind in enumerate(kinds))


def situation(*kinds: InstanceState, **changed: object) -> Situation:
    """A release that went live a minute ago, and has been bad for ten seconds."""
    found = Situation(
        seen_at=NOW,
        watcher_sees=True,
        release=2,
        live_for_s=60,
        came_by=CameBy.DEPLOY,
        warm=WarmRelease(number=1, answers=True, proven=True),
        deploying=False,
        instances=instances(*kinds),
        least=2,
        most=6,
        traffic=QUIET,
        traffic_before=BEFORE,
        dependency_answers=True,
        disk_free=0.5,
        disk_full_in_s=None,
        bad_for_s=10,
        breach=True,
    )
    return replace(found, **changed)  # type: ignore[arg-type]


def past(age: float, kind: RemedyKind, subject: str, outcome: RemedyOutcome = HELPED, release: int = 2) -> PastRemedy:
    return PastRemedy(at=NOW - age, kind=kind, subject=subject, release=release, outcome=outcome)


def done(decision: Decision) -> RemedyKind | str:
    return decision.kind if isinstance(decision, Remedy) else type(decision).__name__.lower()


BAD_RELEASE = situation(FAILS, FAILS, FAILS, traffic=ERRORS)
ONE_LEAKS = situation(FULL, WELL, WELL)
ALL_DEAD = situation(DEAD, DEAD, DEAD, live_for_s=9000)
OLD_BAD = replace(BAD_RELEASE, live_for_s=9000)
LONG = 100.0


@pytest.mark.parametrize(
    ("now", "remedy", "subject"),
    [
        (BAD_RELEASE, RemedyKind.ROLL_BACK, "2"),
        (situation(WELL, WELL, WELL, traffic=replace(QUIET, p99_ms=1700)), RemedyKind.ROLL_BACK, "2"),
        (situation(DEAD, DEAD, DEAD, bad_for_s=0), RemedyKind.REPLACE, "dead"),
        (situation(*[replace(WELL, deaths=2)] * 3, bad_for_s=0), RemedyKind.ROLL_BACK, "2"),
        (ALL_DEAD, RemedyKind.REPLACE, "dead"),
        (situation(WELL, DEAD, WELL, bad_for_s=0), RemedyKind.REPLACE, "dead"),
        (ONE_LEAKS, RemedyKind.RESTART, "2.0"),
        (situation(WELL, FAILS, WELL, traffic=replace(QUIET, error_rate=0.1)), RemedyKind.RESTART, "2.1"),
        (situation(WELL, WELL, SLOW, traffic=replace(QUIET, p99_ms=1700)), RemedyKind.RESTART, "2.2"),
        (situation(WELL, replace(WELL, cpu_share=0.95), WELL, bad_for_s=11), RemedyKind.RESTART, "2.1"),
        (situation(WELL, replace(WELL, cpu_share=0.3), WELL, bad_for_s=11), RemedyKind.RESTART, "2.1"),
        (situation(WELL, WELL, live_for_s=9000, traffic=BUSY), RemedyKind.SCALE_OUT, "2"),
        (situation(WELL, WELL, disk_free=0.02, bad_for_s=0), RemedyKind.CLEAR_DISK, "logs"),
        (situation(WELL, WELL, disk_full_in_s=20), RemedyKind.CLEAR_DISK, "logs"),
        (situation(FULL, WELL), RemedyKind.SCALE_OUT, "2"),
    ],
)
def test_what_helps_is_done(now: Situation, remedy: RemedyKind, subject: str) -> None:
    decision = decide(now, (), NOW)
    assert isinstance(decision, Remedy), decision
    assert (decision.kind, decision.subject) == (remedy, subject)
    assert decision.why


def test_a_release_that_dies_again_after_it_was_started_again_is_rolled_back() -> None:
    history = (past(30, RemedyKind.REPLACE, "dead"),)
    assert done(decide(situation(DEAD, DEAD, DEAD, bad_for_s=0), history, NOW)) == RemedyKind.ROLL_BACK


def test_a_release_that_died_again_is_rolled_back_without_the_pause_that_follows_a_remedy() -> None:
    history = (past(13, RemedyKind.REPLACE, "dead", MISSED),)
    assert done(decide(situation(DEAD, DEAD, DEAD), history, NOW)) == RemedyKind.ROLL_BACK


def test_a_disk_that_is_full_again_is_cleared_once_more_without_a_long_pause_and_then_a_person_is_called() -> None:
    full = situation(WELL, WELL, disk_free=0.02)
    once, twice = (past(13, RemedyKind.CLEAR_DISK, "logs", MISSED),), (past(40, RemedyKind.CLEAR_DISK, "logs", MISSED),)
    assert done(decide(full, once, NOW)) == RemedyKind.CLEAR_DISK
    assert done(decide(full, (*twice, *once), NOW)) == "escalate"
    assert done(decide(situation(WELL, WELL, disk_full_in_s=20), once, NOW)) == "wait"


@pytest.mark.parametrize("outcome", [HELPED, MISSED])
def test_who_suffers_for_a_minute_has_a_person_called_also_in_the_pause_between_two_remedies(
    outcome: RemedyOutcome,
) -> None:
    history = (past(10, RemedyKind.SCALE_OUT, "2", outcome),)
    busy = situation(WELL, WELL, live_for_s=9000, traffic=BUSY)
    assert done(decide(replace(busy, bad_for_s=30), history, NOW)) == "wait"
    assert done(decide(replace(busy, bad_for_s=61), history, NOW)) == "escalate"


@dataclass(frozen=True)
class Directed:
    """`guard` alone keeps `instead` from being done."""

    guard: str
    now: Situation
    history: tuple[PastRemedy, ...] = ()
    at: float = NOW
    right: RemedyKind | str = "wait"
    instead: RemedyKind | str = RemedyKind.ROLL_BACK


RESTART, ROLL_BACK, REPLACE = RemedyKind.RESTART, RemedyKind.ROLL_BACK, RemedyKind.REPLACE
DIRECTED = (
    Directed("fresh", BAD_RELEASE, at=NOW + 5),
    Directed("fresh", BAD_RELEASE, at=NOW - 5),
    Directed("fresh", BAD_RELEASE, at=NOW + 61, right="escalate"),
    Directed("watcher", replace(BAD_RELEASE, watcher_sees=False)),
    Directed("watcher", replace(BAD_RELEASE, watcher_sees=False, bad_for_s=61), right="escalate"),
    Directed("deploying", replace(BAD_RELEASE, deploying=True)),
    Directed("hysteresis", replace(ONE_LEAKS, breach=False), instead=RESTART),
    Directed("one_at_a_time", ONE_LEAKS, (past(15, RESTART, "2.1", RemedyOutcome.UNDER_WAY),), instead=RESTART),
    Directed("cooldown", ONE_LEAKS, (past(5, RESTART, "2.1"),), instead=RESTART),
    Directed(
        "backoff", ONE_LEAKS, (past(200, RESTART, "2.1", MISSED), past(60, RESTART, "2.2", MISSED)), instead=RESTART
    ),
    Directed(
        "strikes",
        ONE_LEAKS,
        tuple(past(age, RESTART, f"2.{age}", MISSED) for age in (900, 700, 500)),
        right="escalate",
        instead=RESTART,
    ),
    Directed("sustain", replace(BAD_RELEASE, bad_for_s=1)),
    Directed("no_data", situation(FAILS, WELL, WELL, traffic=replace(ERRORS, requests=5)), instead=RESTART),
    Directed("no_data", situation(FULL, WELL, WELL, traffic=None), instead=RESTART),
    Directed("dependency", replace(BAD_RELEASE, dependency_answers=False)),
    Directed("dependency", replace(BAD_RELEASE, dependency_answers=False, bad_for_s=LONG), right="escalate"),
    Directed("dependency", replace(BAD_RELEASE, dependency_back_s=2)),
    Directed("two_witnesses", situation(SILENT, WELL, WELL), instead=RESTART),
    Directed("overload", situation(SLOW, WELL, WELL, most=3, traffic=BUSY), right="escalate", instead=RESTART),
    Directed("slow_together", situation(SLOW, replace(WELL, answer_ms=700), WELL, live_for_s=9000), instead=RESTART),
    Directed(
        "bounds",
        situation(WELL, WELL, most=2, live_for_s=9000, traffic=BUSY),
        right="escalate",
        instead=RemedyKind.SCALE_OUT,
    ),
    Directed(
        "all_at_once", situation(FAILS, FAILS, FAILS, WELL, WELL, live_for_s=9000, traffic=ERRORS), instead=RESTART
    ),
    Directed("minimum", situation(FULL, WELL, most=2), instead=RESTART),
    Directed("blame_window", OLD_BAD),
    Directed("worse_than_before", replace(BAD_RELEASE, traffic_before=replace(BEFORE, error_rate=0.25))),
    Directed("more_is_asked", situation(WELL, WELL, WELL, traffic=replace(QUIET, p99_ms=1700), asked_more=1.8)),
    Directed(
        "known_good", replace(BAD_RELEASE, warm=WarmRelease(number=1, answers=True, proven=False)), right="escalate"
    ),
    Directed(
        "known_good", replace(BAD_RELEASE, warm=WarmRelease(number=1, answers=False, proven=True)), right="escalate"
    ),
    Directed(
        "no_rollback_of_rollback",
        replace(BAD_RELEASE, live_for_s=30),
        (past(200, ROLL_BACK, "1", release=1),),
        right="escalate",
    ),
    Directed(
        "crash_loop", situation(WELL, DEAD, WELL), (past(100, REPLACE, "dead"),), right="escalate", instead=REPLACE
    ),
    Directed(
        "recurrence",
        ONE_LEAKS,
        (past(500, RESTART, "2.0"), past(200, RESTART, "2.0")),
        right="escalate",
        instead=RESTART,
    ),
    Directed(
        "budget",
        ONE_LEAKS,
        (*(past(600 * at, RESTART, f"2.{at}") for at in range(5, 0, -1)), past(300, RESTART, "2.9")),
        right="escalate",
        instead=RESTART,
    ),
)


@pytest.mark.parametrize("case", DIRECTED, ids=lambda case: case.guard)
def test_a_guard_holds_back_what_would_be_done_without_it(case: Directed) -> None:
    assert done(decide(case.now, case.history, case.at)) == case.right
    guard = getattr(deciding, case.guard)
    sights, guards = [one for one in SIGHTS if one is not guard], [one for one in GUARDS if one is not guard]
    assert len(sights) + len(guards) == len(SIGHTS) + len(GUARDS) - 1
    assert done(decide(case.now, case.history, case.at, sights=sights, guards=guards)) == case.instead


def test_every_guard_has_a_situation_that_needs_it() -> None:
    assert {case.guard for case in DIRECTED} == {one.__name__ for one in (*SIGHTS, *GUARDS)}


def test_a_release_that_came_by_a_rollback_is_not_rolled_back() -> None:
    assert done(decide(replace(BAD_RELEASE, came_by=CameBy.ROLLBACK), (), NOW)) in ("wait", "escalate")


def test_what_nothing_here_can_heal_is_told_to_a_person_after_a_while() -> None:
    assert isinstance(decide(OLD_BAD, (), NOW), Wait)
    assert isinstance(decide(replace(OLD_BAD, bad_for_s=LONG), (), NOW), Escalate)
    assert isinstance(decide(situation(WELL, SILENT, WELL, bad_for_s=LONG), (), NOW), Escalate)


def test_an_old_remedy_is_no_reason_to_wait_and_a_later_one_that_helped_ends_a_row_of_failures() -> None:
    history = tuple(past(4000 + at, RESTART, f"2.{at}", MISSED) for at in (30, 20, 10))
    assert done(decide(ONE_LEAKS, history, NOW)) == RESTART
    history = (*(past(2000 + at, RESTART, f"2.{at}", MISSED) for at in (30, 20, 10)), past(900, RESTART, "2.7"))
    assert done(decide(ONE_LEAKS, history, NOW, HealLimits(remedies_an_hour=9))) == RESTART
