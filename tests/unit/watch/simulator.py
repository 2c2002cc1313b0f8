"""A day of a service with faults, on a clock of its own: queues of instances, clients who ask again, a person.

Nothing is seen as it is: the watcher has looks of a second, a window of three, and what its probes say.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from milepost.core.watching import RemedyKind
from milepost.watch.heal.decide import GUARDS, SIGHTS, decide
from milepost.watch.heal.situation import (
    CameBy,
    Escalate,
    HealLimits,
    InstanceState,
    PastRemedy,
    Remedy,
    RemedyOutcome,
    Situation,
    Traffic,
    WarmRelease,
)
from tests.unit.watch.oracle import Judge, Truth

DAY_S, CALM_S, PERSON_S = 86_400, 240, 300.0
CAPACITY, DEMAND, LEAST, MOST = 100.0, 140.0, 2, 6
FAULTS = (
    *("crash one", "crash all", "leak", "spin", "slow one", "dependency", "load", "low traffic", "blip"),
    *("bad release", "crashing release", "slow release", "late release", "good release", "bad after bad"),
    *("blind", "flap", "health page", "stale", "disk"),
)


@dataclass
class Machine:
    name: str
    ready_at: float
    alive: bool = True
    leaks: bool = False
    spins: bool = False
    slow: bool = False
    memory: float = 0.3
    queue: float = 0.0
    failed: float = 0.0
    answered: float = 0.0
    ms: float = 20.0
    cpu: float = 0.4
    deaths: list[float] = field(default_factory=list)


@dataclass
class Day:
    """What came of one simulated day."""

    found: list[tuple[str, str]] = field(default_factory=list)
    """What was not right, by the name of its rule."""
    acts: int = 0
    calls: int = 0
    ill_s: int = 0


class World:
    """The service as it is."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.at, self.made = chance, 0.0, 0
        self.release, self.before = 2, 1
        self.live_since, self.came_by = -9000.0, CameBy.DEPLOY
        self.kinds: dict[int, tuple[str, float]] = {}
        self.soaked, self.known_bad = {1, 2}, set[int]()
        self.until: dict[str, float] = {}
        self.spike, self.disk, self.fills = 1.0, 0.5, 0.0
        self.health_page_wrong = False
        self.coming: tuple[float, int] | None = None
        self.retried = 0.0
        self.machines = [self.machine(-60) for _ in range(3)]
        self.window: deque[tuple[float, float, float, float]] = deque(maxlen=3)
        self.earlier = Traffic(requests=400, error_rate=0.0, p99_ms=40)

    def machine(self, ready_at: float) -> Machine:
        self.made += 1
        return Machine(f"{self.release}.{self.made}", ready_at)

    def during(self, what: str) -> bool:
        return self.at < self.until.get(what, -1)

    @property
    def kind(self) -> str:
        """What is wrong with the release now, if anything."""
        kind, after = self.kinds.get(self.release, ("", 0.0))
        return kind if self.at - self.live_since >= after else ""

    def inject(self, fault: str) -> None:
        chance, alive = self.chance, [one for one in self.machines if one.alive]
        lasts = {"dependency": (20, 300), "load": (60, 300), "low traffic": (60, 300), "blip": (1, 2)}
        lasts |= {"blind": (10, 120), "flap": (1, 3), "stale": (5, 90)}
        if fault in lasts:
            self.until[fault] = self.at + chance.uniform(*lasts[fault])
        if fault == "load":
            self.spike = chance.uniform(1.8, 4)
        elif fault == "crash one" and alive:
            self.die(chance.choice(alive))
        elif fault == "crash all":
            for one in alive:
                self.die(one)
        elif fault in ("leak", "spin", "slow one") and alive:
            victim = chance.choice(alive)
            victim.leaks, victim.spins, victim.slow = fault == "leak", fault == "spin", fault == "slow one"
        elif "release" in fault or fault == "bad after bad":
            self.deploy(fault)
        elif fault == "health page":
            self.health_page_wrong = True
        elif fault == "disk":
            self.fills = chance.uniform(0.0015, 0.01)

    def deploy(self, fault: str) -> None:
        if self.coming is not None:
            return
        number = max(self.release, *self.kinds, self.before, 2) + 1
        kinds = {
            "bad release": "errors",
            "crashing release": "crashes",
            "slow release": "slow",
            "late release": "errors",
        }
        if fault == "bad after bad":
            self.kinds[self.release] = ("errors", 0.0) if self.at - self.live_since > 60 else ("", 0.0)
            kinds[fault] = "errors"
        if fault in kinds:
            self.kinds[number] = (kinds[fault], self.chance.uniform(20, 150) if fault == "late release" else 0.0)
        self.coming = (self.at + self.chance.uniform(5, 15), number)

    def die(self, one: Machine) -> None:
        one.alive = False
        one.deaths.append(self.at)

    def step(self) -> None:
        self.at += 1
        if self.coming is not None and self.at >= self.coming[0]:
            self.earlier = self.traffic() or self.earlier
            self.before, self.release, self.coming = self.release, self.coming[1], None
            self.live_since, self.came_by = self.at, CameBy.DEPLOY
            self.machines = [self.machine(self.at - 2) for _ in range(max(3, len(self.machines)))]
            self.window.clear()
        if self.at - self.live_since > 60 and not self.kind and self.is_well:
            self.soaked.add(self.release)
        self.disk = max(0.0, self.disk - self.fills)
        self.serve()

    def serve(self) -> None:
        kind = self.kind
        for one in self.machines:
            if one.alive and ((kind == "crashes" and self.at - one.ready_at > 3) or one.memory >= 1):
                self.die(one)
            one.memory += 0.012 if one.leaks and one.alive else 0
            one.failed = one.answered = 0.0
        asked = DEMAND * (self.spike if self.during("load") else 1) * (0.02 if self.during("low traffic") else 1)
        asked = asked * self.chance.uniform(0.95, 1.05) + self.retried
        ready = [one for one in self.machines if one.alive and self.at >= one.ready_at]
        share = max(
            [
                0.9 * self.during("dependency"),
                0.4 * self.during("blip"),
                0.3 * (kind == "errors"),
                0.25 * (self.disk < 0.02),
            ]
        )
        share = min(1.0, share + max(0.0, self.chance.gauss(0.002, 0.002)))
        worst = 20.0
        for one in ready:
            can = CAPACITY * (0.1 if one.spins else 1) * (0.5 if one.memory > 0.9 else 1)
            one.queue += asked / len(ready)
            one.answered = min(one.queue, can)
            one.queue -= one.answered
            dropped = max(0.0, one.queue - 2 * can)
            one.queue -= dropped
            one.failed = one.answered * share + dropped
            one.answered += dropped
            used = min(0.98, asked / len(ready) / can)
            slow = 1500 if one.slow or kind == "slow" else 0
            one.ms = (10 / (1 - used) + 1000 * one.queue / can + slow) * self.chance.uniform(0.9, 1.1)
            one.cpu = 1.0 if one.spins else 0.05 + 0.5 * min(1.0, asked / len(ready) / can)
            worst = max(worst, 2 * one.ms)
        failed = sum(one.failed for one in ready) if ready else asked
        total = sum(one.answered for one in ready) if ready else asked
        self.retried = min(0.5 * failed, DEMAND)
        self.window.append((total, failed, worst, asked / (CAPACITY * len(ready)) if ready else 0.0))

    @property
    def is_well(self) -> bool:
        if not self.window:
            return True
        total, failed, worst, _ = self.window[-1]
        return (
            failed <= 0.05 * total and worst <= 1000 and all(one.alive for one in self.machines) and self.disk >= 0.05
        )

    def traffic(self) -> Traffic | None:
        """What the last three looks saw; None with too little to tell."""
        total = sum(one[0] for one in self.window)
        if total < 20:
            return None
        failed, worst = sum(one[1] for one in self.window), max(one[2] for one in self.window)
        return Traffic(requests=int(total), error_rate=failed / total, p99_ms=worst, utilisation=self.window[-1][3])

    def states(self) -> tuple[InstanceState, ...]:
        sees = not (self.during("blind") or self.during("flap"))
        found = []
        for one in self.machines:
            ready = self.at >= one.ready_at
            answers = sees and not self.health_page_wrong and one.alive and ready
            if one.spins and self.chance.random() < 0.5:
                answers = False
            known = one.alive and one.answered >= 5
            found.append(
                InstanceState(
                    name=one.name,
                    alive=one.alive,
                    was_ready=ready,
                    answers=answers,
                    deaths=sum(self.at - at < 60 for at in one.deaths),
                    error_rate=one.failed / one.answered if known else None,
                    answer_ms=one.ms if known else None,
                    memory_share=one.memory,
                    cpu_share=one.cpu,
                )
            )
        return tuple(found)

    def truth(self, data_age_s: float = 0.0) -> Truth:
        ready = [one for one in self.machines if one.alive and self.at >= one.ready_at]
        asked = DEMAND * (self.spike if self.during("load") else 1) * (0.02 if self.during("low traffic") else 1)
        faulty = frozenset(one.name for one in self.machines if one.alive and (one.leaks or one.spins or one.slow))
        lasting = ("dependency", "blip", "load", "low traffic", "blind", "flap", "stale")
        return Truth(
            at=self.at,
            release=self.release,
            live_for_s=self.at - self.live_since,
            came_by_rollback=self.came_by is CameBy.ROLLBACK,
            release_fault=self.kind,
            before_is_proven=self.before in self.soaked - self.known_bad,
            deploying=self.coming is not None,
            blind=self.during("blind") or self.during("flap"),
            data_age_s=data_age_s,
            dependency_down=self.during("dependency"),
            seen_requests=sum(one[0] for one in self.window),
            ready=frozenset(one.name for one in ready),
            dead=frozenset(one.name for one in self.machines if not one.alive),
            faulty=faulty,
            most=MOST,
            least=LEAST - 1,
            load=(asked + self.retried) / (CAPACITY * max(1, len(ready))),
            disk_free=self.disk,
            disk_falls=self.fills,
            troubled=bool(faulty or self.health_page_wrong or self.fills or any(map(self.during, lasting))),
            well=self.is_well,
        )

    def apply(self, remedy: Remedy) -> None:
        match remedy.kind:
            case RemedyKind.ROLL_BACK:
                self.known_bad.add(self.release)
                self.release, self.before = self.before, self.release
                self.live_since, self.came_by = self.at, CameBy.ROLLBACK
                self.machines = [self.machine(self.at - 60) for _ in range(3)]
                self.window.clear()
            case RemedyKind.RESTART:
                self.machines = [
                    self.machine(self.at + 1) if one.name == remedy.subject else one for one in self.machines
                ]
            case RemedyKind.REPLACE:
                self.machines = [one if one.alive else self.machine(self.at + 2) for one in self.machines]
            case RemedyKind.SCALE_OUT:
                self.machines.append(self.machine(self.at + 3))
            case RemedyKind.CLEAR_DISK:
                self.disk = 0.6

    def person(self) -> None:
        """Somebody comes and mends everything."""
        self.kinds.clear()
        self.known_bad.clear()
        self.until.clear()
        self.health_page_wrong, self.fills, self.disk = False, 0.0, 0.6
        self.machines = [self.machine(self.at) for _ in range(3)]
        self.retried = 0.0


class Watching:
    """The watcher as it would be: looks, decides, acts, verifies."""

    def __init__(self, world: World, day: Day, without: str = "") -> None:
        self.world, self.day = world, day
        self.sights = [sight for sight in SIGHTS if sight.__name__ != without]
        self.guards = [guard for guard in GUARDS if guard.__name__ != without]
        self.history: list[PastRemedy] = []
        self.bad_since: float | None = None
        self.called_at: float | None = None
        self.seen: Situation | None = None
        self.judge = Judge()

    def look(self) -> None:
        world = self.world
        if self.called_at is not None and world.at - self.called_at > PERSON_S:
            world.person()
            self.called_at, self.bad_since = None, None
            self.history.clear()
            self.judge.mended()
        if not world.during("stale") or self.seen is None:
            self.seen = self._situation()
        now = self.seen
        self.judge.second(world.truth(world.at - now.seen_at))
        self._verify()
        self.bad_since = (world.at if self.bad_since is None else self.bad_since) if now.breach else None
        if self.bad_since is None:
            return
        case = Situation(
            **{name: getattr(now, name) for name in now.__slots__} | {"bad_for_s": world.at - self.bad_since}
        )
        decision = decide(case, tuple(self.history), world.at, sights=self.sights, guards=self.guards)
        if isinstance(decision, Escalate):
            self.judge.call(world.truth())
            self.day.calls += self.called_at is None
            self.called_at = world.at if self.called_at is None else self.called_at
        elif isinstance(decision, Remedy):
            self._act(decision, now)

    def _act(self, remedy: Remedy, now: Situation) -> None:
        world = self.world
        self.judge.act(world.truth(world.at - now.seen_at), remedy.kind, remedy.subject)
        self.day.acts += 1
        self.history.append(PastRemedy(at=world.at, kind=remedy.kind, subject=remedy.subject, release=now.release))
        world.apply(remedy)

    def _verify(self) -> None:
        """The same measurement, ten seconds later."""
        last = self.history[-1] if self.history else None
        if last is not None and last.outcome is RemedyOutcome.UNDER_WAY and self.world.at - last.at >= 10:
            well = self.seen is not None and not self.seen.breach
            outcome = RemedyOutcome.HELPED if well else RemedyOutcome.DID_NOT_HELP
            self.history[-1] = PastRemedy(
                at=last.at, kind=last.kind, subject=last.subject, release=last.release, outcome=outcome
            )

    def _situation(self) -> Situation:
        world, limits = self.world, HealLimits()
        traffic, states = world.traffic(), world.states()
        sees = not (world.during("blind") or world.during("flap"))
        suffers = traffic is not None and (traffic.error_rate > limits.error_rate or traffic.p99_ms > limits.p99_ms)
        ill = any(
            not one.alive
            or (one.was_ready and one.answers is False)
            or (one.memory_share or 0) > limits.memory_share
            or (one.cpu_share or 0) > 0.8
            for one in states
        )
        full_in = world.disk / world.fills if world.fills else None
        return Situation(
            seen_at=world.at,
            watcher_sees=sees,
            release=world.release,
            live_for_s=world.at - world.live_since,
            came_by=world.came_by,
            warm=WarmRelease(number=world.before, answers=True, proven=world.before in world.soaked - world.known_bad),
            deploying=world.coming is not None,
            instances=states,
            least=LEAST - 1,
            most=MOST,
            traffic=traffic,
            traffic_before=world.earlier,
            dependency_answers=not world.during("dependency"),
            dependency_back_s=back if (back := world.at - world.until.get("dependency", -1e9)) >= 0 else None,
            disk_free=world.disk,
            disk_full_in_s=full_in,
            bad_for_s=0.0,
            breach=suffers or ill or not sees or world.disk < limits.disk_low or (full_in or 1e9) < limits.disk_soon_s,
        )


def simulate(seed: int, length_s: int = DAY_S, *, without: str = "") -> Day:
    """One day: calm hours are skipped, what is around a fault is gone through second by second."""
    chance, day = random.Random(seed), Day()
    world = World(chance)
    watching = Watching(world, day, without)
    plan = sorted((chance.uniform(60, length_s - 1200), chance.choice(FAULTS)) for _ in range(chance.randint(1, 4)))
    calm = 0
    while world.at < length_s:
        if calm > CALM_S and world.coming is None and watching.called_at is None:
            gone = (plan[0][0] if plan else float(length_s)) - world.at - 5
            if gone > 0:
                world.at += gone
        if plan and plan[0][0] <= world.at:
            world.inject(plan.pop(0)[1])
            calm = 0
        world.step()
        watching.look()
        day.ill_s += not world.is_well
        calm = calm + 1 if world.is_well and watching.bad_since is None else 0
    watching.judge.end()
    day.found = watching.judge.found
    return day
