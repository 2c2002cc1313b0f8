"""Offers: the runs and tasks that workers may take, each held by one worker at most.

Who holds an offer is one column of one row, changed by one statement: two workers never take the same one. What
a dead worker held is free again in the same transaction that says it is dead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from milepost.engine.records import worker_lease
from milepost.engine.records.worker_lease import Worker
from milepost.store.database import Database

SCHEMA = """
create table if not exists offers (
    seq {serial}, workflow text not null unique, run text not null, needs text not null, counts integer not null,
    worker text not null default '');
"""
_TAKE = """
update offers set worker = ? where workflow = ? and worker = ''
    and exists (select 1 from workers where id = ? and gone = '' for share)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A workflow that a worker may take; one that `counts` fills a place of its capacity."""

    workflow: str
    run: str
    needs: tuple[str, ...] = ()
    counts: bool = True


class Offers:
    """Makes, takes and gives back offers."""

    def __init__(self, database: Database) -> None:
        self._database = database
        database.script(worker_lease.SCHEMA)
        database.script(SCHEMA)

    def make(self, offer: Offer) -> None:
        """Offer a workflow; harmless when repeated, whoever holds it by now."""
        sql = "insert into offers (workflow, run, needs, counts) values (?, ?, ?, ?) on conflict do nothing"
        self._database.write(sql, offer.workflow, offer.run, " ".join(offer.needs), int(offer.counts))

    def free(self) -> tuple[Offer, ...]:
        """What nobody holds, oldest first."""
        return self.held_by("")

    def held_by(self, worker_id: str) -> tuple[Offer, ...]:
        """What a worker holds, oldest first."""
        sql = "select workflow, run, needs, counts from offers where worker = ? order by seq"
        return tuple(
            Offer(workflow=workflow, run=run, needs=tuple(needs.split()), counts=bool(counts))
            for workflow, run, needs, counts in self._database.read(sql, worker_id)
        )

    def take(self, workflow: str, worker_id: str) -> bool:
        """Take what nobody holds; False when another one was faster, or took over from this worker.

        The answer to the statement may be lost with the server, so that it is run again: what counts is who has it.
        """
        if self._database.write(_TAKE, worker_id, workflow, worker_id):
            return True
        return bool(self._database.read("select 1 from offers where workflow = ? and worker = ?", workflow, worker_id))

    def give_back(self, worker_id: str, run: str = "") -> None:
        """Free all that a worker holds, or what it holds of one run."""
        self._database.write(
            "update offers set worker = '' where worker = ? and (run = ? or ? = '')", worker_id, run, run
        )

    def free_what_the_gone_hold(self) -> None:
        """Free what is held by workers that are gone: one may have taken something while it was taken over from."""
        sql = "update offers set worker = '' where worker in (select id from workers where gone <> '')"
        self._database.write(sql)

    def withdraw(self, workflow: str) -> None:
        """Take back an offer: its workflow has ended."""
        self._database.write("delete from offers where workflow = ?", workflow)

    def withdraw_run(self, run: str) -> None:
        """Take back all offers of a run: whoever works on it leaves it."""
        self._database.write("delete from offers where run = ?", run)


def choose(
    free: Iterable[Offer], held: Collection[Offer], worker: Worker, barred: Collection[str]
) -> tuple[Offer, ...]:
    """What a worker may take now: what its labels cover and its capacity has room for, none of a barred run."""
    room = worker.capacity - sum(offer.counts for offer in held)
    chosen = []
    for offer in free:
        if offer.run in barred or not set(offer.needs) <= set(worker.labels):
            continue
        if offer.counts:
            if room <= 0:
                continue
            room -= 1
        chosen.append(offer)
    return tuple(chosen)
