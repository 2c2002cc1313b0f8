"""Human gates: the questions that a run puts to a person, kept with their answers, and what each answer means."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from milepost.core.errors import GateChanged, GateClosed, GateUnknown, Misuse
from milepost.core.events import GateAnswer, GateKind
from milepost.store.database import Database
from milepost.store.kill_points import reached
from milepost.store.rows import Row

LONGEST_SHOWN = 200_000
SHORTEST_DIGEST = 6
ANSWERS: tuple[GateAnswer, ...] = ("approve", "reject", "edit", "skip", "delegate")  # accept is a person's alone

SCHEMA = """
create table if not exists gates (
    run text not null, gate text not null, task text not null, attempt bigint not null, kind text not null,
    question text not null, shown text not null, digest text not null, asked_at double precision not null,
    answered_at double precision, answer text not null, text text not null, answered_by text not null,
    primary key (run, gate));
"""
_OPEN = """
insert into gates
    (run, gate, task, attempt, kind, question, shown, digest, asked_at, answered_at, answer, text, answered_by)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, null, '', '', '') on conflict do nothing
"""
_ASKED = """
select run, gate, task, attempt, kind, question, shown, digest, asked_at, answered_at, answer, text, answered_by
    from gates where run = ? and (gate = ? or ? = '') order by asked_at, gate
"""
_HELD = """
select run, gate, task, attempt, kind, question, shown, digest, asked_at, answered_at, answer, text, answered_by
    from gates where kind = 'held' order by asked_at, gate
"""
_RENEW = """
update gates set question = ?, shown = ?, digest = ?, asked_at = ?, answered_at = null, answer = '', text = '',
    answered_by = '' where run = ? and gate = ?
"""
_ANSWER = "update gates set answered_at = ?, answer = ?, text = ?, answered_by = ? where run = ? and gate = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class LandedWork:
    """Held work that became a milepost after its run: the commit, and the branch that was moved to it.

    `by_hand` is the command that moves the user's branch where something was in the way; `verified_again` says that
    the branch had moved on, so that the checks were run once more.
    """

    commit: str
    verdict: str
    branch: str = ""
    by_hand: str = ""
    verified_again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A question to a person: `shown` is what they decide on, `digest` its hash. `answer` is empty until they did.

    One that is `over` outlived its run: the answer is acted on at once, and `landed` is what came of it.
    """

    run: str
    gate: str
    task: str
    attempt: int
    kind: GateKind
    question: str
    shown: str
    digest: str
    asked_at: float = 0.0
    answered_at: float | None = None
    answer: GateAnswer | None = None
    text: str = ""
    answered_by: str = ""
    over: bool = False
    landed: LandedWork | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoAhead:
    """Go on; `text` is added to the task."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """The command is not run; `text` is what its tool answers."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The agent tries again; `text` is what was wrong, or what to do instead."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTask:
    """The task ends without a milepost."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """Another agent does it."""

    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """The work is taken as it is, not verified; `why` is what its owner says to that."""

    why: str


Consequence = GoAhead | Refuse | Again | EndTask | Hand | Take


def gate_of(*, run: str, task: str, attempt: int, kind: GateKind, question: str, shown: str, call: int = 0) -> Gate:
    """A question that is not asked yet; two of the same place in a run have the same name."""
    names: dict[GateKind, str] = {
        "before": f"{task}/before",
        "after": f"{task}/{attempt}/after",
        "held": f"{task}/{attempt}/held",
        "destructive": f"{task}/{attempt}/call/{call}",
    }
    digest = hashlib.sha256("\0".join((kind, task, shown)).encode("utf-8", "backslashreplace")).hexdigest()
    return Gate(
        run=run,
        gate=names[kind],
        task=task,
        attempt=attempt,
        kind=kind,
        question=_kept(question),
        shown=_kept(shown),
        digest=digest,
    )


def consequence(kind: GateKind, answer: GateAnswer, text: str) -> Consequence:
    """What an answer means for the task that waits."""
    match answer:
        case "approve":
            return GoAhead()
        case "edit" if kind == "before":
            return GoAhead(text=text)
        case "edit" if kind == "destructive":
            return Refuse(text=f"refused by a person, who asks for this instead: {text}")
        case "edit":
            return Again(text=text)
        case "reject" if kind == "before":
            return EndTask(reason=f"refused by a person: {text}")
        case "reject" if kind == "destructive":
            return Refuse(text=f"refused by a person: {text}")
        case "reject":
            return Again(text=text)
        case "skip":
            return EndTask(reason=f"skipped by a person: {text}" if text else "skipped by a person")
        case "delegate":
            return Hand(agent=text)
        case "accept":
            return Take(why=text)
        case _ as never:
            assert_never(never)


class Gates:
    """Keeps the questions and their answers; any thread, process or machine may ask and answer."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.script(SCHEMA)

    def open_gate(self, gate: Gate) -> Gate:
        """Ask, once. What is asked again about something else needs another answer: the old one is void."""
        asked_at = time.time()

        def ask() -> Gate:
            known = self.find(gate.run, gate.gate)
            if known is None:
                row = (gate.run, gate.gate, gate.task, gate.attempt, gate.kind, gate.question, gate.shown, gate.digest)
                self._database.write(_OPEN, *row, asked_at)
            elif known.digest != gate.digest:
                renewed = (gate.question, gate.shown, gate.digest, asked_at)
                self._database.write(_RENEW, *renewed, gate.run, gate.gate)
            return self.find(gate.run, gate.gate) or gate

        asked = self._database.together(_turn(gate.run), ask)
        reached(f"{gate.gate} asked")
        return asked

    def answer(
        self, run: str, name: str, answer: GateAnswer, text: str = "", *, digest: str = "", by: str = ""
    ) -> Gate:
        """Keep a person's answer; the same one again is harmless, another one is refused.

        With `digest`, which may be its beginning, the answer is to what was shown under it and to nothing else.
        """
        text = _checked(answer, text)
        at = time.time()

        def keep() -> Gate:
            gate = self.find(run, name)
            if gate is None:
                raise GateUnknown(f"there is no question about {name!r}", "milepost gates lists the open questions")
            _refuse_other(gate, digest)
            if answer == "accept" and gate.kind != "held":
                raise Misuse(f"{name} is not about work that waits to be taken", "approve or reject it")
            if gate.answer is not None:
                _refuse_second(gate, answer, text)
                return gate
            self._database.write(_ANSWER, at, answer, text, _kept(by), run, name)
            return replace(gate, answered_at=at, answer=answer, text=text, answered_by=_kept(by))

        return self._database.together(_turn(run), keep)

    def require_open(self, gate: Gate, answer: GateAnswer, text: str = "", *, digest: str = "") -> None:
        """Raise where an answer would be refused, before it is acted on."""
        text, known = _checked(answer, text), self.find(gate.run, gate.gate) or gate
        _refuse_other(known, digest)
        if known.answer is not None:
            _refuse_second(known, answer, text)

    def find(self, run: str, name: str) -> Gate | None:
        rows = self._database.read(_ASKED, run, name, name)
        return _gate(rows[0]) if rows else None

    def waiting(self, run: str) -> tuple[Gate, ...]:
        """The questions of a run that nobody has answered, the oldest first."""
        return tuple(gate for gate in self.asked(run) if gate.answer is None)

    def asked(self, run: str) -> tuple[Gate, ...]:
        """All questions of a run, the oldest first."""
        return tuple(map(_gate, self._database.read(_ASKED, run, "", "")))

    def held(self) -> tuple[Gate, ...]:
        """What was asked about held work in all runs, the oldest first."""
        return tuple(map(_gate, self._database.read(_HELD)))

    def withdraw(self, run: str, task: str) -> None:
        """Take back what was asked about a task and not answered: it is over by other means."""
        sql = "update gates set answered_at = ?, answer = 'skip', text = ? where run = ? and task = ? and answer = ''"
        self._database.write(sql, time.time(), "the question was withdrawn", run, task)


def given_answers(gates: Gates, run: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Which of some questions of a run are answered, and how, as plain values that a step records."""
    known = (gates.find(run, name) for name in names)
    return [
        {"held": gate.gate, "answer": gate.answer, "text": gate.text, "by": gate.answered_by}
        for gate in known
        if gate is not None and gate.answer is not None
    ]


def _checked(answer: GateAnswer, text: str) -> str:
    if answer not in (*ANSWERS, "accept"):
        raise Misuse(f"{answer!r} is not an answer", f"use one of {', '.join(ANSWERS)}")
    text = _kept(text.strip())
    if answer in ("reject", "edit", "delegate") and not text:
        needed = {"reject": "a reason", "edit": "the text to add", "delegate": "the name of an agent"}[answer]
        raise Misuse(f"{answer} needs {needed}", f"see milepost {answer} --help")
    return text


def _refuse_other(gate: Gate, digest: str) -> None:
    if digest and (len(digest) < SHORTEST_DIGEST or not gate.digest.startswith(digest.lower())):
        raise GateChanged(
            f"what {gate.gate} asks about has changed since it was shown", "look at it again: milepost gates"
        )


def _refuse_second(gate: Gate, answer: GateAnswer, text: str) -> None:
    if (gate.answer, gate.text) != (answer, text):
        by = f" by {gate.answered_by}" if gate.answered_by else ""
        said = f": {gate.text}" if gate.text else ""
        raise GateClosed(
            f"{gate.gate} was answered already{by}, with {gate.answer}{said}", "an answer cannot be changed"
        )


def _kept(text: str) -> str:
    """Text as every database can keep it, and not more of it than a person could read."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    left = len(text) - LONGEST_SHOWN
    return text if left <= 0 else f"{text[:LONGEST_SHOWN]}\n… {left} more characters\n"


def _gate(row: Row) -> Gate:
    run, name, task, attempt, kind, question, shown, digest, asked_at, answered_at, answer, text, by = row
    return Gate(
        run=run,
        gate=name,
        task=task,
        attempt=attempt,
        kind=kind,
        question=question,
        shown=shown,
        digest=digest,
        asked_at=asked_at,
        answered_at=answered_at,
        answer=answer or None,
        text=text,
        answered_by=by,
    )


def _turn(run: str) -> str:
    return f"gates of {run}"
