"""The recorded calls of attempts: each question to a model and each use of a tool, with its answer and the tree after.

A row is written after the answer came and before anybody acts on it. What is written under one number stays: a
second writer of it is one that does not know that it was taken over from.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from milepost.core.calls import CallKind, Reply, Usage
from milepost.core.errors import MachineFailed
from milepost.store.database import Database

SCHEMA = """
create table if not exists calls (
    run text not null, task text not null, attempt integer not null, number integer not null,
    kind text not null, name text not null, request text not null, tree text not null, body text not null,
    duration_ms integer not null, at double precision not null, primary key (run, task, attempt, number));
create table if not exists attempt_notes (
    run text not null, task text not null, attempt integer not null, name text not null, body text not null,
    primary key (run, task, attempt, name));
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptKey:
    """Which attempt."""

    run: str
    task: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.run}/{self.task}/{self.attempt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A call that was answered; `tree` is the workspace after it, empty where that cannot be told."""

    number: int
    kind: CallKind
    name: str
    request: str
    tree: str
    reply: Reply
    duration_ms: int


class CallLog:
    """Keeps the calls of all attempts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.script(SCHEMA)

    def of(self, key: AttemptKey) -> tuple[RecordedCall, ...]:
        """The calls of an attempt, in their order."""
        sql = (
            "select number, kind, name, request, tree, body, duration_ms from calls "
            "where run = ? and task = ? and attempt = ? order by number"
        )
        rows = self._database.read(sql, key.run, key.task, key.attempt)
        return tuple(
            RecordedCall(
                number=number,
                kind=kind,
                name=name,
                request=request,
                tree=tree,
                reply=_reply(json.loads(body)),
                duration_ms=duration_ms,
            )
            for number, kind, name, request, tree, body, duration_ms in rows
        )

    def told(self, model: str, most: int) -> tuple[tuple[int, int], ...]:
        """The newest questions that a model answered: each its bytes, and the tokens of input that were counted."""
        sql = "select body from calls where kind = 'model' and name = ? order by at desc limit ?"
        bodies = (json.loads(body) for (body,) in self._database.read(sql, model, most))
        return tuple((int(body["body"].get("told_bytes", 0)), int(body["usage"][0])) for body in bodies)

    def keep(self, key: AttemptKey, call: RecordedCall) -> None:
        """Write a call down; raises when another engine wrote one under its number."""
        sql = "insert into calls values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing"
        body = json.dumps(_body(call.reply))
        values = (call.number, call.kind, call.name, call.request, call.tree, body, call.duration_ms, time.time())
        written = self._database.write(sql, key.run, key.task, key.attempt, *values)
        if not written and self._kept(key, call.number) != (call.request, body):
            raise MachineFailed(
                f"call {call.number} of attempt {key} was already made by another engine",
                "this one stops; the other one continues",
            )

    def _kept(self, key: AttemptKey, number: int) -> tuple[str, str]:
        """What is written under a number: ours, where only the database's answer was lost."""
        sql = "select request, body from calls where run = ? and task = ? and attempt = ? and number = ?"
        ((request, body),) = self._database.read(sql, key.run, key.task, key.attempt, number)
        return request, body

    def together(self, key: AttemptKey, act: Callable[[], None]) -> None:
        """Write a call down with all that belongs to it, or nothing of it."""
        self._database.together(f"calls/{key}", act)

    def cut(self, key: AttemptKey, after: int) -> None:
        """Forget the calls of an attempt after a number: they belong to a conversation that is not held any more."""
        sql = "delete from calls where run = ? and task = ? and attempt = ? and number > ?"
        self._database.write(sql, key.run, key.task, key.attempt, after)

    def mask(self, key: AttemptKey, masked: Callable[[str], str]) -> None:
        """Put masked texts in the place of those of an attempt that is over: nothing goes on from its calls."""
        sql = "update calls set body = ? where run = ? and task = ? and attempt = ? and number = ?"
        for call in self.of(key):
            body = json.dumps(_masked(_body(call.reply), masked))
            self._database.write(sql, body, key.run, key.task, key.attempt, call.number)

    def note(self, key: AttemptKey, name: str, body: Any) -> None:
        """Note something about an attempt; a later note of the same name takes its place."""
        sql = (
            "insert into attempt_notes values (?, ?, ?, ?, ?) "
            "on conflict (run, task, attempt, name) do update set body = excluded.body"
        )
        self._database.write(sql, key.run, key.task, key.attempt, name, json.dumps(body))

    def noted(self, key: AttemptKey, name: str) -> Any:
        """What was noted about an attempt, else None."""
        sql = "select body from attempt_notes where run = ? and task = ? and attempt = ? and name = ?"
        rows = self._database.read(sql, key.run, key.task, key.attempt, name)
        return json.loads(rows[0][0]) if rows else None


def _body(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    taken = [usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cost_usd]
    return {"body": dict(reply.body), "usage": taken, "failed": reply.failed, "refused": reply.refused}


def _masked(value: Any, masked: Callable[[str], str]) -> Any:
    match value:
        case str():
            return masked(value)
        case dict():
            return {name: _masked(each, masked) for name, each in value.items()}
        case list() | tuple():
            return [_masked(each, masked) for each in value]
        case _:
            return value


def _reply(stored: dict[str, Any]) -> Reply:
    input_tokens, output_tokens, cached_tokens, cost_usd = stored["usage"]
    usage = Usage(
        input_tokens=input_tokens, output_tokens=output_tokens, cached_tokens=cached_tokens, cost_usd=cost_usd
    )
    return Reply(body=stored["body"], usage=usage, failed=stored["failed"], refused=stored["refused"])


BEGINNING = "beginning"


def calls_ref(key: AttemptKey) -> str:
    """Where the workspace of an attempt is kept after each of its calls."""
    return f"refs/milepost-calls/{key}"


NOTED_BUDGET = "budget"  # under which a budget that was given to `resume` is noted
