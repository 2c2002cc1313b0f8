"""The life of a release: which stage follows from what was seen, the same for every target.

    building → (waiting →) uploading → starting → checking → switching → soaking → live → retired
    rejected: it never had traffic      rolling back → rolled back: the release before it has the traffic again

`duty` says what is to be done in a stage, `after` what comes of it. Nothing here looks at a clock or a machine, so a
release that was left anywhere goes on from its recorded stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import assert_never

from milepost.core.shipping import Health, Stage


class Duty(Enum):
    """What a stage asks for. Each may be done twice and then comes to the same."""

    BUILD = auto()
    ASK = auto()
    BRING = auto()
    LOOK = auto()
    SWITCH = auto()
    SWITCH_BACK = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How long a release may take to start, and for how long it must stay well once it has traffic.

    `at_once`: the target gives traffic to what is brought there, before anybody can look at it.
    """

    start_s: float
    soak_s: float
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The work of the stage is done; `asks` when a person must be asked next."""

    asks: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The work of the stage cannot be done."""

    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What the target says of it, so many seconds after the stage began."""

    health: Health
    after_s: float


@dataclass(frozen=True, slots=True)
class Approved:
    """A person agreed."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A person does not want it, or no longer."""


@dataclass(frozen=True, slots=True)
class Succeeded:
    """Another release is live now."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A later release was rolled back to this one."""


News = Done | Failed | Seen | Approved | TakenBack | Succeeded | Returned

_AT_HOME = (Stage.BUILDING, Stage.WAITING)
_BEFORE_SWITCH = (Stage.UPLOADING, Stage.STARTING, Stage.CHECKING)
_OVER = (Stage.LIVE, Stage.RETIRED, Stage.REJECTED, Stage.ROLLED_BACK)


class Impossible(Exception):
    """A release in this stage cannot hear this; it is a bug of whoever says it."""


def is_over(stage: Stage) -> bool:
    """Whether nobody works on a release in this stage."""
    return stage in _OVER


def has_traffic(stage: Stage, terms: Terms) -> bool:
    """Whether it has the traffic, or may have it."""
    early = terms.at_once and stage in _BEFORE_SWITCH
    return early or stage in (Stage.SWITCHING, Stage.SOAKING, Stage.LIVE, Stage.ROLLING_BACK)


def duty(stage: Stage) -> Duty:
    """What is to be done for a release in this stage."""
    match stage:
        case Stage.BUILDING:
            return Duty.BUILD
        case Stage.WAITING:
            return Duty.ASK
        case Stage.UPLOADING:
            return Duty.BRING
        case Stage.STARTING | Stage.CHECKING | Stage.SOAKING:
            return Duty.LOOK
        case Stage.SWITCHING:
            return Duty.SWITCH
        case Stage.ROLLING_BACK:
            return Duty.SWITCH_BACK
        case Stage.LIVE | Stage.RETIRED | Stage.ROLLED_BACK | Stage.REJECTED:
            return Duty.NOTHING
        case _ as never:
            assert_never(never)


def after(stage: Stage, news: News, terms: Terms) -> Stage:
    """The stage that follows; the same one where there is nothing to do but to look again.

    No stage that follows a rollback leads to another: a rollback happens by itself at most once.
    """
    match news:
        case Done(asks=asks):
            return _done(stage, asks)
        case Failed():
            return _refused(stage, terms)
        case Seen(health=health, after_s=after_s):
            return _seen(stage, health, after_s, terms)
        case Approved():
            return _only(Stage.WAITING, stage, Stage.UPLOADING)
        case TakenBack():
            return _taken_back(stage, terms)
        case Succeeded():
            return _only(Stage.LIVE, stage, Stage.RETIRED)
        case Returned():
            return Stage.LIVE if stage is Stage.LIVE else _only(Stage.RETIRED, stage, Stage.LIVE)
        case _ as never:
            assert_never(never)


def _done(stage: Stage, asks: bool) -> Stage:
    follows = {
        Stage.BUILDING: Stage.WAITING if asks else Stage.UPLOADING,
        Stage.UPLOADING: Stage.STARTING,
        Stage.SWITCHING: Stage.SOAKING,
    }
    if stage not in follows:
        raise Impossible(f"nothing can be done with a release that is {stage}")
    return follows[stage]


def _refused(stage: Stage, terms: Terms) -> Stage:
    """Without traffic it is rejected; where it may have some, the one before gets it back."""
    if has_traffic(stage, terms) and stage is not Stage.LIVE:
        return Stage.ROLLING_BACK
    if stage in (*_AT_HOME, *_BEFORE_SWITCH):
        return Stage.REJECTED
    raise Impossible(f"nothing can fail for a release that is {stage}")


def _seen(stage: Stage, health: Health, after_s: float, terms: Terms) -> Stage:
    match stage:
        case Stage.STARTING | Stage.CHECKING:
            if health.healthy:
                return Stage.CHECKING if stage is Stage.STARTING else Stage.SWITCHING
            return _refused(stage, terms) if health.settled or after_s >= terms.start_s else stage
        case Stage.SOAKING:
            if health.healthy:
                return Stage.LIVE if after_s >= terms.soak_s else stage
            return Stage.ROLLING_BACK if health.settled or after_s >= terms.soak_s + terms.start_s else stage
        case Stage.ROLLING_BACK:  # of the release before: whatever it is like, it has the traffic
            over = health.healthy or health.settled or after_s >= terms.start_s
            return Stage.ROLLED_BACK if over else stage
        case _:
            raise Impossible(f"nobody looks at a release that is {stage}")


def _taken_back(stage: Stage, terms: Terms) -> Stage:
    return Stage.ROLLING_BACK if stage is Stage.LIVE else _refused(stage, terms)


def _only(asked: Stage, stage: Stage, follows: Stage) -> Stage:
    if stage is not asked:
        raise Impossible(f"a release that is {stage} is not {asked}")
    return follows
