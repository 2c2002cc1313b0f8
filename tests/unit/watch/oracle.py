"""What nobody who knew everything would do: written from the causes of a simulated world alone, never from `decide`.

The lines follow what each guard is there to prevent: taking all down at once, killing busy instances, going back to
another bad release, fighting the deployer, healing while blind, blaming a release for what is older, restarts that
cannot help, treating symptoms for ever, acting before an effect shows, limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milepost.core.watching import RemedyKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What really is, which no watcher knows."""

    at: float
    blind: bool
    data_age_s: float
    deploying: bool
    dependency_down: bool
    release_is_bad: bool
    release_is_bad_since: float
    """When it went live, or began to be bad."""
    before_is_bad: bool
    before_was_known_bad: bool
    """Somebody could know: it failed while it was live, or was rolled back."""
    faulty: frozenset[str]
    """Instances with a fault of their own: they leak, spin, are slow."""
    dead: frozenset[str]
    running: int
    least: int
    most: int
    load: float
    """What is asked, by what well instances could do."""
    disk_free: float
    disk_fills: bool


@dataclass(frozen=True, slots=True)
class Act:
    at: float
    kind: RemedyKind
    subject: str


def wrong(truth: Truth, act: Act, past: Sequence[Act]) -> str:
    """Why an act is wrong; empty where it is not."""
    if truth.blind:
        return "heals while the watcher is blind"
    if truth.data_age_s > 5:
        return "heals by what was measured long ago"
    if truth.deploying:
        return "fights the deployer"
    if past and act.at - past[-1].at < 5:
        return "acts before the effect of the last act can show"
    if len([one for one in past if act.at - one.at < 3600]) >= 6:
        return "more than six acts in an hour"
    same = [one for one in past if (one.kind, one.subject) == (act.kind, act.subject) and act.at - one.at < 600]
    if act.kind is not RemedyKind.SCALE_OUT and len(same) >= 2:
        return "treats a symptom for ever"
    return _wrong_kind(truth, act, past)


def _wrong_kind(truth: Truth, act: Act, past: Sequence[Act]) -> str:
    match act.kind:
        case RemedyKind.ROLL_BACK:
            if not truth.release_is_bad or truth.release_is_bad_since > act.at:
                return "blames a release that is good"
            if truth.before_was_known_bad:
                return "goes back to another bad release"
            if any(
                one.kind is RemedyKind.ROLL_BACK and one.subject != act.subject and act.at - one.at < 60 for one in past
            ):
                return "rolls back a rollback"
        case RemedyKind.RESTART:
            if act.subject in truth.dead:
                return ""
            if act.subject not in truth.faulty:
                return "restarts an instance that is well" if truth.load < 1 else "kills a busy instance"
            if truth.running - 1 < truth.least - 1:
                return "leaves too few instances"
        case RemedyKind.REPLACE:
            return "" if truth.dead else "replaces what is alive"
        case RemedyKind.SCALE_OUT:
            if truth.running + len(truth.dead) >= truth.most:
                return "more instances than are allowed"
            if truth.load < 0.7 and not truth.faulty and not truth.release_is_bad:
                return "more instances without more load"
        case RemedyKind.CLEAR_DISK:
            return "" if truth.disk_free < 0.1 or truth.disk_fills else "clears a disk that is not full"
    return ""
