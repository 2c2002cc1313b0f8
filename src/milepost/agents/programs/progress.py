"""How far a program has come, as its notes tell it, and whether it has come to a bound of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import assert_never

from milepost.agents.models.faults import SHORT_WAIT_S, Fault, limit_in_words
from milepost.agents.programs.driver import (
    Note,
    Notice,
    ProgramEnded,
    SessionNamed,
    Spoke,
    Stepped,
    Troubled,
    Turned,
    Used,
)
from milepost.agents.programs.lines import amount, count, words
from milepost.core.attempt import OutcomeStatus
from milepost.core.calls import NOTHING, Usage

_NAME = re.compile(r"[A-Za-z0-9][\w.:/@+=-]{0,199}", re.ASCII)  # it will be a word of a command line

PricedAt = Callable[[str, Usage], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramLimits:
    """What an attempt of a program may take; `from_budget` says that the bound in money is the task's or the run's."""

    turns: int
    usd: float | None = None
    from_budget: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The bound at which a program was ended, in words, and what that makes of the attempt."""

    what: str
    status: OutcomeStatus = "gave_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePoint:
    """Where an attempt stands that may be cut short: its session, and what it took until then."""

    session: str = ""
    turns: int = 0
    usage: Usage = NOTHING

    def noted(self) -> str:
        """As the logbook keeps it."""
        return json.dumps({"session": self.session, "turns": self.turns, **asdict(self.usage)})


def place_in(note: str) -> ResumePoint:
    """The place that a logbook kept; the very beginning when it kept none."""
    try:
        kept = json.loads(note) if note else {}
    except ValueError:
        kept = {}
    if not isinstance(kept, dict):
        return ResumePoint()
    usage = Usage(
        input_tokens=count(kept.get("input_tokens")),
        output_tokens=count(kept.get("output_tokens")),
        cached_tokens=count(kept.get("cached_tokens")),
        cost_usd=amount(kept.get("cost_usd")),
    )
    return ResumePoint(session=words(kept.get("session")), turns=count(kept.get("turns")), usage=usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramProgress:
    """What the notes of one run of a program come to; `before` is where the attempt stood when it began.

    `trouble` with its service, and what it was `denied`, are what it has not got over yet.
    """

    before: ResumePoint = ResumePoint()
    session: str = ""
    steps: int = 0
    turns: int = 0
    usage: Usage = NOTHING
    said: str = ""
    trouble: Troubled | None = None
    denied: Troubled | None = None
    ended: ProgramEnded | None = None

    def after(self, note: Note, priced_at: PricedAt) -> ProgramProgress:
        """How far it has come with one more note."""
        match note:
            case SessionNamed(name=name):
                return replace(self, session=name) if _NAME.fullmatch(name) else self
            case Spoke(text=text):
                return replace(self, said=text, trouble=None)
            case Stepped():
                return replace(self, steps=self.steps + 1, trouble=None, denied=None, ended=None)
            case Turned(count=turns):
                return replace(self, turns=max(self.turns, turns), trouble=None, ended=None)
            case Used():
                return replace(self, usage=_total(self.before, note, priced_at))
            case Troubled(kind="denied"):
                return replace(self, denied=note)
            case Troubled():
                return replace(self, trouble=note)
            case ProgramEnded():
                return replace(self, ended=note)
            case Notice():
                return self
            case _ as never:
                assert_never(never)

    @property
    def began(self) -> bool:
        """Whether its model has done anything, in this run of the program."""
        return bool(self.steps or self.turns or self.said)

    @property
    def place(self) -> ResumePoint:
        """Where the attempt stands: what is counted is counted with the runs before."""
        turns = self.before.turns + max(self.turns, self.steps if not self.turns else 0)
        usage = self.before.usage if self.usage == NOTHING else self.usage
        return ResumePoint(session=self.session or self.before.session, turns=turns, usage=usage)


def reached(progress: ProgramProgress, bounds: ProgramLimits) -> Reached | None:
    """The bound that a program has come to, if it has. Whoever is at its end is not held up."""
    if progress.ended is not None:
        return None
    if progress.place.turns > bounds.turns:
        return Reached(what=f"stopped after {bounds.turns} turns without an end")
    return overspent(progress, bounds) or too_long_a_wait(progress)


def overspent(progress: ProgramProgress, bounds: ProgramLimits) -> Reached | None:
    """The bound in money, when it is reached: the attempt's own, or what the budget left."""
    cost_usd = progress.place.usage.cost_usd
    if bounds.usd is None or cost_usd < bounds.usd:
        return None
    status: OutcomeStatus = "spent" if bounds.from_budget else "gave_up"
    return Reached(what=f"stopped at ${cost_usd:.2f} of ${bounds.usd:.2f}", status=status)


def too_long_a_wait(progress: ProgramProgress) -> Reached | None:
    """The service, when it asks for a wait that no program is kept running for."""
    trouble = progress.trouble
    if trouble is None or trouble.wait_s is None or trouble.wait_s <= SHORT_WAIT_S:
        return None
    return Reached(what=limit_in_words(Fault("limited", trouble.what, trouble.wait_s)), status="limited")


def _total(before: ResumePoint, used: Used, priced_at: PricedAt) -> Usage:
    """What the attempt took with the runs before; a cost that the program does not say is reckoned."""
    cost_usd = used.usage.cost_usd if used.cost_known else priced_at(used.model, used.usage)
    counted: set[str] = set(used.cumulative) if before.session else set()
    if "tokens" in counted and not used.cost_known:
        counted.add("usd")
    tokens = replace(NOTHING if "tokens" in counted else before.usage, cost_usd=0.0)
    usd = 0.0 if "usd" in counted else before.usage.cost_usd
    return replace(tokens + used.usage, cost_usd=usd + cost_usd)
