"""What several looks at a target come to: measurements for people, a situation for the decision. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from milepost.core.shipping import Measurement
from milepost.core.watching import InstanceUse, TargetView, UpstreamCounts
from milepost.watch.heal.situation import (
    CameBy,
    HealLimits,
    InstanceState,
    Situation,
    Traffic,
    WarmRelease,
    spins,
)
from milepost.watch.spread import spread_between

WINDOW_S, SLOPE_S = 3.0, 15.0
LEAST_OF_ONE = 5
"""With fewer requests an instance has no error rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look. `at` is monotonic, `clock` what a person's watch says; None: the target could not be looked at."""

    at: float
    clock: float
    view: TargetView | None
    watcher_sees: bool = True
    dependency_answers: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the records say of the release that is live."""

    release: int
    live_for_s: float
    came_by: CameBy
    warm_is_proven: bool
    deploying: bool
    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is known from before the looks at hand."""

    ready: frozenset[str] = frozenset()
    """Instances that have answered once."""
    traffic_before: Traffic | None = None
    traffic: Traffic | None = None
    asked_when_well: float | None = None
    """How many requests came in a second while this release was well lately."""
    release: int = 0
    bad_since: float | None = None
    dependency_down_at: float | None = None
    live: tuple[int, float] = (0, 0.0)
    """The release with the traffic, and since when by the user's clock, as it is recorded."""
    live_at: float = 0.0
    """That moment by the monotonic clock: the user's may jump."""


def since_live(memory: Memory, live: tuple[int, float], clock: float, at: float) -> Memory:
    """The memory with the moment since which a release has the traffic; both clocks are compared but once."""
    if live == memory.live:
        return memory
    return replace(memory, live=live, live_at=at - max(0.0, clock - live[1]))


def remembered(memory: Memory, looks: Sequence[Look], limits: HealLimits) -> Memory:
    """The memory after the newest look."""
    last = looks[-1]
    if last.dependency_answers is False:
        memory = replace(memory, dependency_down_at=last.at)
    bad = is_bad(looks, memory.ready, limits)
    memory = replace(memory, bad_since=(last.at if memory.bad_since is None else memory.bad_since) if bad else None)
    if last.view is None:
        return memory
    if last.view.release != memory.release:
        memory = replace(memory, release=last.view.release, traffic_before=memory.traffic, traffic=None)
        memory = replace(memory, asked_when_well=None)
    ready = memory.ready | {name for name, answers in last.view.answers if answers}
    traffic = traffic_of(looks)
    calm = memory.traffic if traffic is None else traffic
    asked = memory.asked_when_well
    now = asked_each_s(looks)
    if now is not None and not bad:  # slowly: more may be asked for a look or two before it is bad
        asked = now if asked is None else asked + (now - asked) / 10
    return replace(memory, ready=ready, traffic=calm, asked_when_well=asked)


def situation_of(looks: Sequence[Look], facts: Facts, memory: Memory, limits: HealLimits) -> Situation | None:
    """What is known now; None before anything was seen."""
    seen = [look for look in looks if look.view is not None]
    if not seen or seen[-1].view is None:
        return None
    now, last, view = looks[-1], seen[-1], seen[-1].view
    free, full_in = disk_of(looks)
    down_at = memory.dependency_down_at
    asked, before = asked_each_s(looks), memory.asked_when_well
    return Situation(
        seen_at=last.at,
        watcher_sees=now.watcher_sees,
        release=view.release,
        live_for_s=facts.live_for_s,
        came_by=facts.came_by,
        warm=None
        if view.previous is None
        else WarmRelease(number=view.previous, answers=view.previous_answers, proven=facts.warm_is_proven),
        deploying=facts.deploying,
        instances=instances_of(looks, memory.ready),
        least=max(1, facts.least - 1),
        most=facts.most,
        traffic=traffic_of(looks),
        asked_more=asked / before if asked and before else None,
        traffic_before=memory.traffic_before,
        dependency_answers=now.dependency_answers,
        dependency_back_s=None if down_at is None or now.dependency_answers is False else now.at - down_at,
        disk_free=free,
        disk_full_in_s=full_in,
        bad_for_s=0.0 if memory.bad_since is None else now.at - memory.bad_since,
        breach=is_bad(looks, memory.ready, limits),
    )


def is_bad(looks: Sequence[Look], ready: frozenset[str], limits: HealLimits) -> bool:
    """Whether a threshold is broken now."""
    now = looks[-1]
    if not now.watcher_sees or now.view is None:
        return True
    free, full_in = disk_of(looks)
    full = (free is not None and free < limits.disk_low) or (full_in is not None and full_in < limits.disk_soon_s)
    instances = instances_of(looks, ready)
    ill = any(_is_ill(one, limits) or spins(one, instances, limits) for one in instances)
    return full or ill or _suffers(traffic_of(looks), limits)


def _suffers(traffic: Traffic | None, limits: HealLimits) -> bool:
    return traffic is not None and (traffic.error_rate > limits.error_rate or traffic.p99_ms > limits.p99_ms)


def _is_ill(one: InstanceState, limits: HealLimits) -> bool:
    return (
        not one.alive
        or one.deaths >= 2
        or (one.was_ready and one.answers is False)
        or (one.error_rate or 0) > limits.error_rate
        or (one.answer_ms or 0) > limits.p99_ms
        or (one.memory_share or 0) > limits.memory_share
    )


def window(looks: Sequence[Look], length_s: float = WINDOW_S) -> list[Look]:
    """The looks of the last seconds at the release that is live now, and the one before them to count from."""
    last = looks[-1]
    if last.view is None:
        return []
    found: list[Look] = []
    for look in reversed(looks):
        if look.view is None or look.view.release != last.view.release:
            break
        found.append(look)
        if last.at - look.at >= length_s:
            break
    return found[::-1]


def traffic_of(looks: Sequence[Look]) -> Traffic | None:
    """What requests came to in the last looks; None where nobody could tell."""
    ends = _ends(looks, "")
    if ends is None:
        return None
    before, now, _ = ends
    asked, failed = _grown(before, now)
    spread = spread_between(before.time_ms, now.time_ms)
    if asked == 0:
        return None
    shares = [one.cpu_share for one in instances_of(looks, frozenset()) if one.cpu_share is not None]
    return Traffic(
        requests=asked,
        error_rate=min(1.0, failed / asked),
        p99_ms=spread.p99 if spread else 0.0,
        utilisation=sum(shares) / len(shares) if shares else None,
    )


def asked_each_s(looks: Sequence[Look]) -> float | None:
    """How many requests came in a second of the last looks."""
    ends = _ends(looks, "")
    return _grown(ends[0], ends[1])[0] / ends[2] if ends else None


def instances_of(looks: Sequence[Look], ready: frozenset[str]) -> tuple[InstanceState, ...]:
    near = window(looks)
    if not near or near[-1].view is None:
        return ()
    answers: Mapping[str, bool] = dict(near[-1].view.answers)
    return tuple(_instance(one, looks, near, answers.get(one.name), ready) for one in near[-1].view.instances)


def _instance(
    use: InstanceUse, looks: Sequence[Look], near: Sequence[Look], answers: bool | None, ready: frozenset[str]
) -> InstanceState:
    ends = _ends(looks, use.name)
    error_rate = answer_ms = cpu = None
    if ends is not None:
        before, now, seconds = ends
        asked, failed = _grown(before, now)
        # of two looks: one alone may be a coincidence, and more know of a slow instance later
        under_way = [one.in_flight for look in near[1:][-2:] for one in _counts(look, use.name)]
        error_rate = min(1.0, failed / asked) if asked >= LEAST_OF_ONE else None
        if under_way and asked >= LEAST_OF_ONE:  # what is under way, by how fast it comes, is how long it stays
            answer_ms = 1000 * sum(under_way) / len(under_way) / (asked / seconds)
    first = next((one for one in near[0].view.instances if one.name == use.name), None) if near[0].view else None
    if first and first.cpu_s is not None and use.cpu_s is not None and near[-1].at > near[0].at:
        cpu = max(0.0, use.cpu_s - first.cpu_s) / (near[-1].at - near[0].at)
    limit, memory = use.memory_limit_bytes, use.memory_bytes
    return InstanceState(
        name=use.name,
        alive=use.alive,
        was_ready=use.name in ready,
        answers=answers,
        deaths=use.restarts,
        error_rate=error_rate,
        answer_ms=answer_ms,
        memory_share=memory / limit if limit and memory is not None else None,
        cpu_share=cpu,
    )


def disk_of(looks: Sequence[Look]) -> tuple[float | None, float | None]:
    """The free share of the disk, and in how many seconds it is full, by how it filled lately."""
    known = [look for look in looks if look.view is not None and look.view.disk_bytes]
    if not known or known[-1].view is None or not known[-1].view.disk_bytes:
        return None, None
    last, view = known[-1], known[-1].view
    free = view.disk_free_bytes or 0
    earlier = [look for look in known if last.at - look.at <= SLOPE_S]
    first = earlier[0]
    gone = (first.view.disk_free_bytes or 0) - free if first.view else 0
    seconds = last.at - first.at
    full_in = free / (gone / seconds) if gone > 0 and seconds > 0 else None
    if full_in is not None and seconds < SLOPE_S / 3 and (seconds < SLOPE_S / 10 or full_in > 5 * seconds):
        full_in = None  # what has been seen for a moment tells little of what comes later
    return free / (view.disk_bytes or 1), full_in


def measurements(looks: Sequence[Look], memory: Memory) -> Iterator[Measurement]:
    """What is written down of the newest look; what nobody could tell has no value."""
    now = looks[-1]

    def one(metric: str, value: float | None) -> Measurement:
        return Measurement(metric=metric, value=value, at=now.clock)

    traffic, ends = traffic_of(looks), _ends(looks, "", 0.0)
    asked, failed = _grown(ends[0], ends[1]) if ends else (None, None)
    yield one("requests", asked)
    yield one("errors", failed)
    yield one("error_rate", traffic.error_rate if traffic else None)
    spread = spread_between(ends[0].time_ms, ends[1].time_ms) if ends else None
    yield one("p50_ms", spread.p50 if spread else None)
    yield one("p95_ms", spread.p95 if spread else None)
    yield one("p99_ms", traffic.p99_ms if traffic else None)
    yield one("disk_free", disk_of(looks)[0])
    yield one("up@control", float(now.watcher_sees))
    if now.dependency_answers is not None:
        yield one("up@dependencies", float(now.dependency_answers))
    for each in instances_of(looks, memory.ready):
        yield one(f"answers@{each.name}", None if each.answers is None else float(each.answers and each.alive))
        yield one(f"cpu@{each.name}", each.cpu_share)
        if each.memory_share is not None:
            yield one(f"memory@{each.name}", each.memory_share)
        yield one(f"restarts@{each.name}", float(each.deaths))


def _counts(look: Look, instance: str) -> list[UpstreamCounts]:
    return [one for one in look.view.upstream if one.instance == instance] if look.view else []


def _ends(
    looks: Sequence[Look], instance: str, length_s: float = WINDOW_S
) -> tuple[UpstreamCounts, UpstreamCounts, float] | None:
    """The counts at both ends of the window, and the seconds between."""
    near = window(looks, length_s) if length_s else window(looks)[-2:]
    if len(near) < 2 or near[-1].at <= near[0].at:
        return None
    before, now = _counts(near[0], instance), _counts(near[-1], instance)
    return (before[0], now[0], near[-1].at - near[0].at) if before and now else None


def _grown(before: UpstreamCounts, now: UpstreamCounts) -> tuple[int, int]:
    """What came in between; counters that began anew count from nothing."""
    asked, failed = now.requests - before.requests, now.errors - before.errors
    return (asked, failed) if asked >= 0 and failed >= 0 else (now.requests, now.errors)
