"""The lease: how a worker is known to be alive, and how it knows that it still is.

A worker beats in the table `workers`, by the server's clock alone, on a connection of its own that also holds an
advisory lock. It may act only while its last beat is so young that nobody can have taken over from it yet: whoever is
not sure waits for the next beat, and stops for good when it hears that it was taken over from. A process that was
held still finds that out before it does anything else.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from milepost.core.errors import LeaseLost
from milepost.store.database import Database

if TYPE_CHECKING:  # imported where it is used: most commands have no worker
    import psycopg

SCHEMA = """
create table if not exists workers (
    id text primary key, name text not null, labels text not null, capacity integer not null, version text not null,
    lease_s double precision not null, joined_at double precision not null, beat_at double precision not null,
    gone text not null default '');
"""
_JOIN = """
insert into workers (id, name, labels, capacity, version, lease_s, joined_at, beat_at)
    values (?, ?, ?, ?, ?, ?, extract(epoch from clock_timestamp()), extract(epoch from clock_timestamp()))
    on conflict do nothing
"""
_BEAT = "update workers set beat_at = extract(epoch from clock_timestamp()) where id = %s and gone = ''"
LEFT, TAKEN_OVER = "left", "taken over"

# Shares of the lease. A worker beats often, is sure of itself for a while, and is taken over from only later.
BEAT, SURE, CUT_OFF = 0.1, 0.25, 0.35
PATIENCE_S = 300.0  # without any answer of the database, before a worker gives up


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A process that takes work: what it offers, under an id that no other process ever has."""

    name: str
    capacity: int
    version: str
    labels: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def queue(self) -> str:
        """Where what it took waits for it."""
        return f"worker {self.id}"


class Lease:
    """Keeps a worker alive in the eyes of the others, from `join` until `leave` or until it is lost.

    `lost` is called once, from a thread of the lease's own, with the reason.
    """

    def __init__(
        self, url: str, worker: Worker, lease_s: float, lost: Callable[[LeaseLost], None], *, patience_s: float = 0.0
    ) -> None:
        self.worker, self.lease_s = worker, lease_s
        self._url = url.replace("postgresql+psycopg:", "postgresql:")
        self._lost = lost
        self._patience_s = patience_s or max(PATIENCE_S, 2 * lease_s)
        self._changed = threading.Condition()
        self._beat_at = now()
        self._failure: LeaseLost | None = None
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._keep_beating, name="lease", daemon=True)
        self._session: psycopg.Connection[Any] | None = None
        self._locked = False

    def join(self, database: Database) -> None:
        """Enter the worker among the others and begin to beat."""
        worker = self.worker
        offered = (" ".join(worker.labels), worker.capacity, worker.version)
        database.write(_JOIN, worker.id, worker.name, *offered, self.lease_s)
        self._beat_at = now()
        self._thread.start()

    def leave(self, database: Database) -> None:
        """Say that the worker is gone by its own will."""
        self._left.set()
        self._thread.join()
        database.write("update workers set gone = ? where id = ? and gone = ''", LEFT, self.worker.id)

    def require(self) -> None:
        """Return while the lease is held for certain; wait where that is not known; raise once it is lost."""
        with self._changed:
            self._changed.wait_for(lambda: self._failure is not None or self._is_sure())
            if self._failure is not None:
                raise self._failure

    def _is_sure(self) -> bool:
        return now() - self._beat_at < SURE * self.lease_s

    def _keep_beating(self) -> None:
        while not self._left.is_set() and self._failure is None:
            self._beat_or_lose()
            self._left.wait(BEAT * self.lease_s)
        self._hang_up()

    def _beat_or_lose(self) -> None:
        import psycopg

        sent_at = now()
        try:
            held = self._beat()
        except psycopg.Error:
            self._hang_up()
            if now() - self._beat_at > self._patience_s:
                self._lose("the database did not answer in time")
            return
        except Exception as error:  # without a beat nobody would ever hear again whether the lease is held
            self._lose(f"{type(error).__name__}: {error}")
            return
        if not held:
            self._lose("other workers took over its work")
            return
        with self._changed:
            self._beat_at = sent_at
            self._changed.notify_all()

    def _beat(self) -> bool:
        """Beat once; False when somebody took over.

        The lock may be held for a while by a session of ours that was cut off: that is as good as holding it.
        """
        if self._session is None:
            self._session, self._locked = _connect(self._url, self.lease_s), False
        if not self._locked:
            asked = self._session.execute("select pg_try_advisory_lock(%s)", (lock_of(self.worker.id),))
            self._locked = asked.fetchone() == (True,)
        return self._session.execute(_BEAT, (self.worker.id,)).rowcount == 1

    def _hang_up(self) -> None:
        if self._session is not None:
            import psycopg

            with suppress(psycopg.Error):
                self._session.close()
            self._session = None

    def _lose(self, why: str) -> None:
        failure = LeaseLost(
            f"worker {self.worker.name} lost its lease: {why}",
            "nothing is lost: other workers continue its work; start it again when its machine is healthy",
        )
        with self._changed:
            self._failure = failure
            self._changed.notify_all()
        self._lost(failure)


_held: list[Lease] = []


def hold(lease: Lease | None) -> None:
    """Make a lease the one of this process, or none."""
    _held[:] = [] if lease is None else [lease]


def require() -> None:
    """Raise LeaseLost, or wait, unless this process may act; always fine in an engine that shares with nobody."""
    if _held:
        _held[0].require()


def now() -> float:
    """Seconds on a clock of this machine alone that goes on while the process, or the machine, is held still."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def lock_of(worker_id: str) -> int:
    """The advisory lock that a worker's session holds."""
    return int.from_bytes(hashlib.sha256(f"milepost worker {worker_id}".encode()).digest()[:8], "big", signed=True)


def _connect(url: str, lease_s: float) -> psycopg.Connection[Any]:
    """A session that is cut rather than waited for: an answer that takes longer than the lease is none."""
    import psycopg

    patience_ms = max(1000, int(lease_s * 1000 / 2))
    return psycopg.connect(
        url,
        autocommit=True,
        prepare_threshold=None,
        connect_timeout=max(2, int(lease_s / 2)),
        application_name="milepost lease",
        keepalives_idle=max(1, int(lease_s / 2)),
        keepalives_interval=1,
        keepalives_count=3,
        tcp_user_timeout=patience_ms,
        options=f"-c statement_timeout={patience_ms}",
    )
