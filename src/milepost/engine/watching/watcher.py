"""Watches one target: looks, writes down, alerts, decides, does it, and looks again whether it helped.

A remedy is written down before it is begun, so the next watcher, after a crash at any moment, ends it and judges it.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, assert_never

from milepost.core.errors import EngineBusy, MilepostError, Misuse, StateUnwritable
from milepost.core.ports import Probe
from milepost.core.shipping import Measurement, Stage
from milepost.core.watching import RemedyKind, Severity, WatchedTarget
from milepost.engine.deploys.deploy import rollback
from milepost.engine.deploys.place import Place
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import load
from milepost.engine.project.settings.watch import WatchSettings
from milepost.engine.project.state_directory import make_state
from milepost.engine.project.state_lock import StateLock, holder_of
from milepost.engine.records.releases import ReleaseRecord, Releases
from milepost.engine.watching.incident_task import IncidentTask, task_of
from milepost.engine.watching.observe import Facts, Look, Memory, measurements, remembered, since_live, situation_of
from milepost.engine.watching.records import Healing, Incident, RemedyRecord, boot_id, deserves_task
from milepost.ship.local.target import LocalTarget
from milepost.ship.local.watched import WatchedLocalTarget
from milepost.store.database import Database, open_database
from milepost.watch.alert_book import AlertBook, AlertMove, KeptAlert
from milepost.watch.alerts import BURN_RULES, DEFAULT_RULES, Rule, burn_of
from milepost.watch.heal.decide import decide
from milepost.watch.heal.situation import (
    CameBy,
    Decision,
    Escalate,
    HealLimits,
    Remedy,
    RemedyOutcome,
    Situation,
    Wait,
)
from milepost.watch.probes.connection import ConnectionProbe, ControlTarget
from milepost.watch.probes.http import HttpProbe
from milepost.watch.probes.log_pattern import LogProbe
from milepost.watch.probes.rounds import Rounds
from milepost.watch.probes.scrape import ScrapeProbe
from milepost.watch.series import Series
from milepost.watch.telling import CommandTeller, Teller, Webhook

Heal = Literal["off", "suggest", "auto"]
KEPT_LOOKS, ROLL_UP_S, WELL_S, VERIFY_S, TELL_AGAIN_S, ADD_AGAIN_S = 40, 60.0, 10.0, 5.0, 30.0, 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One look as it is told: what was measured, which alerts there are, and what was decided."""

    target: str
    environment: str
    at: float
    release: int
    values: Mapping[str, float | None]
    alerts: tuple[KeptAlert, ...]
    situation: Situation | None
    decision: Decision | None
    remedy: RemedyRecord | None
    """The newest one that is under way or has just ended."""
    incident: Incident | None
    moves: tuple[AlertMove, ...]
    """What became of alerts since the look before."""
    judged: Mapping[tuple[RemedyKind, RemedyOutcome], int] = field(default_factory=dict)
    """How many remedies ever came to what."""
    task: str = ""
    """What is told of an incident as a task."""


class Watcher:
    """All that watches one target; `look` is one turn."""

    def __init__(self, place: Place, settings: WatchSettings, heal: Heal, database: Database, rounds: Rounds) -> None:
        self._place, self._settings, self._heal, self._rounds = place, settings, heal, rounds
        here = (place.target, place.environment)
        self._releases, self._series = Releases(database, *here), Series(database, *here)
        self._book, self._healing = AlertBook(database, *here), Healing(database, *here)
        self._limits, self._boot = HealLimits(), boot_id()
        self._looks: deque[Look] = deque(maxlen=KEPT_LOOKS)
        self._memory, self._rolled_at = Memory(), 0.0
        self._well_since: float | None = None
        self._called_unwritten = False
        self._tellers: list[Teller] = [Webhook(settings.webhook)] if settings.webhook else []
        self._pool, self._tell_at = ThreadPoolExecutor(1), 0.0
        self._telling: tuple[Future[bool], Sequence[AlertMove]] | None = None
        self._adder, self._add_at = ThreadPoolExecutor(1), 0.0
        self._adding: Future[IncidentTask] | None = None
        self._task_said, self._noted_release = "", -1
        self._tellers += [CommandTeller(settings.command)] if settings.command else []

    def look(self) -> Sight:
        """Look once, and do what follows."""
        try:
            return self._look()
        except StateUnwritable:
            if (sight := self._look_on_a_full_disk()) is None:
                raise
            return sight

    def _look_on_a_full_disk(self) -> Sight | None:
        """Nothing can be written down, so room is made first, and written down after that. None: it is not the disk."""
        live = self._live()
        if live is None:
            return None
        target = self._target(live)
        self._see(target, time.monotonic(), time.time())  # it may have filled since it was looked at
        situation = situation_of(list(self._looks), self._facts(live), self._memory, self._limits)
        if situation is None or situation.disk_free is None or situation.disk_free > 2 * self._limits.disk_low:
            return None
        now = time.monotonic()
        settled = [
            replace(one, outcome=RemedyOutcome.DID_NOT_HELP)
            if one.outcome is RemedyOutcome.UNDER_WAY and now - one.at > self._limits.settle_s
            else one
            for one in self._healing.history(self._boot)
        ]  # the outcome of the last one could not be written down either
        decision = decide(situation, settled, now, self._limits)
        moves: Sequence[AlertMove] = ()
        try:
            if isinstance(decision, Remedy) and decision.kind is RemedyKind.CLEAR_DISK and self._heal == "auto":
                target.clear_disk()
            self._follow(decision, situation, live, target)
        except StateUnwritable as problem:
            moves = self._call_unwritten(problem.message)
        return self._sight((), decision, situation, live, time.time(), moves)

    def _call_unwritten(self, why: str) -> Sequence[AlertMove]:
        """Call a person without the database, once until it can be written again."""
        if self._called_unwritten:
            return ()
        self._called_unwritten, what = True, "a person is needed"
        critical = Severity.CRITICAL
        move = AlertMove(seq=0, name=what, severity=critical, at=time.time(), what=what, value=None, said_by=why)
        self._pool.submit(self._tell_all, (move,))
        return (move,)

    def _look(self) -> Sight:
        live = self._live()
        target = self._target(live) if live else None
        now, clock = time.monotonic(), time.time()
        self._see(target, now, clock)
        found = self._measured(clock)
        self._book.look(self._rules(), found, self._looks[-1].at, clock)
        self._drop_what_is_gone(clock)
        decision, situation = None, None
        if live is not None and target is not None:
            self._finish_what_was_left(live, target)
            situation = situation_of(list(self._looks), self._facts(live), self._memory, self._limits)
            if situation is not None:
                self._verify(situation, time.monotonic())
                decision = decide(situation, self._healing.history(self._boot), time.monotonic(), self._limits)
                self._follow(decision, situation, live, target)
        self._called_unwritten = False
        return self._sight(found, decision, situation, live, clock, self._tell_people())

    def _see(self, target: WatchedTarget | None, now: float, clock: float) -> None:
        view = None
        if target is not None:
            try:
                view = target.look()
            except (MilepostError, OSError, ValueError):
                view = None
        ups = [self._rounds.opinion(name) for name in self._settings.dependencies]
        look = Look(
            at=time.monotonic() if view else now,
            clock=clock,
            view=view if view and view.release else None,
            watcher_sees=self._rounds.opinion(ControlTarget.name) is not False,
            dependency_answers=False if False in ups else None if None in ups or not ups else True,
        )
        self._looks.append(look)
        self._memory = remembered(self._memory, list(self._looks), self._limits)

    def _measured(self, clock: float) -> list[Measurement]:
        names = {ControlTarget.name, *self._settings.dependencies}
        probed = [one for one in self._rounds.taken() if one.metric.partition("@")[2] not in names]
        found = [*measurements(list(self._looks), self._memory), *probed]
        self._series.add(found)
        if clock - self._rolled_at > ROLL_UP_S:
            self._series.roll_up()
            self._rolled_at = clock
            if self._settings.slo is not None:
                for rule in BURN_RULES:
                    value = burn_of(rule, self._settings.slo, self._series.total, clock)
                    found.append(Measurement(metric=rule.name, value=value, at=clock))
        return found

    def _rules(self) -> list[Rule]:
        burns = [rule.as_rule() for rule in BURN_RULES] if self._settings.slo is not None else []
        return [*DEFAULT_RULES, *burns]

    def _drop_what_is_gone(self, clock: float) -> None:
        """Alerts about instances that are no longer there."""
        view = self._looks[-1].view
        if view is None:
            return
        there = {one.name for one in view.instances}

        def is_gone(name: str) -> bool:
            number, dot, place = name.rpartition(" ")[2].partition(".")
            return bool(dot) and number.isdecimal() and place.isdecimal() and f"{number}.{place}" not in there

        self._book.drop(is_gone, clock)

    def _live(self) -> ReleaseRecord | None:
        """The release that has the traffic: the live one, or one that is soaking or being taken back."""
        with_traffic = (Stage.LIVE, Stage.SOAKING, Stage.ROLLING_BACK, Stage.SWITCHING)
        unfinished = self._releases.unfinished()
        if unfinished is not None and unfinished.stage in with_traffic:
            return unfinished
        return self._releases.live()

    def _target(self, live: ReleaseRecord) -> WatchedTarget:
        target = self._place.open_target(live.spec)
        if not isinstance(target, LocalTarget):
            raise Misuse(
                f"target {live.spec.name} is of kind {live.spec.kind}", "so far only local targets are watched"
            )
        limit = self._settings.memory_mb
        return WatchedLocalTarget(target, int(limit * 1_000_000) if limit else None)

    def _facts(self, live: ReleaseRecord) -> Facts:
        records = {record.number: record for record in self._releases.all()}
        before = records.get(live.release.previous or 0)
        came_back = sum(move.stage == Stage.LIVE for move in self._releases.moves(live.number)) > 1
        least, most = live.spec.instances
        now = time.monotonic()
        self._memory = since_live(self._memory, (live.number, live.changed_at), time.time(), now)
        return Facts(
            release=live.number,
            live_for_s=now - self._memory.live_at,
            came_by=CameBy.ROLLBACK if came_back else CameBy.DEPLOY,
            warm_is_proven=before is not None and before.stage is Stage.RETIRED,
            deploying=any(record.unfinished for record in records.values()) or self._place.is_held,
            least=least,
            most=most,
        )

    def _follow(self, decision: Decision, situation: Situation, live: ReleaseRecord, target: WatchedTarget) -> None:
        match decision:
            case Remedy():
                if self._heal == "off":
                    return
                incident = self._incident(live, f"{decision.kind} {decision.subject}: {decision.why}")
                if self._heal == "auto":
                    self._act(decision, situation, incident, live, target)
            case Escalate(why=why):
                self._book.call(why, time.time())
                self._healing.put(replace(self._incident(live, f"a person is called: {why}"), called=True))
            case Wait():
                self._end_incident(situation)
            case _ as never:
                assert_never(never)

    def _act(
        self, remedy: Remedy, situation: Situation, incident: Incident, live: ReleaseRecord, target: WatchedTarget
    ) -> None:
        begun = self._healing.begin(
            RemedyRecord(
                kind=remedy.kind,
                subject=remedy.subject,
                why=remedy.why,
                release=live.number,
                at=time.time(),
                tick=time.monotonic(),
                boot=self._boot,
                incident=incident.number,
                instances=len(situation.instances),
                before=_numbers(situation),
            )
        )
        self._book.note(f"{remedy.kind} {remedy.subject}", "begun", remedy.why, begun.at)
        self._do(begun, live, target)

    def _do(self, remedy: RemedyRecord, live: ReleaseRecord, target: WatchedTarget) -> None:
        """The act itself; what is done twice comes to the same."""
        said = ""
        try:
            match remedy.kind:
                case RemedyKind.ROLL_BACK:
                    if self._releases.unfinished() is not None or live.number == remedy.release:
                        rollback(
                            self._place.project.roadmap,
                            self._place.target,
                            self._place.environment,
                            None,
                            lambda _: None,
                            why=f"taken back by the watcher: {remedy.why}",
                        )
                case RemedyKind.RESTART:
                    with self._place.held():
                        target.restart_instance(remedy.subject)
                        view = target.look()
                        if len(view.instances) > remedy.instances:  # one was started before a crash, and one after
                            target.scale(remedy.instances)
                case RemedyKind.REPLACE:
                    target.replace_dead()
                case RemedyKind.SCALE_OUT:
                    with self._place.held():
                        target.scale(remedy.instances + 1)
                case RemedyKind.CLEAR_DISK:
                    said = f"{target.clear_disk() // 1000} kB freed"
                case _ as never:
                    assert_never(never)
        except MilepostError as error:  # that it did not help is found out by looking
            said = error.message
        self._looks.clear()  # what was measured before says nothing of what this did
        self._healing.keep(replace(remedy, done=True, said=said, tick=time.monotonic(), boot=self._boot))

    def _finish_what_was_left(self, live: ReleaseRecord, target: WatchedTarget) -> None:
        """Do again what a watcher that was killed had begun."""
        for remedy in self._healing.remedies()[-3:]:
            if not remedy.done and remedy.outcome is RemedyOutcome.UNDER_WAY:
                self._do(remedy, live, target)
                self._say("a remedy that was left under way was ended")

    def _verify(self, situation: Situation, now: float) -> None:
        """Whether what was done last helped, by the measurements that it was decided by."""
        last = next((one for one in reversed(self._healing.remedies()) if one.done), None)
        if last is None or last.outcome is not RemedyOutcome.UNDER_WAY:
            return
        since = now - last.tick if last.boot == self._boot else self._limits.settle_s
        well = not situation.breach and (situation.traffic is not None or not last.before.get("requests"))
        if since < VERIFY_S or (not well and since < self._limits.settle_s):
            return
        outcome = RemedyOutcome.HELPED if well else RemedyOutcome.DID_NOT_HELP
        ended = replace(last, outcome=outcome, after=_numbers(situation), ended_at=time.time())
        self._healing.keep(ended)
        self._say(f"{last.kind} {last.subject} {outcome}")
        self._book.note(f"{last.kind} {last.subject}", outcome.value, last.why, time.time())

    def _incident(self, live: ReleaseRecord, said: str) -> Incident:
        now = time.time()
        found = self._healing.open_incident() or Incident(release=live.number, began_at=now)
        return self._healing.put(found.also(now, said))

    def _say(self, said: str) -> None:
        if (incident := self._healing.open_incident()) is not None:
            self._healing.put(incident.also(time.time(), said))

    def _end_incident(self, situation: Situation) -> None:
        """An incident is over when nothing was wrong for a while and nothing is under way."""
        under_way = any(one.outcome is RemedyOutcome.UNDER_WAY for one in self._healing.remedies()[-3:])
        if situation.breach or situation.traffic is None or under_way:
            self._well_since = None
            return
        now = time.monotonic()
        self._well_since = now if self._well_since is None else self._well_since
        if now - self._well_since >= WELL_S and (incident := self._healing.open_incident()) is not None:
            self._healing.put(replace(incident.also(time.time(), "it is well again"), ended_at=time.time()))
            self._book.well_again(time.time())

    def _hand_over(self, release: int) -> str:
        """What is told of the newest incident as a task of the roadmap; the task is added where the settings say so."""
        if self._settings.incident_task == "off":
            return ""
        if release != self._noted_release:
            self._healing.note_rollbacks(self._releases)
            self._noted_release = release
        if self._adding is not None and self._adding.done():
            self._task_said, self._add_at = _outcome(self._adding), time.monotonic() + ADD_AGAIN_S
            self._adding = None
        newest, remedies = self._healing.incidents()[:1], self._healing.remedies()
        found = next((one.number for one in newest if not one.task and deserves_task(one, remedies)), None)
        if found is None:
            return self._task_said
        if self._settings.incident_task == "ask" or self._heal != "auto":
            where = f"{self._place.target} --env {self._place.environment}"
            return f"incident {found} can become a task of the roadmap: milepost incidents {where} --task {found}"
        if self._adding is None and time.monotonic() >= self._add_at:
            here = (self._place.project.roadmap, self._place.target, self._place.environment)
            self._adding = self._adder.submit(task_of, *here, found, lambda _: None)
        return self._task_said

    def _tell_people(self) -> tuple[AlertMove, ...]:
        """Have others told of what is new, without waiting for them; what failed is told again after a while."""
        if self._telling is not None and self._telling[0].done():
            was_told, moves = self._telling[0].result(), self._telling[1]
            self._telling, self._tell_at = None, time.monotonic() + (0.0 if was_told else TELL_AGAIN_S)
            if was_told:
                self._book.mark_told(moves)
        moves = self._book.untold()
        if not self._tellers:
            self._book.mark_told(moves)
        elif moves and self._telling is None and time.monotonic() >= self._tell_at:
            self._telling = (self._pool.submit(self._tell_all, moves), moves)
        return moves

    def _tell_all(self, moves: Sequence[AlertMove]) -> bool:
        told = [teller.tell(self._place.target, self._place.environment, moves) for teller in self._tellers]
        return all(told)

    def close(self) -> None:
        """Wait for those who are being told now, and for a task that is being added."""
        self._pool.shutdown()
        self._adder.shutdown()
        self._tell_at = float("inf")
        self._tell_people()

    def _sight(
        self,
        found: Sequence[Measurement],
        decision: Decision | None,
        situation: Situation | None,
        live: ReleaseRecord | None,
        clock: float,
        moves: Sequence[AlertMove],
    ) -> Sight:
        remedies = self._healing.remedies()
        return Sight(
            target=self._place.target,
            environment=self._place.environment,
            at=clock,
            release=live.number if live else 0,
            values={one.metric: one.value for one in found},
            alerts=self._book.all(),
            situation=situation,
            decision=decision,
            remedy=remedies[-1] if remedies else None,
            incident=self._healing.open_incident(),
            moves=tuple(moves),
            judged=Counter((one.kind, one.outcome) for one in remedies if one.outcome is not RemedyOutcome.UNDER_WAY),
            task=self._hand_over(live.number if live else 0),
        )


def _outcome(adding: Future[IncidentTask]) -> str:
    try:
        added = adding.result()
    except MilepostError as error:
        return f"the task of an incident cannot be added yet: {error.message}"
    return f"incident {added.incident} is task {added.task} of the roadmap"


def _numbers(situation: Situation) -> dict[str, float]:
    """What a remedy is judged by."""
    found = {"well instances": float(sum(one.alive and one.answers is not False for one in situation.instances))}
    if situation.traffic is not None:
        traffic = situation.traffic
        found |= {"requests": traffic.requests, "error_rate": traffic.error_rate, "p99_ms": traffic.p99_ms}
    memory = [one.memory_share for one in situation.instances if one.memory_share is not None]
    return found | ({"most memory": max(memory)} if memory else {})


@contextmanager
def watching(roadmap: Path | None, target: str, environment: str, heal: Heal | None) -> Iterator[tuple[Watcher, float]]:
    """The watcher of a target, and the seconds between its looks. There is one at a time: a second one is refused."""
    project = Project.find(roadmap)
    settings = load(project.roadmap.parent, uses=("watch",)).watch
    place = Place(project=project, target=target, environment=environment)
    make_state(project.state)
    folder = place.folder / "watch"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(StateLock(folder))
        except EngineBusy:
            holder = holder_of(folder)
            by = f" (pid {holder.pid} on this machine)" if holder else ""
            raise EngineBusy(f"{target} ({environment}) is watched already{by}", "one watcher is enough") from None
        control = stack.enter_context(closing(ControlTarget()))
        probes: dict[str, Probe] = {ControlTarget.name: control} | {url: HttpProbe(url, url) for url in settings.urls}
        probes |= {name: ConnectionProbe(name, *_address(name)) for name in settings.dependencies}
        probes |= {f"metric {name}": ScrapeProbe(url, (name,)) for name, url in settings.metrics.items()}
        probes |= {f"log {path}": LogProbe(path, Path(path), pattern) for path, pattern in settings.logs.items()}
        database = stack.enter_context(closing(open_database(project.database)))
        rounds = stack.enter_context(Rounds(probes))
        watcher = stack.enter_context(closing(Watcher(place, settings, heal or settings.heal, database, rounds)))
        yield watcher, settings.interval_s


def _address(name: str) -> tuple[str, int]:
    host, _, port = name.rpartition(":")
    if not host or not port.isdecimal():
        raise Misuse(f"watch.dependencies: {name!r} is not HOST:PORT", "write it as in 127.0.0.1:5432")
    return host.strip("[]"), int(port)


@contextmanager
def kept(roadmap: Path | None, target: str, environment: str) -> Iterator[tuple[AlertBook, Healing, Series]]:
    """What was written down, for whoever wants to read it."""
    project = Project.find(roadmap)
    file = project.database if project.database.exists() else Path(":memory:")
    with closing(open_database(file)) as database:
        healing = Healing(database, target, environment)
        healing.note_rollbacks(Releases(database, target, environment))
        yield AlertBook(database, target, environment), healing, Series(database, target, environment)
