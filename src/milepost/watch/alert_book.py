"""The alerts of a target as they are kept, with what became of each, and who was told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from milepost.core.errors import Misuse
from milepost.core.shipping import Measurement
from milepost.core.watching import Severity
from milepost.store.database import Database
from milepost.watch.alerts import Alert, Rule, State, after

SCHEMA = """
create table if not exists watch_alerts (
    place text not null, name text not null, severity text not null, body text not null, primary key (place, name));
create table if not exists watch_alert_moves (
    seq {serial}, place text not null, name text not null, severity text not null, at double precision not null,
    what text not null, value double precision, said_by text not null, told bigint not null);
"""
_PUT = """insert into watch_alerts (place, name, severity, body) values (?, ?, ?, ?)
    on conflict (place, name) do update set severity = excluded.severity, body = excluded.body"""
_MOVE = """insert into watch_alert_moves (place, name, severity, at, what, value, said_by, told)
    values (?, ?, ?, ?, ?, ?, ?, ?)"""
_TOLD = ("active", "resolved", "no data", "a person is needed")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAlert:
    """`name` is the rule's, with what it is about: `processor 2.0`."""

    name: str
    severity: Severity
    alert: Alert

    def status(self, clock: float) -> str:
        """One word for people."""
        if self.alert.state is State.ACTIVE and self.alert.silenced_until > clock:
            return "silenced"
        if self.alert.state is State.ACTIVE and self.alert.acknowledged_by:
            return "acknowledged"
        return self.alert.state.value


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMove:
    """Something that became of an alert."""

    seq: int
    name: str
    severity: Severity
    at: float
    what: str
    value: float | None
    said_by: str


class AlertBook:
    """The alerts of one target in one environment."""

    def __init__(self, database: Database, target: str, environment: str) -> None:
        self._database = database
        self._place = f"{target}/{environment}"
        database.script(SCHEMA)

    def all(self) -> tuple[KeptAlert, ...]:
        rows = self._database.read(
            "select name, severity, body from watch_alerts where place = ? order by name", self._place
        )
        return tuple(KeptAlert(name=name, severity=Severity(how), alert=_read(body)) for name, how, body in rows)

    def history(self, most: int = 200) -> tuple[AlertMove, ...]:
        """What became of alerts, the newest first."""
        return self._moves("", "order by seq desc", most)

    def untold(self) -> tuple[AlertMove, ...]:
        """What somebody has to be told, the oldest first."""
        return self._moves("and told = 0", "order by seq", 100)

    def mark_told(self, moves: Sequence[AlertMove]) -> None:
        for move in moves:
            self._database.write(
                "update watch_alert_moves set told = 1 where place = ? and seq = ?", self._place, move.seq
            )

    def look(self, rules: Sequence[Rule], found: Sequence[Measurement], now: float, clock: float) -> None:
        """Write down what measurements come to; a metric that was not measured at all has no data."""
        self._database.together(f"watch/{self._place}", lambda: self._look(rules, found, now, clock))

    def _look(self, rules: Sequence[Rule], found: Sequence[Measurement], now: float, clock: float) -> None:
        known = {one.name: one for one in self.all()}
        values = {one.metric: one.value for one in found}
        for rule in rules:
            names = {_name(rule, metric): value for metric, value in values.items() if rule.is_about(metric)}
            gone = {name: None for name in known if name == rule.name or name.startswith(f"{rule.name} ")}
            for name, value in (gone | names).items():
                before = known[name].alert if name in known else Alert()
                self._keep(rule, name, before, after(rule, before, value, now, clock), clock)

    def drop(self, is_gone: Callable[[str], bool], clock: float) -> None:
        """Forget alerts about what is there no longer, as the instances of an older release."""
        for one in self.all():
            if is_gone(one.name):
                self._database.write("delete from watch_alerts where place = ? and name = ?", self._place, one.name)
                if one.alert.state is State.ACTIVE:
                    self._move(one, "resolved", clock, None, "what it is about is gone")

    def acknowledge(self, name: str, by: str, clock: float) -> None:
        """Say that somebody looks after it: it is not told again until it is resolved."""
        one = self._find(name)
        self._put(one, replace(one.alert, acknowledged_by=by))
        self._move(one, "acknowledged", clock, None, by)

    def silence(self, name: str, until: float, by: str, clock: float) -> None:
        """Tell nobody of it until then, however often it becomes active."""
        one = self._find(name)
        self._put(one, replace(one.alert, silenced_until=until))
        self._move(one, "silenced", clock, None, by)

    def note(self, name: str, what: str, why: str, clock: float) -> None:
        """Tell people of something that was done."""
        row = (self._place, name, Severity.INFO.value, clock, what, None, why, 0)
        self._database.write(_MOVE, *row)

    def call(self, why: str, clock: float) -> None:
        """A person is needed; told once as long as the reason is the same."""
        rule = Rule(name="a person is needed", metric="", severity=Severity.CRITICAL, fire=0, clear=0)
        known = {one.name: one for one in self.all()}.get(rule.name)
        one = known or KeptAlert(name=rule.name, severity=rule.severity, alert=Alert())
        last = next((move.said_by for move in self.history() if move.name == rule.name), "")
        if one.alert.state is not State.ACTIVE or last != why:
            self._put(one, replace(one.alert, state=State.ACTIVE, since=clock))
            self._move(one, "a person is needed", clock, None, why)

    def well_again(self, clock: float) -> None:
        """Nobody is needed any more."""
        for one in self.all():
            if one.name == "a person is needed" and one.alert.state is State.ACTIVE:
                self._put(one, replace(one.alert, state=State.WELL, since=clock, acknowledged_by=""))
                self._move(one, "resolved", clock, None, "")

    def _keep(self, rule: Rule, name: str, before: Alert, now: Alert, clock: float) -> None:
        one = KeptAlert(name=name, severity=rule.severity, alert=now)
        self._put(one, now)
        begins_or_ends = State.PENDING not in (now.state, before.state) or now.state is State.ACTIVE
        if now.state is not before.state and begins_or_ends:
            what = "resolved" if now.state is State.WELL else now.state.value
            self._move(one, what, clock, now.value, "")

    def _move(self, one: KeptAlert, what: str, clock: float, value: float | None, by: str) -> None:
        hushed = one.alert.silenced_until > clock
        told = hushed or what not in _TOLD
        self._database.write(_MOVE, self._place, one.name, one.severity.value, clock, what, value, by, int(told))

    def _put(self, one: KeptAlert, alert: Alert) -> None:
        self._database.write(_PUT, self._place, one.name, one.severity.value, json.dumps(asdict(alert)))

    def _find(self, name: str) -> KeptAlert:
        found = next((one for one in self.all() if one.name == name), None)
        if found is None:
            raise Misuse(f"there is no alert {name!r}", "milepost alerts lists them")
        return found

    def _moves(self, only: str, order: str, most: int) -> tuple[AlertMove, ...]:
        sql = "select seq, name, severity, at, what, value, said_by from watch_alert_moves where place = ?"
        rows = self._database.read(f"{sql} {only} {order} limit ?", self._place, most)
        return tuple(
            AlertMove(seq=seq, name=name, severity=Severity(how), at=at, what=what, value=value, said_by=by)
            for seq, name, how, at, what, value, by in rows
        )


def _read(body: str) -> Alert:
    found = json.loads(body)
    return Alert(**{**found, "state": State(found["state"])})


def _name(rule: Rule, metric: str) -> str:
    subject = metric.partition("@")[2]
    return f"{rule.name} {subject}" if subject else rule.name
