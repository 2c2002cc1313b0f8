"""Brings a release from the stage that is written down to one where nobody works on it, or to a question.

Every act may be done twice and is written down after it was done, so whoever comes next, after a crash of this process
at any moment, does the same again and goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from milepost.core.errors import MilepostError
from milepost.core.release_life import Approved, Done, Duty, Failed, News, Seen, TakenBack, Terms, after, duty
from milepost.core.shipping import Artifact, Health, Stage
from milepost.engine.deploys.place import Deployable, Place
from milepost.engine.records.releases import ReleaseRecord, Releases
from milepost.store.kill_points import reached

LOOK_S, LOOK_AWAY_S = 0.2, 5.0

Say = Callable[[ReleaseRecord], None]
Ask = Callable[[ReleaseRecord], str | None]
"""Whose word lets a release go on: a name, empty for a refusal, None where nobody answers now."""
Build = Callable[[ReleaseRecord], Artifact]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """What the life of a release needs from outside."""

    place: Place
    releases: Releases
    build: Build
    ask: Ask
    say: Say


def advance(record: ReleaseRecord, hands: Hands, *, taken_up: bool = False) -> ReleaseRecord:
    """Go on with a release until it is over or waits for a person. `taken_up`: somebody else left it at its stage.

    Raises what kept the release before it from getting the traffic back; then it stays where it is.
    """
    target = hands.place.open_target(record.spec)
    terms = terms_of(record, target)
    if taken_up:
        record = _renew(record, target, hands)
    while (asked := duty(record.stage)) is not Duty.NOTHING:
        news, said, record = _do(asked, record, target, hands)
        if news is None:
            break
        before = record.stage
        record = hands.releases.move(record, news, terms, said)
        if record.stage is not before:
            hands.say(record)
        elif asked is Duty.SWITCH_BACK and isinstance(news, Failed):
            raise MilepostError(
                f"release {record.number} cannot be rolled back: {news.why}",
                f"try again: milepost rollback {record.spec.name} --env {record.spec.environment}",
            )
    tidy(hands.place, hands.releases)
    return hands.releases.find(record.number)


def terms_of(record: ReleaseRecord, target: Deployable) -> Terms:
    return Terms(start_s=record.spec.start_timeout_s, soak_s=record.spec.soak_s, at_once=target.at_once)


def tidy(place: Place, releases: Releases) -> None:
    """Take away what is kept of releases that nobody goes back to: all but the live one and the one before it."""
    records = releases.all()
    live = releases.live()
    needed = {live.number, live.release.previous} if live else set()
    for record in records:
        if record.kept and not record.unfinished and record.number not in needed:
            place.open_target(record.spec).retire(record.release)
            releases.keep(replace(record, kept=False))
            reached(f"release {record.number} is away")


def _do(asked: Duty, record: ReleaseRecord, target: Deployable, hands: Hands) -> tuple[News | None, str, ReleaseRecord]:
    """Do what a stage asks for; what came of it, in words too, and the record with what was learnt on the way."""
    try:
        match asked:
            case Duty.BUILD:
                artifact = hands.build(record)
                reached(f"artifact of {record.number} built")
                learnt = replace(record, release=replace(record.release, artifact=artifact))
                return Done(asks=record.spec.approve and not record.approved_by), "", learnt
            case Duty.ASK:
                return _ask(record, hands)
            case Duty.BRING:
                kept = hands.releases.keep(replace(record, kept=True))
                reference = target.deploy(kept.release)
                reached(f"release {record.number} brought")
                return Done(), "", replace(kept, release=replace(kept.release, reference=reference))
            case Duty.LOOK:
                return *_look(record, target), record
            case Duty.SWITCH:
                target.switch(record.release)
                reached(f"release {record.number} switched to")
                return Done(), "", record
            case Duty.SWITCH_BACK:
                return *_switch_back(record, target, hands), record
            case Duty.NOTHING:
                return None, "", record
            case _ as never:
                assert_never(never)
    except MilepostError as error:
        said = f"{error.message}; {error.advice}" if error.advice else error.message
        return Failed(error.message), said, hands.releases.find(record.number)


def _ask(record: ReleaseRecord, hands: Hands) -> tuple[News | None, str, ReleaseRecord]:
    by = hands.ask(record)
    if by is None:
        return None, "", record
    if not by:
        return TakenBack(), "a person refused it", record
    return Approved(), f"approved by {by}", replace(record, approved_by=by)


def _look(record: ReleaseRecord, target: Deployable) -> tuple[News, str]:
    """Look once; where nothing follows from it, pause."""
    health = target.health(record.release)
    seen = Seen(health, time.time() - record.changed_at)
    if after(record.stage, seen, terms_of(record, target)) is record.stage:
        time.sleep(_pause(record))
    return seen, "" if health.healthy else health.detail


def _switch_back(record: ReleaseRecord, target: Deployable, hands: Hands) -> tuple[News, str]:
    """Give the traffic back to the release before, and look whether it is well."""
    number = record.release.previous
    why = record.said
    if number is None:
        target.retire(record.release)
        return Seen(Health(healthy=True), 0.0), f"{why}; no release was live before it, so nothing is now"
    before = hands.releases.find(number)
    again = hands.place.open_target(before.spec)
    if not before.kept:
        before = hands.releases.keep(replace(before, kept=True))
    again.switch(before.release)
    reached(f"release {number} has the traffic again")
    started = time.time()
    while not (health := again.health(before.release)).healthy and not health.settled:
        if time.time() - started > before.spec.start_timeout_s:
            break
        time.sleep(_pause(record))
    well = "" if health.healthy else f", which is not well either: {health.detail}"
    return Seen(replace(health, settled=True), 0.0), f"{why}; release {number} is live again{well}"


def _renew(record: ReleaseRecord, target: Deployable, hands: Hands) -> ReleaseRecord:
    """What somebody left may have stopped since, with its machine: bring it again, and count its time from now."""
    if record.stage in (Stage.STARTING, Stage.CHECKING, Stage.SWITCHING, Stage.SOAKING):
        try:
            target.deploy(record.release)
            if record.stage is Stage.SOAKING:
                target.switch(record.release)
        except MilepostError:  # its own stage finds out, and says what follows
            return record
        return hands.releases.keep(replace(record, changed_at=time.time()))
    return record


def _pause(record: ReleaseRecord) -> float:
    return LOOK_S if record.spec.kind == "local" else LOOK_AWAY_S
