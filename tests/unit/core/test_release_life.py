"""The life of a release, as a table."""

import itertools

import pytest

from milepost.core.release_life import (
    Approved,
    Done,
    Duty,
    Failed,
    Impossible,
    News,
    Returned,
    Seen,
    Succeeded,
    TakenBack,
    Terms,
    after,
    duty,
    has_traffic,
    is_over,
)
from milepost.core.shipping import Health, Stage

TERMS = Terms(start_s=10, soak_s=5)
AT_ONCE = Terms(start_s=10, soak_s=5, at_once=True)
WELL, ILL, NOT_YET = Health(healthy=True), Health(healthy=False), Health(healthy=False, settled=False)


@pytest.mark.parametrize(
    ("stage", "news", "follows"),
    [
        (Stage.BUILDING, Done(), Stage.UPLOADING),
        (Stage.BUILDING, Done(asks=True), Stage.WAITING),
        (Stage.BUILDING, Failed("no compiler"), Stage.REJECTED),
        (Stage.WAITING, Approved(), Stage.UPLOADING),
        (Stage.WAITING, TakenBack(), Stage.REJECTED),
        (Stage.UPLOADING, Done(), Stage.STARTING),
        (Stage.UPLOADING, Failed("the disk is full"), Stage.REJECTED),
        (Stage.STARTING, Seen(NOT_YET, 9), Stage.STARTING),
        (Stage.STARTING, Seen(NOT_YET, 10), Stage.REJECTED),
        (Stage.STARTING, Seen(ILL, 0), Stage.REJECTED),
        (Stage.STARTING, Seen(WELL, 99), Stage.CHECKING),
        (Stage.CHECKING, Seen(WELL, 0), Stage.SWITCHING),
        (Stage.CHECKING, Seen(NOT_YET, 0), Stage.CHECKING),
        (Stage.CHECKING, Seen(ILL, 0), Stage.REJECTED),
        (Stage.SWITCHING, Done(), Stage.SOAKING),
        (Stage.SWITCHING, Failed("cut off"), Stage.ROLLING_BACK),
        (Stage.SOAKING, Seen(WELL, 4.9), Stage.SOAKING),
        (Stage.SOAKING, Seen(WELL, 5), Stage.LIVE),
        (Stage.SOAKING, Seen(NOT_YET, 14.9), Stage.SOAKING),
        (Stage.SOAKING, Seen(NOT_YET, 15), Stage.ROLLING_BACK),
        (Stage.SOAKING, Seen(ILL, 0), Stage.ROLLING_BACK),
        (Stage.SOAKING, TakenBack(), Stage.ROLLING_BACK),
        (Stage.ROLLING_BACK, Failed("cut off"), Stage.ROLLING_BACK),
        (Stage.ROLLING_BACK, Seen(NOT_YET, 0), Stage.ROLLING_BACK),
        (Stage.ROLLING_BACK, Seen(WELL, 0), Stage.ROLLED_BACK),
        (Stage.ROLLING_BACK, Seen(ILL, 0), Stage.ROLLED_BACK),
        (Stage.LIVE, Succeeded(), Stage.RETIRED),
        (Stage.LIVE, TakenBack(), Stage.ROLLING_BACK),
        (Stage.LIVE, Returned(), Stage.LIVE),
        (Stage.RETIRED, Returned(), Stage.LIVE),
    ],
)
def test_a_stage_follows_from_what_was_seen(stage: Stage, news: News, follows: Stage) -> None:
    assert after(stage, news, TERMS) is follows


@pytest.mark.parametrize(
    ("stage", "news"),
    [
        (Stage.LIVE, Done()),
        (Stage.LIVE, Failed("")),
        (Stage.LIVE, Seen(ILL, 0)),
        (Stage.BUILDING, Approved()),
        (Stage.REJECTED, TakenBack()),
        (Stage.SOAKING, Succeeded()),
        (Stage.ROLLED_BACK, Returned()),
    ],
)
def test_what_a_stage_cannot_hear_is_a_bug(stage: Stage, news: News) -> None:
    with pytest.raises(Impossible):
        after(stage, news, TERMS)


@pytest.mark.parametrize("stage", [Stage.UPLOADING, Stage.STARTING, Stage.CHECKING])
def test_where_a_target_gives_traffic_at_once_nothing_that_was_brought_is_rejected(stage: Stage) -> None:
    assert after(stage, TakenBack(), AT_ONCE) is Stage.ROLLING_BACK
    assert Stage.REJECTED not in _everything_from(stage, AT_ONCE)
    assert after(Stage.BUILDING, Failed(""), AT_ONCE) is Stage.REJECTED


def test_only_what_is_over_asks_for_nothing() -> None:
    assert {stage for stage in Stage if duty(stage) is Duty.NOTHING} == {stage for stage in Stage if is_over(stage)}


def _everything_from(stage: Stage, terms: Terms = TERMS) -> set[Stage]:
    """All stages that can be reached from one, by any news."""
    looks = [Seen(health, seconds) for health in (WELL, ILL, NOT_YET) for seconds in (0.0, 99.0)]
    news: list[News] = [Done(), Done(asks=True), Failed(""), Approved(), TakenBack(), Succeeded(), Returned(), *looks]
    reached, todo = {stage}, [stage]
    while todo:
        now = todo.pop()
        for one in news:
            try:
                follows = after(now, one, terms)
            except Impossible:
                continue
            if follows not in reached:
                reached.add(follows)
                todo.append(follows)
    return reached


def test_a_rollback_never_leads_to_another() -> None:
    assert _everything_from(Stage.ROLLING_BACK) == {Stage.ROLLING_BACK, Stage.ROLLED_BACK}


def test_what_may_have_had_traffic_is_never_rejected() -> None:
    assert all(Stage.REJECTED not in _everything_from(stage) for stage in Stage if has_traffic(stage, TERMS))


def test_every_stage_can_end() -> None:
    ends = {stage for stage in Stage if is_over(stage)}
    assert all(_everything_from(stage) & ends for stage in Stage)
    assert set(itertools.chain(*map(_everything_from, [Stage.BUILDING]))) == set(Stage)
