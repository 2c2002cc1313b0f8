from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.watching import InstanceUse, TargetView, UpstreamCounts
from milepost.engine.watching.observe import (
    Facts,
    Look,
    Memory,
    measurements,
    remembered,
    since_live,
    situation_of,
    traffic_of,
)
from milepost.watch.heal.situation import CameBy, HealLimits, Situation

LIMITS = HealLimits()
FACTS = Facts(release=2, live_for_s=60, came_by=CameBy.DEPLOY, warm_is_proven=True, deploying=False, least=3, most=5)
GB = 1_000_000_000


def view(
    second: int,
    *,
    failed: int = 0,
    each: int = 50,
    in_flight: int = 0,
    cpu: float = 0.2,
    free: int = 9 * GB,
    release: int = 2,
) -> TargetView:
    """What was counted in so many seconds; the first instance has what is asked for, the second is well."""
    times = ((100.0, 2 * each * second), (1000.0, 2 * each * second))
    counts = (
        UpstreamCounts(requests=2 * each * second, errors=failed * second, time_ms=times),
        UpstreamCounts(instance=f"{release}.0", requests=each * second, errors=failed * second, in_flight=in_flight),
        UpstreamCounts(instance=f"{release}.1", requests=each * second, errors=0),
    )
    use = InstanceUse(name=f"{release}.0", alive=True, cpu_s=cpu * second, memory_bytes=50, memory_limit_bytes=100)
    other = replace(use, name=f"{release}.1", cpu_s=0.2 * second)
    answers = ((f"{release}.0", True), (f"{release}.1", True))
    return TargetView(
        release=release,
        previous=1,
        previous_answers=True,
        instances=(use, other),
        answers=answers,
        upstream=counts,
        disk_free_bytes=free,
        disk_bytes=10 * GB,
    )


def looks(*views: TargetView | None) -> list[Look]:
    return [Look(at=100.0 + at, clock=5000.0 + at, view=each) for at, each in enumerate(views)]


def situation(seen: list[Look]) -> Situation:
    memory = Memory()
    for at in range(1, len(seen) + 1):
        memory = remembered(memory, seen[:at], LIMITS)
    found = situation_of(seen, FACTS, memory, LIMITS)
    assert found is not None
    return found


def test_traffic_is_what_came_in_the_window_counted_before_any_retry() -> None:
    found = traffic_of(looks(*(view(at, failed=20) for at in range(1, 9))))
    assert found is not None
    assert (found.requests, found.error_rate) == (300, 0.2)
    assert found.p99_ms == pytest.approx(50, rel=0.02)
    assert found.utilisation == pytest.approx(0.2)


def test_one_look_says_nothing_of_traffic_and_no_request_is_no_data() -> None:
    assert traffic_of(looks(view(1))) is None
    assert traffic_of(looks(*(view(at, each=0) for at in range(1, 5)))) is None
    assert traffic_of(looks(view(1), view(2), None)) is None


def test_counters_that_began_anew_are_no_negative_traffic() -> None:
    found = traffic_of(looks(view(9), view(1)))
    assert found is not None
    assert found.requests == 100


def test_an_instance_is_judged_by_its_own_requests_and_what_is_under_way_at_it() -> None:
    slow = situation(looks(*(view(at, failed=10, in_flight=80, cpu=0.9) for at in range(1, 9))))
    first, second = slow.instances
    assert (first.error_rate, second.error_rate) == (0.2, 0.0)
    assert first.answer_ms == pytest.approx(1600)
    assert second.answer_ms == 0
    assert first.cpu_share == pytest.approx(0.9)
    assert first.memory_share == 0.5


def test_an_instance_that_becomes_slow_is_known_by_two_looks() -> None:
    well = [view(at) for at in range(1, 6)]
    one, two = (situation(looks(*well, *(view(6 + at, in_flight=80) for at in range(many)))) for many in (1, 2))
    assert (one.breach, two.breach) == (False, True)


def test_an_instance_that_spins_is_known_also_where_the_machine_gives_it_little() -> None:
    assert situation(looks(*(view(at, cpu=1.1) for at in range(1, 5)))).breach
    assert not situation(looks(*(view(at, cpu=0.9) for at in range(1, 5)))).breach  # the other one takes 0.2


def test_what_was_measured_of_the_release_before_is_not_laid_to_the_new_one() -> None:
    found = situation(looks(view(1, failed=90), view(2, failed=90), view(3, failed=90), view(4, release=3)))
    assert found.traffic is None
    assert found.traffic_before is not None
    assert found.traffic_before.error_rate == pytest.approx(0.9)
    assert {one.name for one in found.instances} == {"3.0", "3.1"}


def test_it_is_bad_without_a_pause_since_the_first_bad_look() -> None:
    well, ill = [view(at) for at in range(1, 4)], [view(at, failed=40) for at in range(4, 10)]
    assert situation(looks(*well)).bad_for_s == 0
    assert not situation(looks(*well)).breach
    found = situation(looks(*well, *ill))
    assert found.breach
    assert 3 <= found.bad_for_s <= 5


def test_a_target_that_cannot_be_looked_at_is_bad_and_what_was_seen_grows_old() -> None:
    found = situation(looks(view(1), view(2), None, None))
    assert found.breach
    assert found.seen_at == 101.0


def test_it_is_known_how_much_more_is_asked_than_when_it_was_well() -> None:
    calm = [view(at) for at in range(1, 9)]
    assert situation(looks(*calm)).asked_more == 1
    busy = [view(8 + 4 * at, in_flight=400) for at in range(1, 6)]
    assert (situation(looks(*calm, *busy)).asked_more or 0) > 2


def test_a_disk_that_fills_is_known_before_it_is_full() -> None:
    found = situation(looks(*(view(at, free=5 * GB - at * GB // 10) for at in range(1, 12))))
    assert found.disk_free == pytest.approx(0.39)
    assert found.disk_full_in_s == pytest.approx(39)
    assert situation(looks(*(view(at) for at in range(1, 12)))).disk_full_in_s is None


def test_a_disk_that_is_full_in_seconds_is_known_by_three_looks_and_a_moment_says_nothing() -> None:
    fast = [view(at, free=5 * GB - at * GB) for at in range(1, 4)]
    assert situation(looks(*fast)).disk_full_in_s == pytest.approx(2)
    assert situation(looks(*fast[:2])).disk_full_in_s is None
    assert situation(looks(*(view(at, free=5 * GB - at * GB // 10) for at in range(1, 4)))).disk_full_in_s is None


def test_a_dependency_that_is_back_is_known_to_have_been_gone() -> None:
    seen = looks(*(view(at) for at in range(1, 6)))
    gone = [replace(look, dependency_answers=at > 1) for at, look in enumerate(seen)]
    assert situation(gone[:2]).dependency_answers is False
    assert situation(gone).dependency_back_s == 3.0
    assert situation(seen).dependency_back_s is None


def test_a_jump_of_the_clock_makes_a_release_neither_older_nor_younger() -> None:
    memory = since_live(Memory(), (2, 5_000.0), clock=5_010.0, at=100.0)
    for jumped in (5_011.0 + 3600, 5_011.0 - 3600):
        assert since_live(memory, (2, 5_000.0), clock=jumped, at=101.0).live_at == 90.0
    assert since_live(memory, (3, 5_020.0), clock=5_020.0, at=110.0).live_at == 110.0
    assert since_live(memory, (3, 5_020.0), clock=5_000.0, at=110.0).live_at == 110.0


def test_what_nobody_could_tell_is_written_down_as_that() -> None:
    found = {one.metric: one.value for one in measurements(looks(view(1), None), Memory())}
    assert found["error_rate"] is None
    assert found["requests"] is None
    told = {one.metric: one.value for one in measurements(looks(view(1), view(2)), Memory())}
    assert (told["requests"], told["errors"], told["answers@2.0"]) == (100, 0, 1.0)
