"""Judges what a watcher does on a simulated day by the causes it cannot see, and by its pace.

Written from docs/watch.md alone, without a look at what decides: it shares neither code nor limits with that. It asks
of each act whether the cause called for it, whether one of the promised guards should have held it back, and whether it
goes back and forth; and of the day whether a person came to hear of what was not healed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from milepost.core.watching import RemedyKind

RESTART, REPLACE = RemedyKind.RESTART, RemedyKind.REPLACE
SCALE_OUT, ROLL_BACK = RemedyKind.SCALE_OUT, RemedyKind.ROLL_BACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """One second of the world as it is."""

    at: float
    release: int
    live_for_s: float
    came_by_rollback: bool
    release_fault: str
    """What the release itself does wrong now, if anything."""
    before_is_proven: bool
    """The release before was live and well for a minute, and was never left for being bad."""
    deploying: bool
    blind: bool
    """The watcher's own looks fail, for whatever reason."""
    data_age_s: float
    dependency_down: bool
    seen_requests: float
    """In the last three looks."""
    ready: frozenset[str]
    dead: frozenset[str]
    faulty: frozenset[str]
    """Instances with a fault of their own: they leak, spin, or are slow."""
    most: int
    least: int
    load: float
    """What is asked, of what the ready instances could do without a fault."""
    disk_free: float
    disk_falls: float
    """A second."""
    troubled: bool
    """Something is wrong, or was made wrong, that a watcher may see: also where users do not suffer."""
    well: bool


@dataclass(frozen=True, slots=True)
class Act:
    at: float
    kind: RemedyKind
    subject: str
    release: int


@dataclass
class Judge:
    """Sees each second and each act, and keeps what was not right, by its name."""

    found: list[tuple[str, str]] = field(default_factory=list)
    """The name of a rule, and when it was broken by what."""
    acts: list[Act] = field(default_factory=list)
    seconds: list[Truth] = field(default_factory=list)
    """Of the last two minutes."""
    helped: dict[Act, bool] = field(default_factory=dict)
    recent: list[Act] = field(default_factory=list)
    """Since a person was here last."""
    ill_s: float = 0.0
    called: bool = False
    alone_told: bool = False

    def second(self, now: Truth) -> None:
        self.seconds = [*self.seconds[-119:], now]
        for act in self.recent:
            if act not in self.helped and now.at - act.at >= 12:
                self.helped[act] = all(one.well for one in self.seconds[-3:])
        # what is ill for most of some minutes counts, also where it is well for a second in between
        self.ill_s = max(0.0, self.ill_s + (1 if not now.well else -2))
        if self.called or self.ill_s == 0:
            self.alone_told = False
        if self.ill_s > 150 and not self.called and not self.alone_told:
            self.alone_told = True
            self._tell("left alone", now, "ill for minutes, and nobody was called")

    def act(self, now: Truth, kind: RemedyKind, subject: str) -> None:
        act = Act(now.at, kind, subject, now.release)
        if why := _uncalled_for(act, now, self.seconds):
            self._tell("wrong", now, f"{kind} {subject}: {why}")
        for name, broken in GUARDS.items():
            if broken(act, now, self):
                self._tell(name, now, f"{kind} {subject}")
        if _flaps(act, self.recent):
            self._tell("flapping", now, f"{kind} {subject}")
        self.acts.append(act)
        self.recent.append(act)

    def call(self, now: Truth) -> None:
        """A person is called."""
        if not self.called and not any(one.troubled or not one.well for one in self.seconds[-60:]):
            self._tell("called for nothing", now, "a person")
        self.called = True

    def mended(self) -> None:
        """The person has been here."""
        self.called, self.ill_s, self.recent, self.helped = False, 0.0, [], {}

    def end(self) -> None:
        if self.seconds and not self.seconds[-1].well and not self.called and self.ill_s > 60:
            self._tell("left alone", self.seconds[-1], "the day ended ill, and nobody was called")

    def _tell(self, rule: str, now: Truth, what: str) -> None:
        self.found.append((rule, f"{now.at:.0f} s: {what}"))


def _uncalled_for(act: Act, now: Truth, before: list[Truth]) -> str:
    """Why the cause did not call for this, else nothing."""
    lately = before[-5:]
    match act.kind:
        case RemedyKind.REPLACE:
            return "" if now.dead else "nothing is dead"
        case RemedyKind.CLEAR_DISK:
            soon = now.disk_falls > 0 and now.disk_free / now.disk_falls <= 65
            return "" if now.disk_free < 0.06 or soon else "the disk has room"
        case RemedyKind.SCALE_OUT:
            return "" if any(one.load > 0.75 for one in lately) else "the instances could do what is asked"
        case RemedyKind.ROLL_BACK if now.release_fault:
            return "" if now.before_is_proven else "the release before is not known to be good"
        case RemedyKind.ROLL_BACK:
            return "the release has no fault"
        case RemedyKind.RESTART if act.subject not in now.faulty:
            return "the instance has no fault of its own"
    return ""


def _unhelpful(judge: Judge, now: Truth) -> int:
    """How many of the newest acts, one after another within the hour, did not help."""
    count = 0
    for act in reversed(judge.recent):
        if judge.helped.get(act, True) or now.at - act.at >= 3600:
            break
        count += 1
    return count


def _too_soon(act: Act, now: Truth, judge: Judge) -> bool:
    if act.kind is ROLL_BACK and judge.recent and judge.recent[-1].kind is REPLACE and now.dead:
        return False  # that it died again is the effect that was waited for
    if act.kind is RemedyKind.CLEAR_DISK and judge.recent and judge.recent[-1].kind is act.kind:
        return act.at - judge.recent[-1].at < 12  # and so it is with a disk that is full again
    tries = _unhelpful(judge, now)
    return tries > 0 and act.at - judge.recent[-1].at < 20 * 2 ** (tries - 1)


def _again(act: Act, judge: Judge, within_s: float = 600) -> list[Act]:
    return [
        one for one in judge.recent
        if (one.kind, one.subject) == (act.kind, act.subject) and act.at - one.at < within_s
    ]  # fmt: skip


def _a_blip(act: Act, now: Truth, judge: Judge) -> bool:
    """Acted at the first look at something that a second look is promised for."""
    if act.kind in (REPLACE, RemedyKind.CLEAR_DISK) or now.dead:
        return False
    return not any(not one.well or one.troubled for one in judge.seconds[-3:-1])


def _goes_round(act: Act, now: Truth, judge: Judge) -> bool:
    """Starts again what died again already: the same release, three times in two minutes, by its own fault."""
    return act.kind is REPLACE and now.release_fault == "crashes" and len(_again(act, judge, 120)) >= 2


GUARDS: dict[str, Callable[[Act, Truth, Judge], bool]] = {
    "fresh": lambda act, now, judge: now.data_age_s > 3,
    "watcher": lambda act, now, judge: now.blind and now.data_age_s < 1,
    "deploying": lambda act, now, judge: now.deploying and now.data_age_s < 1,
    "no data": lambda act, now, judge: (
        act.kind in (RESTART, ROLL_BACK, SCALE_OUT)
        and now.seen_requests < 20
        and not now.dead
        and act.subject not in now.faulty
    ),
    "sustain": _a_blip,
    "one at a time": lambda act, now, judge: bool(judge.recent) and act.at - judge.recent[-1].at < 5,
    "cooldown": _too_soon,
    "strikes": lambda act, now, judge: _unhelpful(judge, now) >= 3,
    "recurrence": lambda act, now, judge: (
        act.kind is not SCALE_OUT and sum(judge.helped.get(one, True) for one in _again(act, judge)) >= 2
    ),
    "budget": lambda act, now, judge: sum(act.at - one.at < 3600 for one in judge.recent) >= 6,
    "dependency": lambda act, now, judge: (
        now.dependency_down and act.kind in (RESTART, ROLL_BACK, SCALE_OUT) and now.data_age_s < 1
    ),
    "overload": lambda act, now, judge: act.kind is RESTART and now.load > 1 and act.subject not in now.faulty,
    "all at once": lambda act, now, judge: (
        act.kind is RESTART and 2 * (len(now.faulty) + len(now.dead)) > len(now.ready | now.dead) > 1
    ),
    "minimum": lambda act, now, judge: act.kind is RESTART and len(now.ready - {act.subject}) < now.least,
    "bounds": lambda act, now, judge: act.kind is SCALE_OUT and len(now.ready | now.dead) >= now.most,
    "blame window": lambda act, now, judge: act.kind is ROLL_BACK and now.live_for_s > 185,
    "known good": lambda act, now, judge: act.kind is ROLL_BACK and not now.before_is_proven,
    "no rollback of a rollback": lambda act, now, judge: act.kind is ROLL_BACK and now.came_by_rollback,
    "crash loop": _goes_round,
}
"""What docs/watch.md promises to hold an act back. What only old data hid is told as "fresh", and not twice."""


def _flaps(act: Act, recent: list[Act]) -> bool:
    """Back and forth: the third of the same in ten minutes, or a release left within the hour it was returned to."""
    if act.kind is ROLL_BACK:
        return any(one.kind is ROLL_BACK and act.at - one.at < 3600 and one.subject == act.subject for one in recent)
    same = [one for one in recent if (one.kind, one.subject) == (act.kind, act.subject) and act.at - one.at < 600]
    return act.kind is not SCALE_OUT and len(same) >= 2
