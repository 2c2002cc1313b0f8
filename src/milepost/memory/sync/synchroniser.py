"""Brings a memory's own rows to its primary, and those of others from there.

Rows are added and never changed, so one that comes twice has no effect, and a crash at any moment is mended by doing it
again. A row that is otherwise here than there is reported, and stays as it is on both sides. Nothing that is missing
is taken for deleted: only a row that says so takes others away.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from milepost.core.errors import DatabaseAway, DatabaseRefuses, ValueRefused
from milepost.memory.store.schema import KEYS
from milepost.memory.sync.admission import LONGEST_BODY, admissible, flaw_of, shape
from milepost.memory.sync.breaker import Breaker
from milepost.memory.sync.outbox import Outbox, OutboxRow
from milepost.memory.sync.primary import Primary, prepare
from milepost.memory.sync.same_row import say_the_same
from milepost.memory.sync.status import SyncStatus, status_of
from milepost.memory.sync.sync_state import Notes
from milepost.memory.sync.tables import (
    COLUMNS,
    FORGOTTEN,
    IN_ORDER,
    Line,
    additions,
    as_line,
    by_key,
    glance,
    key_of,
    whole_rows,
)
from milepost.memory.transfer.forgotten_rows import take_away
from milepost.store.database import Database
from milepost.store.rows import Row

T = TypeVar("T")

BATCH = 500  # rows that are told as one
LARGEST = 2_000_000  # signs of rows that are told or asked for at once; a server may refuse more
PAGE = 500
# A server may show a row later than one that came after it: so many of those that were seen are looked at again.
OVERLAP = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Glimpse:
    """What is known of a row of the primary before it is asked for."""

    rowid: int
    key: tuple[Any, ...]
    digest: object
    size: int


class Synchroniser:
    """Synchronises one memory with one primary; may be used from several threads, which take turns.

    What fails raises DatabaseAway or DatabaseRefuses, and is told by `status`, in other processes, too.
    """

    def __init__(
        self,
        database: Database,
        primary: Primary,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = database
        self._primary = primary
        self._now = now
        self._clock = clock
        self._notes = Notes(database)
        self._outbox = Outbox(database, self._notes)
        self._lock = threading.Lock()
        self._known = False
        self.breaker = Breaker()

    def push(self, until: Callable[[], bool] = lambda: False) -> int:
        """Tell the primary what waits, batch by batch, until that is all; gives how many rows that were."""
        return self._trying(lambda: sum(map(self._tell, self._batches(until))))

    def pull(self, until: Callable[[], bool] = lambda: False) -> int:
        """Take over what others have told the primary; gives how many rows were added or taken away here."""
        return self._trying(lambda: sum(self._take_over(table, until) for table in IN_ORDER))

    def status(self) -> SyncStatus:
        return status_of(self._db, self.breaker.state)

    def close(self) -> None:
        with self._lock:
            self._primary.close()

    def _trying(self, act: Callable[[], T]) -> T:
        with self._lock:
            self.breaker, may = self.breaker.asked(self._clock())
            if not may:
                left_s = self.breaker.left_s(self._clock())
                raise DatabaseAway(f"the primary failed repeatedly; next try in {left_s:.0f} s", "")
            try:
                self._meet()
                done = act()
            except (DatabaseAway, DatabaseRefuses) as error:
                self.breaker = self.breaker.failed(self._clock())
                self._known = False
                self._primary.close()
                self._notes.failed(error.message, self._now())
                raise
            self.breaker = self.breaker.succeeded()
            self._notes.succeeded(self._now())
            return done

    def _meet(self) -> None:
        """Find out which primary it is; after each failure again, since it may be another one now."""
        if not self._known:
            self._notes.adopt(prepare(self._primary), shape())
            self._known = True

    def _batches(self, until: Callable[[], bool]) -> Iterator[list[OutboxRow]]:
        while not until() and (batch := self._outbox.oldest(BATCH, LARGEST)):
            yield batch

    def _tell(self, batch: Sequence[OutboxRow]) -> int:
        """Tell the primary, then strike it off; a crash in between only has it told again."""
        alike = sorted(batch, key=lambda one: one.table)
        try:
            self._primary.apply([statement for one in alike for statement in additions(one.table, one.row)])
        except ValueRefused as error:
            if len(batch) > 1:
                half = len(batch) // 2
                return self._tell(batch[:half]) + self._tell(batch[half:])
            self._outbox.set_aside(batch[0], error.message, self._now())
            return 0
        self._outbox.drop(batch)
        return len(batch)

    def _take_over(self, table: str, until: Callable[[], bool]) -> int:
        """Read a table of the primary from where it was read last, page by page; somebody else may do so, too."""
        changed = 0
        goes_on = True
        while goes_on and not until():
            before = self._notes.seen(table)
            page = self._glance(table, max(0, before - OVERLAP))
            newest = page[-1].rowid if page else 0
            if newest < before:  # what was seen last is gone: forgotten, or the primary is an older copy of itself
                goes_on = self._notes.advance(table, before, 0)
                continue
            changed += self._let_in_missing(table, page)
            goes_on = newest > before and self._notes.advance(table, before, newest)
        return changed

    def _glance(self, table: str, after: int) -> list[Glimpse]:
        rows = self._primary.read(glance(table), after, PAGE + OVERLAP)
        glimpses = [
            Glimpse(rowid=rowid, key=tuple(key), digest=digest, size=size)
            for rowid, *key, digest, size in rows
            if isinstance(rowid, int) and isinstance(size, int) and len(key) == len(KEYS[table])
        ]
        if len(glimpses) != len(rows) or any(one.rowid <= after for one in glimpses):
            raise _misread()
        return glimpses

    def _let_in_missing(self, table: str, page: Sequence[Glimpse]) -> int:
        sound = [one for one in page if not self._is_refused(table, one)]
        here = self._digests(table, [one.key for one in sound])
        wanted = [one for one in sound if here.get(one.key) != one.digest]
        return sum(self._let_in(table, portion) for portion in portions(wanted))

    def _is_refused(self, table: str, one: Glimpse) -> bool:
        """Whether a row is none that could be asked for; SQLite keeps anything in any column."""
        flaws = [flaw_of(name, COLUMNS[table][name], part) for name, part in zip(KEYS[table], one.key, strict=True)]
        why = next(filter(None, flaws), "it is too long" if one.size > LONGEST_BODY else "")
        if why:
            self._notes.refuse(table, one.key, why, self._now())
        return bool(why)

    def _digests(self, table: str, keys: Sequence[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
        if not keys:
            return {}
        sql, values = by_key(table, keys, (*KEYS[table], "digest"))
        return {tuple(key): digest for *key, digest in self._db.read(sql, *values)}

    def _let_in(self, table: str, wanted: Sequence[Glimpse]) -> int:
        """Ask for rows, judge them, then keep those that are admissible as one."""
        sql, rowids = whole_rows(table, [one.rowid for one in wanted])
        try:
            found = self._primary.read(sql, *rowids)
        except ValueRefused as error:  # more than it gives at once
            if len(wanted) > 1:
                half = len(wanted) // 2
                return self._let_in(table, wanted[:half]) + self._let_in(table, wanted[half:])
            self._notes.refuse(table, wanted[0].key, error.message, self._now())
            return 0
        if any(len(values) != len(COLUMNS[table]) for values in found):
            raise _misread()
        lines = [as_line(table, values) for values in found]
        judged = [(line, admissible(table, line)) for line in lines]
        return self._db.together("memory", lambda: sum(self._keep(table, line, why) for line, why in judged))

    def _keep(self, table: str, row: Line, why_not: str) -> int:
        if why_not:
            self._notes.refuse(table, key_of(table, row), why_not, self._now())
            return 0
        if table == FORGOTTEN:
            take_away(self._db, row["kind"], row["id"], shared=True)
        sql, values = additions(table, row)[-1]
        added = self._db.write(sql, *values)
        if not added:
            self._compare(table, row)
        return added

    def _compare(self, table: str, there: Line) -> None:
        """Report a row that is otherwise here; one that is not here was forgotten."""
        sql, values = by_key(table, [key_of(table, there)], tuple(COLUMNS[table]))
        found: list[Row] = self._db.read(sql, *values)
        here = as_line(table, found[0]) if found else there
        if not say_the_same(table, here, there):
            self._notes.diverge(table, key_of(table, there), (here["digest"], there["digest"]), self._now())


def _misread() -> DatabaseRefuses:
    return DatabaseRefuses("the primary does not answer like a memory", "make sure that it is one")


def portions(wanted: Sequence[Glimpse]) -> Iterator[list[Glimpse]]:
    """Rows that are asked for at once: of so many signs together, unless one alone has more."""
    portion: list[Glimpse] = []
    total = 0
    for one in wanted:
        if portion and total + one.size > LARGEST:
            yield portion
            portion, total = [], 0
        portion.append(one)
        total += one.size
    if portion:
        yield portion
