"""Steering: what a person asks of a run while it is on, and what they change in its roadmap meanwhile.

Each wish is a row with a number. The run's parent takes the new ones in between two results, as part of a recorded
step, so that a resumed run is steered the same way at the same points.
"""

from __future__ import annotations

import hashlib
import time
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from milepost.core.errors import RoadmapUnreadable, SettingInvalid
from milepost.core.events import Event, GateAnswered, Steered, TaskFinished
from milepost.core.verdict import Verdict
from milepost.engine.project.project import pages_of, read_bytes
from milepost.store.database import Database

Kind = Literal["pause", "go_on", "finish", "drop", "agent", "parallel", "note", "roadmap", "roadmap_seen"]

ASKED = ("pause", "go_on", "finish", "drop", "agent", "parallel", "note")
LONGEST_NOTE = 4_000
MOST_NOTES = 20  # that an attempt is given: the newest

SCHEMA = """
create table if not exists steering (
    seq {serial}, run text not null, at double precision not null, kind text not null, task text not null,
    value text not null);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One thing that was asked of a run: `task` is empty when it is about all of it."""

    kind: Kind
    task: str = ""
    value: str = ""


class Steering:
    """Keeps what is asked of runs, and notices when a roadmap is edited."""

    def __init__(self, database: Database, run: str, watched: Callable[[], bytes | None]) -> None:
        self._database, self._run, self._watched = database, run, watched
        self._unsettled = ""
        database.script(SCHEMA)

    def ask(self, request: Request) -> None:
        """Ask something of the run."""
        sql = "insert into steering (run, at, kind, task, value) values (?, ?, ?, ?, ?)"
        row = (self._run, time.time(), request.kind, request.task, request.value)
        self._database.together(f"steering of {self._run}", lambda: self._database.write(sql, *row))

    def begin(self) -> None:
        """Remember the roadmap as it is at the start of the run."""
        if not self._database.read("select 1 from steering where run = ? limit 1", self._run):
            content = self._watched() or b""
            self.ask(Request(kind="roadmap_seen", value=content.decode("utf-8", "replace")))

    @property
    def paused(self) -> bool:
        """Whether the run was asked to pause, or to finish, and not to go on since."""
        sql = (
            "select kind from steering where run = ? and kind in ('pause', 'finish', 'go_on') order by seq desc limit 1"
        )
        return self._database.read(sql, self._run)[:1] not in ([], [("go_on",)])

    def since(self, heard: int) -> dict[str, Any] | None:
        """What was asked after the one with this number, and the newest number; None when nothing was."""
        self._notice_edit()
        rows = self._database.read(
            "select seq, kind, task, value from steering where run = ? and seq > ? order by seq", self._run, heard
        )
        new = [{"kind": kind, "task": task, "value": value} for _, kind, task, value in rows if kind != "roadmap_seen"]
        return {"asked": new, "heard": rows[-1][0]} if new else None

    def notes(self, tasks: Iterable[str]) -> tuple[str, ...]:
        """What a person noted for whoever tries some tasks, or any task, the oldest first."""
        names = {"", *(task.lower() for task in tasks)}
        sql = "select task, value from steering where run = ? and kind = 'note' order by seq"
        found = [value for task, value in self._database.read(sql, self._run) if task.lower() in names]
        return tuple(found[-MOST_NOTES:])

    def _notice_edit(self) -> None:
        """Ask for an edited roadmap to be followed, once it has not changed between two looks."""
        content = self._watched()
        if content is None:
            return
        now = hashlib.sha256(content).hexdigest()
        settled, self._unsettled = now == self._unsettled, now
        if settled and now != self._seen():
            text = content.decode("utf-8", "replace")
            self.ask(Request(kind="roadmap", value=text))

    def _seen(self) -> str:
        sql = (
            "select value from steering where run = ? and kind in ('roadmap', 'roadmap_seen') order by seq desc limit 1"
        )
        rows = self._database.read(sql, self._run)
        return hashlib.sha256(rows[0][0].encode()).hexdigest() if rows else ""


def request(kind: str, task: str = "", value: str = "") -> Request:
    """What a person asks, once it is known to make sense."""
    if kind not in ASKED:
        raise SettingInvalid(
            f"{kind!r} is not something a run can be asked to do", "use pause, finish, drop, agent, parallel or note"
        )
    if kind == "parallel" and not (_is_count(value) and 1 <= int(value) <= 64):
        raise SettingInvalid(f"{value!r} is not a valid number of parallel attempts", "use a number from 1 to 64")
    if (kind == "drop" and not task) or (kind == "agent" and not value):
        raise SettingInvalid(f"{kind} needs a task id", "milepost plan lists the tasks")
    return Request(kind=cast(Kind, kind), task=task, value=_note(value) if kind == "note" else value)


def _is_count(value: str) -> bool:
    """Whether a text is a number in few digits of ours: `²` is a digit, too, and no number."""
    return value.isascii() and value.isdecimal() and len(value) <= 3


def _note(text: str) -> str:
    """A note as it is kept: lines of words, nothing that moves a cursor or cannot be seen."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    seen = "".join(sign for sign in lines if sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cf", "Cs"))
    if len(seen) > LONGEST_NOTE:
        raise SettingInvalid(
            f"a note of {len(seen)} characters is too long",
            f"shorten it to {LONGEST_NOTE} characters, or edit the task",
        )
    if not seen.strip():
        raise SettingInvalid("the note is empty", 'add a text: milepost steer --note "use the existing parser"')
    return seen.strip()


def file_watch(roadmap: Path) -> Callable[[], bytes | None]:
    """A look at a roadmap that reads it only when it changed; None while it is as it was at the look before last."""
    before: tuple[object, ...] = ()
    seen = 0

    def look() -> bytes | None:
        nonlocal before, seen
        try:
            facts = [(page, page.stat()) for page in pages_of(roadmap)]
            stamp = tuple((page, fact.st_mtime_ns, fact.st_size) for page, fact in facts)
            if stamp == before and seen >= 2:
                return None
            before, seen = stamp, seen + 1 if stamp == before else 1
            return read_bytes(roadmap)
        except (OSError, RoadmapUnreadable):
            return None  # moved away for a moment, or for good: the run goes on with what it has

    return look


def requests_from(news: dict[str, Any]) -> tuple[Request, ...]:
    """What was asked, from a recorded step."""
    known = get_args(Kind)
    return tuple(Request(**row) for row in news["asked"] if row["kind"] in known)


Halt = Literal["", "paused", "finishing"]
_ADDED = "added: "
_NO = ("refused by a person", "skipped by a person", "dropped")


def halt_of(said: Iterable[str]) -> Halt:
    """Whether a run begins nothing new, by all that it was told: the last word counts."""
    halt: Halt = ""
    for what in said:
        if what.startswith("paused: "):
            halt = "paused"
        elif what.startswith("stops when "):
            halt = "finishing"
        elif what == "goes on":
            halt = ""
    return halt


def is_added(event: Event) -> bool:
    """Whether a task came to the run, maybe after it was dropped."""
    return isinstance(event, Steered) and bool(event.task) and event.what.startswith(_ADDED)


def is_set_aside(verdict: Verdict | None, reason: str) -> bool:
    """Whether a person said no to a task that was never tried, or to its held work: it waits for nobody."""
    return verdict is None and reason.startswith(_NO)


def as_answered(event: TaskFinished, later: Iterable[Event]) -> TaskFinished:
    """The end of a task whose held work a person was asked about, as they answered: a no ends the question."""
    answers = (one for one in later if isinstance(one, GateAnswered) and one.task == event.task)
    given = next((one for one in answers if one.gate.endswith("/held")), None)
    if event.verdict is not Verdict.HELD or event.commit or given is None or given.answer in ("approve", "accept"):
        return event
    short = "skipped by a person" if given.answer == "skip" else "refused by a person"
    return replace(event, verdict=None, reason=f"{short}: {given.text}" if given.text else short, proposal="")


def ended_tasks(events: Iterable[Event]) -> dict[str, TaskFinished]:
    """How tasks ended; one that was dropped and came back has not."""
    ended: dict[str, TaskFinished] = {}
    for event in events:
        if isinstance(event, TaskFinished):
            ended[event.task] = event
        elif isinstance(event, Steered) and is_added(event):
            ended.pop(event.task, None)
    return ended
