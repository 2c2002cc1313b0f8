"""What to do about a release that is not well: pure, from what is known of it and what was done before.

What could be done is proposed in the order of preference. Then each guard may object: the first remedy to which none
objects is done. Where all are objected to, it is waited, or a person is called when waiting is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from milepost.core.watching import RemedyKind
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
    Wait,
    spins,
)

HOUR_S, RECURRENCE_S, CRASHES_S = 3600.0, 600.0, 300.0
DEAD, LOGS = "dead", "logs"
_FEW_DEATHS = 2


@dataclass(frozen=True, slots=True)
class Objection:
    """Why not. `person`: waiting is of no use."""

    why: str
    person: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A situation with its past, and what follows from both at once."""

    now: Situation
    history: Sequence[PastRemedy]
    at: float
    limits: HealLimits

    @property
    def dead(self) -> list[InstanceState]:
        return [each for each in self.now.instances if not each.alive]

    @property
    def collapsed(self) -> bool:
        """No instance stays up: all died again after they were started again. Once may have any cause."""
        return bool(self.now.instances) and all(
            each.deaths >= _FEW_DEATHS or (not each.alive and self.replaced) for each in self.now.instances
        )

    @property
    def replaced(self) -> bool:
        """What was dead of this release was started again lately."""
        of_release = [past for past in self.recent if past.release == self.now.release]
        return any(past.kind is RemedyKind.REPLACE and self.at - past.at < CRASHES_S for past in of_release)

    @property
    def died_again(self) -> bool:
        """What was done last was to start all again, and the release died again: that effect is seen."""
        last = self.history[-1] if self.history else None
        return self.collapsed and self.young and last is not None and last.kind is RemedyKind.REPLACE

    @property
    def filled_again(self) -> bool:
        """Room was made on the disk, and it is full again: to wait for longer would help nobody."""
        last = self.history[-1] if self.history else None
        full = self.now.disk_free is not None and self.now.disk_free < self.limits.disk_low
        return full and last is not None and last.kind is RemedyKind.CLEAR_DISK

    @property
    def sick(self) -> list[InstanceState]:
        """Those that were ready once and are not well: the one that is worst first."""
        found = [each for each in self.now.instances if each.alive and each.was_ready and self._is_sick(each)]
        return sorted(found, key=lambda each: (each.memory_share or 0, each.error_rate or 0), reverse=True)

    @property
    def most_sick(self) -> bool:
        return len(self.sick) * 2 > len(self.now.instances) - len(self.dead)

    @property
    def young(self) -> bool:
        return self.now.came_by is CameBy.DEPLOY and self.now.live_for_s < self.limits.blame_s

    @property
    def users_suffer(self) -> bool:
        traffic = self.now.traffic
        return traffic is not None and (
            traffic.error_rate > self.limits.error_rate or traffic.p99_ms > self.limits.p99_ms
        )

    @property
    def overloaded(self) -> bool:
        traffic = self.now.traffic
        return traffic is not None and traffic.utilisation is not None and traffic.utilisation > self.limits.busy

    @property
    def recent(self) -> list[PastRemedy]:
        return [past for past in self.history if self.at - past.at < HOUR_S]

    @property
    def misses(self) -> int:
        """How many remedies in a row did not help, up to now."""
        outcomes = [past.outcome for past in reversed(self.recent)]
        return next((at for at, one in enumerate(outcomes) if one is not RemedyOutcome.DID_NOT_HELP), len(outcomes))

    def has_symptom(self, each: InstanceState) -> bool:
        """Something besides its health page speaks against an instance."""
        limits = self.limits
        return (
            (each.error_rate or 0) > limits.error_rate
            or (each.answer_ms or 0) > limits.p99_ms
            or (each.memory_share or 0) > limits.memory_share
            or self._spins(each)
        )

    def _is_sick(self, each: InstanceState) -> bool:
        return each.answers is False or self.has_symptom(each)

    def _spins(self, each: InstanceState) -> bool:
        return self.now.bad_for_s >= self.limits.spin_s and spins(each, self.now.instances, self.limits)


# What forbids anything at all.
Sight = Callable[[Case], Decision | None]


def fresh(case: Case) -> Decision | None:
    age = case.at - case.now.seen_at
    if 0 <= age <= case.limits.stale_s:
        return None
    return Escalate("nothing is measured any more") if age > case.limits.blind_s else Wait("what was measured is old")


def watcher(case: Case) -> Decision | None:
    if case.now.watcher_sees:
        return None
    long = case.now.bad_for_s > case.limits.blind_s
    return Escalate("the watcher reaches nothing, not even itself") if long else Wait("the watcher sees nothing")


def deploying(case: Case) -> Decision | None:
    return Wait("a deploy is under way") if case.now.deploying else None


def hysteresis(case: Case) -> Decision | None:
    return None if case.now.breach else Wait("no threshold is broken now")


def one_at_a_time(case: Case) -> Decision | None:
    under_way = [past for past in case.history if past.outcome is RemedyOutcome.UNDER_WAY]
    return Wait(f"it is not known yet whether {under_way[-1].kind} helped") if under_way else None


def cooldown(case: Case) -> Decision | None:
    pause = case.limits.settle_s + (case.limits.cooldown_s if case.misses and not case.filled_again else 0)
    return _paused(case, pause, "what was done last may still show its effect")


def backoff(case: Case) -> Decision | None:
    pause = case.limits.settle_s + case.limits.cooldown_s * 2**case.misses
    if not case.misses or case.filled_again:
        return None
    return _paused(case, pause, f"{case.misses} remedies in a row did not help")


def _paused(case: Case, pause: float, why: str) -> Decision | None:
    """Between two remedies it is waited, but nobody suffers for long without a person who knows of it."""
    last = case.history[-1] if case.history else None
    if last is None or case.at - last.at >= pause or case.died_again:
        return None
    return Escalate(why) if case.now.bad_for_s > case.limits.patience_s else Wait(why)


def strikes(case: Case) -> Decision | None:
    many = case.misses >= case.limits.strikes
    return Escalate(f"{case.misses} remedies in a row did not help") if many else None


SIGHTS: tuple[Sight, ...] = (fresh, watcher, deploying, hysteresis, one_at_a_time, strikes, cooldown, backoff)

# What forbids one remedy.
Guard = Callable[[Case, Remedy], Objection | None]
_OF_INSTANCES = (RemedyKind.RESTART, RemedyKind.ROLL_BACK, RemedyKind.SCALE_OUT)


def sustain(case: Case, remedy: Remedy) -> Objection | None:
    """Dead processes and a full disk need no second look."""
    at_once = case.collapsed or remedy.kind not in _OF_INSTANCES
    return None if at_once or case.now.bad_for_s >= case.limits.sustain_s else Objection("not bad for long enough")


def no_data(case: Case, remedy: Remedy) -> Objection | None:
    traffic = case.now.traffic
    known = traffic is not None and traffic.requests >= case.limits.least_requests
    if known or case.collapsed or remedy.kind not in _OF_INSTANCES:
        return None
    return Objection("too few requests to tell anything")


def dependency(case: Case, remedy: Remedy) -> Objection | None:
    if remedy.kind not in _OF_INSTANCES:
        return None
    if case.now.dependency_answers is False:
        return Objection("what it depends on does not answer, and nothing here helps that")
    back = case.now.dependency_back_s
    just = back is not None and back < case.limits.window_s
    return Objection("what it depends on answers again, and what was measured may be of before") if just else None


def two_witnesses(case: Case, remedy: Remedy) -> Objection | None:
    if remedy.kind not in (RemedyKind.RESTART, RemedyKind.ROLL_BACK) or case.collapsed or case.users_suffer:
        return None
    if any(case.has_symptom(each) for each in case.sick):
        return None
    return Objection("its health page fails, and users are served")


def overload(case: Case, remedy: Remedy) -> Objection | None:
    if not (case.overloaded and case.users_suffer) or case.collapsed:
        return None
    traffic = case.now.traffic
    fails = traffic is not None and traffic.error_rate > 0.2 and traffic.p99_ms <= case.limits.p99_ms
    if remedy.kind is RemedyKind.RESTART or (remedy.kind is RemedyKind.ROLL_BACK and not (case.young and fails)):
        return Objection("there is more to do than the instances can, and none fewer may be at it")
    return None


def slow_together(case: Case, remedy: Remedy) -> Objection | None:
    """Under load one instance is the first to be slow. It is at fault where it is much slower than the others."""
    one = next((each for each in case.now.instances if each.name == remedy.subject), None)
    if remedy.kind is not RemedyKind.RESTART or one is None or not case.has_symptom(one):
        return None
    if case.has_symptom(replace(one, answer_ms=None)):
        return None
    others = [each.answer_ms or 0 for each in case.now.instances if each.alive and each.name != one.name]
    together = bool(others) and (one.answer_ms or 0) < 3 * max(others)
    return Objection("the others are slow as well") if together else None


def bounds(case: Case, remedy: Remedy) -> Objection | None:
    full = remedy.kind is RemedyKind.SCALE_OUT and len(case.now.instances) >= case.now.most
    return (
        Objection(f"{case.now.most} instances are the most that are allowed", person=case.overloaded) if full else None
    )


def all_at_once(case: Case, remedy: Remedy) -> Objection | None:
    majority = remedy.kind is RemedyKind.RESTART and case.most_sick
    return Objection("most instances are not well at once: it is not them") if majority else None


def minimum(case: Case, remedy: Remedy) -> Objection | None:
    if remedy.kind is not RemedyKind.RESTART:
        return None
    left = [
        each
        for each in case.now.instances
        if each.alive and each.was_ready and each.answers is not False and each.name != remedy.subject
    ]
    return Objection("too few instances would be left") if len(left) < case.now.least else None


def blame_window(case: Case, remedy: Remedy) -> Objection | None:
    old = remedy.kind is RemedyKind.ROLL_BACK and case.now.live_for_s >= case.limits.blame_s
    return Objection("the release was well for too long to be the cause") if old else None


def worse_than_before(case: Case, remedy: Remedy) -> Objection | None:
    """A release is not at fault for what was there before it."""
    now, before = case.now.traffic, case.now.traffic_before
    if remedy.kind is not RemedyKind.ROLL_BACK or case.collapsed or now is None or before is None:
        return None
    errors = now.error_rate > max(case.limits.error_rate, 3 * before.error_rate)
    slow = now.p99_ms > max(case.limits.p99_ms, 3 * before.p99_ms)
    return None if errors or slow else Objection("it was as bad before this release")


def more_is_asked(case: Case, remedy: Remedy) -> Objection | None:
    """A release that became slow with more requests would not be faster as the one before."""
    traffic, more = case.now.traffic, case.now.asked_more
    if remedy.kind is not RemedyKind.ROLL_BACK or case.collapsed or traffic is None or more is None:
        return None
    slow = traffic.error_rate <= case.limits.error_rate
    return Objection(f"{more:.1f} times as much is asked of it") if slow and more > case.limits.more else None


def known_good(case: Case, remedy: Remedy) -> Objection | None:
    warm = case.now.warm
    if remedy.kind is not RemedyKind.ROLL_BACK or (warm is not None and warm.answers and warm.proven):
        return None
    return Objection(
        "there is no release that was well and still runs", person=case.now.bad_for_s > case.limits.window_s
    )


def no_rollback_of_rollback(case: Case, remedy: Remedy) -> Objection | None:
    warm = case.now.warm
    if remedy.kind is not RemedyKind.ROLL_BACK:
        return None
    back = any(past.kind is RemedyKind.ROLL_BACK and warm and past.release == warm.number for past in case.history)
    if case.now.came_by is CameBy.ROLLBACK or back:
        return Objection("this would go back to what was rolled back", person=True)
    return None


def crash_loop(case: Case, remedy: Remedy) -> Objection | None:
    """What dies soon after its release and again is not helped by being started again."""
    if remedy.kind is not RemedyKind.REPLACE or not case.young:
        return None
    return Objection("what is started again dies again", person=True) if case.replaced else None


def recurrence(case: Case, remedy: Remedy) -> Objection | None:
    again = [
        past
        for past in case.recent
        if (past.kind, past.subject) == (remedy.kind, remedy.subject) and case.at - past.at < RECURRENCE_S
    ]
    often = remedy.kind is not RemedyKind.SCALE_OUT and len(again) >= 2
    return Objection(f"{remedy.kind} of {remedy.subject} helps only for a while", person=True) if often else None


def budget(case: Case, remedy: Remedy) -> Objection | None:
    spent = len(case.recent) >= case.limits.remedies_an_hour
    return (
        Objection(f"{len(case.recent)} remedies in an hour; next would be {remedy.kind}", person=True)
        if spent
        else None
    )


GUARDS: tuple[Guard, ...] = (
    *(sustain, no_data, dependency, two_witnesses, overload, slow_together, bounds, all_at_once, minimum),
    *(
        blame_window,
        worse_than_before,
        more_is_asked,
        known_good,
        no_rollback_of_rollback,
        crash_loop,
        recurrence,
        budget,
    ),
)


def decide(
    situation: Situation,
    history: Sequence[PastRemedy],
    at: float,
    limits: HealLimits | None = None,
    *,
    sights: Sequence[Sight] = SIGHTS,
    guards: Sequence[Guard] = GUARDS,
) -> Decision:
    """What to do now. `at` and all moments in what is given are of one monotonic clock."""
    case = Case(now=situation, history=history, at=at, limits=limits or HealLimits())
    for sight in sights:
        if (decision := sight(case)) is not None:
            return decision
    objections = []
    for remedy in proposals(case):
        objection = next((found for guard in guards if (found := guard(case, remedy))), None)
        if objection is None:
            return remedy
        objections.append(objection)
    if urgent := next((each for each in objections if each.person), None):
        return Escalate(urgent.why)
    if situation.bad_for_s > case.limits.patience_s:
        return Escalate(objections[0].why if objections else "no cause is known that anything here would help")
    return Wait(objections[0].why if objections else "nothing here would help")


def proposals(case: Case) -> Iterator[Remedy]:
    """What could be done, the best first."""
    now, limits, sick = case.now, case.limits, case.sick
    release = str(now.release)
    if case.collapsed and now.came_by is CameBy.DEPLOY:
        yield Remedy(RemedyKind.ROLL_BACK, release, "no instance of the release stays up")
    if case.dead:
        yield Remedy(RemedyKind.REPLACE, DEAD, f"{len(case.dead)} of {len(now.instances)} instances are dead")
        return
    if _fills(now.disk_free, now.disk_full_in_s, limits):
        yield Remedy(RemedyKind.CLEAR_DISK, LOGS, "the disk is full, or will be soon")
        return
    if case.users_suffer and case.overloaded:
        yield Remedy(RemedyKind.SCALE_OUT, release, "users wait, and the instances can do no more")
    if sick and case.most_sick:
        yield Remedy(RemedyKind.ROLL_BACK, release, "most instances are not well since the release")
    elif case.users_suffer and not sick and now.came_by is CameBy.DEPLOY:
        yield Remedy(RemedyKind.ROLL_BACK, release, "users are not served well since the release")
    if sick:
        yield Remedy(RemedyKind.RESTART, sick[0].name, _symptom(sick[0], limits))
    if sick and not case.most_sick and len(now.instances) == now.least:
        yield Remedy(RemedyKind.SCALE_OUT, release, "a spare instance, before one is restarted")


def _fills(free: float | None, full_in_s: float | None, limits: HealLimits) -> bool:
    return (free is not None and free < limits.disk_low) or (full_in_s is not None and full_in_s < limits.disk_soon_s)


def _symptom(each: InstanceState, limits: HealLimits) -> str:
    if (each.memory_share or 0) > limits.memory_share:
        return f"it has {each.memory_share:.0%} of its memory"
    if (each.error_rate or 0) > limits.error_rate:
        return f"it fails {each.error_rate:.0%} of its requests, the others do not"
    if (each.answer_ms or 0) > limits.p99_ms:
        return f"it takes {each.answer_ms:.0f} ms to answer, the others do not"
    if each.answers is False:
        return "it does not answer, the others do"
    return f"it takes {each.cpu_share or 0:.0%} of a processor, the others do not"
