"""Follows a program while it runs: tells what it does, notes its session, and ends it at a bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from milepost.agents.programs.driver import (
    Note,
    Notice,
    ProgramEnded,
    Reader,
    SessionNamed,
    Spoke,
    Stepped,
    Troubled,
    Turned,
    Used,
)
from milepost.agents.programs.progress import PricedAt, ProgramLimits, ProgramProgress, Reached, ResumePoint, reached
from milepost.core.commands import Line
from milepost.core.ports import Tools

# To note a session takes a snapshot of the workspace: as long as this may go into it, and that share of the time.
NOTING_S, NOTING_SHARE = 3.0, 0.1
LONGEST_SAID = 500


class AtBound(Exception):
    """The program has come to a bound of ours."""

    def __init__(self, bound: Reached) -> None:
        super().__init__(bound.what)
        self.bound = bound


class ProgramWatch:
    """Takes the lines of one run of a program. What it raises ends the program, with all that it started.

    One that `may_leave` can go on later in its session, and leaves between two steps at a stop.
    """

    def __init__(
        self,
        *,
        reader: Reader,
        bounds: ProgramLimits,
        before: ResumePoint,
        tools: Tools,
        priced_at: PricedAt,
        may_leave: bool,
        clock: Callable[[], float],
    ) -> None:
        self._reader, self._bounds, self._tools, self._priced_at = reader, bounds, tools, priced_at
        self._may_leave, self._clock = may_leave, clock
        self._began, self._noting_s = clock(), 0.0
        self._cost_noted = False
        self._said = ""
        self.progress = ProgramProgress(before=before)

    def line(self, line: Line) -> None:
        for note in (_redacted(read, self._tools.redact) for read in self._reader.read(line)):
            self.progress = self.progress.after(note, self._priced_at)
            self._tell(note)
            self._keep(note)
            self._pay(note)
            bound = reached(self.progress, self._bounds)
            if bound is not None:
                raise AtBound(bound)

    def _pay(self, note: Note) -> None:
        """Have what was taken written down; raises at the wall, where others may have spent meanwhile what was left."""
        if isinstance(note, Used):
            try:
                self._tools.account(self.progress.place.usage)
            except BaseException:
                if self.progress.place.session:
                    self._note()
                raise

    def _tell(self, note: Note) -> None:
        match note:
            case Spoke(text=text):
                for line in text.splitlines():
                    if line.strip():
                        self._tools.say(line)
            case Stepped(what=what) | Notice(what=what) | Troubled(what=what) | ProgramEnded(what=what):
                self._say_once(" ".join(what.split())[:LONGEST_SAID])
            case SessionNamed() | Turned() | Used():
                pass
            case _ as never:
                assert_never(never)

    def _say_once(self, what: str) -> None:
        """Say what programs tell several times in a row, each time they try again, only once."""
        if what and what != self._said:
            self._tools.say(what)
        self._said = what

    def _keep(self, note: Note) -> None:
        """Note the session when it is named, with its first cost, and now and then with the workspace as it became."""
        first_cost = isinstance(note, Used) and not self._cost_noted
        if not (first_cost or isinstance(note, SessionNamed | Stepped | Turned)) or not self.progress.place.session:
            return
        if first_cost or self._noting_s <= NOTING_S + NOTING_SHARE * (self._clock() - self._began):
            self._cost_noted = self._cost_noted or first_cost
            self._note()
        if self._may_leave:
            try:
                self._tools.stops.pause(0)
            except BaseException:
                self._note()
                raise

    def _note(self) -> None:
        began = self._clock()
        self._tools.logbook.note_session(self.progress.place.noted())
        self._noting_s += self._clock() - began


def _redacted(note: Note, redact: Callable[[str], str]) -> Note:
    """A note without secrets: its line was read as it is, since a mask would break what is read."""
    match note:
        case Spoke(text=text):
            return Spoke(redact(text))
        case Stepped(what=what) | Notice(what=what) | Troubled(what=what) | ProgramEnded(what=what):
            return replace(note, what=redact(what))
        case SessionNamed() | Turned() | Used():
            return note
        case _ as never:
            assert_never(never)
