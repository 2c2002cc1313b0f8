"""What runs spend, one row a call: reserved before it is made, settled with what it really took.

The row with number 0 stands for the attempt itself: its time, and what its agent says it cost beside its calls.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from milepost.core.budget import Spent
from milepost.core.calls import Usage
from milepost.store.database import Database

SCHEMA = """
create table if not exists spending (
    run text not null, task text not null, attempt integer not null, number integer not null,
    agent text not null, model text not null,
    reserved_usd double precision not null, reserved_tokens bigint not null,
    usd double precision not null, input_tokens bigint not null, output_tokens bigint not null,
    cached_tokens bigint not null, seconds double precision not null,
    state text not null, at double precision not null,
    primary key (run, task, attempt, number));
create index if not exists spending_held on spending (run, state);
create index if not exists spending_taken on spending
    (run, task, number, attempt, usd, input_tokens, output_tokens, seconds);
create table if not exists lives (
    run text not null, life text not null, began_at double precision not null, seen_at double precision not null,
    primary key (run, life));
"""
ATTEMPT = 0  # the number of an attempt's own row
MOST_TOKENS = 10**15  # what a database can add up without end

# One statement, because calls are settled meanwhile: what is not held any more must be seen as spent.
_SUMS = """
select * from
    (select coalesce(sum(usd), 0), coalesce(sum(input_tokens + output_tokens), 0), coalesce(sum(seconds), 0)
        from spending where run = ? {only}) as taken,
    (select coalesce(sum(reserved_usd), 0), coalesce(sum(reserved_tokens), 0) from spending
        where run = ? and state = 'reserved' and not (task = ? and attempt = ? and number = ?) {only}) as held,
    (select count(*) from spending
        where run = ? and number = 0 and not (task = ? and attempt = ? and number = ?) {only}) as attempts
"""
_RESERVE = """
insert into spending values (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 'reserved', ?)
on conflict (run, task, attempt, number) do update set agent = excluded.agent, model = excluded.model,
    reserved_usd = excluded.reserved_usd, reserved_tokens = excluded.reserved_tokens, state = 'reserved'
"""
# What was paid under this number before, for an answer that was lost, stays paid.
_SETTLE = """
insert into spending values (?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, 0, 'settled', ?)
on conflict (run, task, attempt, number) do update set usd = spending.usd + excluded.usd,
    input_tokens = spending.input_tokens + excluded.input_tokens,
    output_tokens = spending.output_tokens + excluded.output_tokens,
    cached_tokens = spending.cached_tokens + excluded.cached_tokens,
    model = excluded.model, state = 'settled', at = excluded.at
    where spending.state <> 'settled'
"""
_CALLS = """
select coalesce(sum(usd), 0), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
    coalesce(sum(cached_tokens), 0) from spending where run = ? and task = ? and attempt = ? and number > ?
"""
_BEGIN_LIFE = "insert into lives (run, life, began_at, seen_at) values (?, ?, ?, ?) on conflict do nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """Who spends: an attempt at a task, and its agent."""

    run: str
    task: str
    attempt: int
    agent: str


class Spending:
    """Reads and writes the rows; whoever decides by them holds the lock of the run."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.script(SCHEMA)

    def totals(self, run: str, task: str = "", asking: tuple[str, int, int] = ("", 0, 0)) -> Spent:
        """What a run, or one task of it, has taken; nothing is held from the one `asking` (task, attempt, number)."""
        only = (task,) if task else ()
        sql = _SUMS.replace("{only}", "and task = ?" if task else "")
        values = (run, *only, run, *asking, *only, run, *asking, *only)
        usd, tokens, seconds, held_usd, held_tokens, attempts = self._database.read(sql, *values)[0]
        return Spent(
            usd=float(usd),
            tokens=int(tokens),
            seconds=float(seconds),
            attempts=int(attempts),
            held_usd=float(held_usd),
            held_tokens=int(held_tokens),
        )

    def reserve(self, payer: Payer, number: int, model: str, most: Usage) -> None:
        """Hold what a call could take, in the place of what was held for it before."""
        key = (payer.run, payer.task, payer.attempt, number, payer.agent, model)
        self._database.write(_RESERVE, *key, money(most.cost_usd), tokens(most.tokens), time.time())

    def settle(self, payer: Payer, number: int, model: str, usage: Usage) -> None:
        """Put what a call took in the place of what was held for it; what is settled stays."""
        key = (payer.run, payer.task, payer.attempt, number, payer.agent, model)
        counts = (tokens(usage.input_tokens), tokens(usage.output_tokens), tokens(usage.cached_tokens))
        self._database.write(_SETTLE, *key, money(usage.cost_usd), *counts, time.time())

    def seconds_of(self, payer: Payer) -> float:
        """How long an attempt was worked on, as far as it is written down."""
        sql = "select coalesce(sum(seconds), 0) from spending where run = ? and task = ? and attempt = ?"
        return float(self._database.read(sql, payer.run, payer.task, payer.attempt)[0][0])

    def note_seconds(self, payer: Payer, seconds: float) -> None:
        """Write down how long an attempt was worked on; it never gets less."""
        sql = (
            "update spending set seconds = ? where run = ? and task = ? and attempt = ? and number = ? and seconds < ?"
        )
        self._database.write(sql, seconds, payer.run, payer.task, payer.attempt, ATTEMPT, seconds)

    def has_begun(self, payer: Payer) -> bool:
        """Whether an attempt was begun before, and is not over."""
        sql = "select 1 from spending where run = ? and task = ? and attempt = ? and number = ? and state = 'reserved'"
        return bool(self._database.read(sql, payer.run, payer.task, payer.attempt, ATTEMPT))

    def paid_for_calls(self, payer: Payer) -> Usage:
        """What the calls of an attempt took, as far as they are settled."""
        usd, told, said, cached = self._database.read(_CALLS, payer.run, payer.task, payer.attempt, ATTEMPT)[0]
        return Usage(input_tokens=int(told), output_tokens=int(said), cached_tokens=int(cached), cost_usd=float(usd))

    def drop_open(self, payer: Payer) -> None:
        """Let go of what is held for calls of an attempt that was never heard of again."""
        sql = (
            "update spending set state = 'dropped' "
            "where run = ? and task = ? and attempt = ? and number > ? and state = 'reserved'"
        )
        self._database.write(sql, payer.run, payer.task, payer.attempt, ATTEMPT)

    def rows(self, run: str) -> list[tuple[Any, ...]]:
        """Each (task, attempt, number, agent, model, usd, input, output, cached tokens, held USD), oldest first."""
        sql = (
            "select task, attempt, number, agent, model, usd, input_tokens, output_tokens, cached_tokens, "
            "case when state = 'reserved' then reserved_usd else 0 end from spending where run = ? "
            "order by at, task, attempt, number"
        )
        return self._database.read(sql, run)

    def begin_life(self, run: str, life: str) -> float:
        """Note that a process works on the run from now on; gives the seconds that were worked before."""
        worked, now = self.seconds_worked(run), time.time()
        self._database.write(_BEGIN_LIFE, run, life, now, now)
        return worked

    def see_life(self, run: str, life: str) -> None:
        """Note that a process is still at work on the run."""
        self._database.write("update lives set seen_at = ? where run = ? and life = ?", time.time(), run, life)

    def seconds_worked(self, run: str) -> float:
        """How long a run was at work: of each of its lives from its begin to the last that is known of it."""
        rows = self._database.read("select began_at, seen_at from lives where run = ? order by began_at", run)
        lives = [*((float(began), float(seen)) for began, seen in rows), (math.inf, math.inf)]
        return sum(
            max(0.0, max(min(seen, until), self._last_event(run, began, until)) - began)
            for (began, seen), (until, _) in pairwise(lives)
        )

    def _last_event(self, run: str, since: float, until: float) -> float:
        sql = "select max(at) from events where run = ? and at >= ? and at < ?"
        last = self._database.read(sql, run, since, min(until, 1e15))[0][0]
        return float(last) if last is not None else since


def money(usd: float) -> float:
    """Money as it may be added up: what is no amount is nothing."""
    return float(usd) if math.isfinite(usd) and usd > 0 else 0.0


def tokens(count: int) -> int:
    return max(0, min(int(count), MOST_TOKENS))
