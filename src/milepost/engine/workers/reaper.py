"""The reaper: finds workers that are dead, once each, and frees what they held.

A worker is dead when it has not beaten for its lease, or for a good part of it while its session is gone, too. Both
are measured by the server's clock, from its last start on: after a restart everybody gets the time to come back.
"""

from __future__ import annotations

from dataclasses import dataclass

from milepost.core.events import WorkerChanged
from milepost.engine.records.journal import Journal
from milepost.engine.records.work_queue import Offers
from milepost.engine.records.worker_lease import CUT_OFF, TAKEN_OVER, lock_of
from milepost.store.database import Database

_SILENT = """
select id from workers where gone = '' and id <> ? and ? * lease_s <
    extract(epoch from clock_timestamp()) - greatest(beat_at, extract(epoch from pg_postmaster_start_time()))
"""
_LOOK = """
select name, lease_s, pg_try_advisory_xact_lock(?),
    extract(epoch from clock_timestamp()) - greatest(beat_at, extract(epoch from pg_postmaster_start_time()))
    from workers where id = ? for update
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """A worker that has not beaten for a while."""

    id: str
    name: str
    lease_s: float
    silent_s: float
    connected: bool


def is_dead(worker: Silent) -> bool:
    """Whether a worker's work may be taken over, by the lease that it goes by itself."""
    return worker.silent_s > worker.lease_s or (not worker.connected and worker.silent_s > CUT_OFF * worker.lease_s)


class Reaper:
    """Takes over from the dead for all."""

    def __init__(self, database: Database, journal: Journal, offers: Offers, own_id: str) -> None:
        self._database, self._journal, self._offers, self._own_id = database, journal, offers, own_id

    def reap(self) -> tuple[str, ...]:
        """Free what dead workers held; gives the names of those that nobody had taken over from before."""
        self._offers.free_what_the_gone_hold()
        if not self._silent_ids():
            return ()
        return self._database.together("takeover", self._take_over)

    def _silent_ids(self) -> tuple[str, ...]:
        return tuple(row[0] for row in self._database.read(_SILENT, self._own_id, CUT_OFF))

    def _take_over(self) -> tuple[str, ...]:
        """All in one transaction: who is dead, that they are gone, what is free again, and that it is told."""
        dead = [worker for worker in map(self._look_at, self._silent_ids()) if is_dead(worker)]
        for worker in dead:
            sql = "update workers set gone = ? where id = ? and gone = ''"
            self._database.write(sql, TAKEN_OVER, worker.id)
            runs = dict.fromkeys(offer.run for offer in self._offers.held_by(worker.id))
            self._offers.give_back(worker.id)
            for run in runs:
                told = WorkerChanged(
                    run=run, worker=worker.name, what="does not answer; other workers take over its work"
                )
                self._journal.append(told, f"worker/{worker.id}/{TAKEN_OVER}")
        return tuple(worker.name for worker in dead)

    def _look_at(self, worker_id: str) -> Silent:
        """A worker as it is now; to get its lock is to know that its session is gone."""
        ((name, lease_s, unlocked, silent_s),) = self._database.read(_LOOK, lock_of(worker_id), worker_id)
        return Silent(id=worker_id, name=name, lease_s=lease_s, silent_s=float(silent_s), connected=not unlocked)
