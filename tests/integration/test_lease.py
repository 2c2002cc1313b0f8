"""Leases, takeovers and offers on a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from milepost.core.errors import LeaseLost, MilepostError
from milepost.core.events import WorkerChanged
from milepost.engine.records import worker_lease
from milepost.engine.records.journal import Journal
from milepost.engine.records.work_queue import Offer, Offers
from milepost.engine.records.worker_lease import Lease, Worker
from milepost.engine.workers.reaper import Reaper
from milepost.store.database import Database, open_database
from tests.postgres import Cluster

PATIENCE_S = 60.0


@contextmanager
def opened(url: str) -> Iterator[Database]:
    with closing(open_database(url)) as database:
        database.script(worker_lease.SCHEMA)
        yield database


def hired(name: str = "ann") -> Worker:
    return Worker(name=name, capacity=1, version="1")


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def silence(database: Database, worker: Worker, seconds: float) -> None:
    """As if a worker had last beaten so long ago, on a server that runs for longer."""
    sql = "update workers set beat_at = extract(epoch from clock_timestamp()) - ? where id = ?"
    database.write(sql, seconds, worker.id)


def test_what_a_dead_worker_held_is_freed_once_however_many_look(cluster: Cluster) -> None:
    url = cluster.fresh()
    until(lambda: _up_for(url) > 1.0)
    with opened(url) as database:
        dead, offers = hired(), Offers(database)
        _enter(database, dead, lease_s=0.5)
        offers.make(Offer(workflow="ab12/T1/prove/1", run="ab12"))
        assert offers.take("ab12/T1/prove/1", dead.id)
        silence(database, dead, 60)

        def look(_: int) -> tuple[str, ...]:
            with opened(url) as mine:
                return Reaper(mine, Journal(mine), Offers(mine), hired("bob").id).reap()

        with ThreadPoolExecutor(4) as pool:
            assert sorted(pool.map(look, range(4))) == [(), (), (), ("ann",)]
        assert [offer.workflow for offer in offers.free()] == ["ab12/T1/prove/1"]
        told = [entry.event for entry in Journal(database).events("ab12")]
        assert [(event.worker, event.what) for event in told if isinstance(event, WorkerChanged)] == [
            ("ann", "does not answer; other workers take over its work")
        ]


def test_a_worker_that_was_taken_over_from_may_do_nothing_more_and_is_told_once(postgres: str) -> None:
    lost: list[LeaseLost] = []
    with opened(postgres) as database:
        held = Lease(postgres, hired(), 1.0, lost.append)
        held.join(database)
        held.require()
        database.write("update workers set gone = 'taken over' where id = ?", held.worker.id)
        until(lambda: lost)
        with pytest.raises(LeaseLost, match="other workers took over its work"):
            held.require()
        assert len(lost) == 1


def test_a_worker_waits_while_the_database_is_away_and_goes_on_when_it_is_back(cluster: Cluster) -> None:
    url, lost = cluster.fresh(), list[MilepostError]()
    with opened(url) as database:
        held = Lease(url, hired(), 0.5, lost.append)
        held.join(database)
        until(lambda: _locked(database))
        cluster.stop()
        time.sleep(1.0)  # longer than the lease
        asking = threading.Thread(target=held.require)
        asking.start()
        asking.join(0.2)
        assert asking.is_alive()
        cluster.start()
        asking.join(PATIENCE_S)
        assert not asking.is_alive()
        assert not lost
        held.leave(database)
        assert database.read("select gone from workers") == [("left",)]


def test_after_a_restart_of_the_server_everybody_gets_the_time_to_come_back(cluster: Cluster) -> None:
    url = cluster.fresh()
    with opened(url) as database:
        _enter(database, hired(), lease_s=60)
        cluster.restart()
        assert Reaper(database, Journal(database), Offers(database), hired("bob").id).reap() == ()


def test_one_that_is_silent_for_a_moment_is_dead_only_when_its_session_is_gone_too(postgres: str) -> None:
    with opened(postgres) as database:
        connected, cut_off = hired("ann"), hired("bob")
        with opened(postgres) as session:
            session.read("select pg_advisory_lock(?)", worker_lease.lock_of(connected.id))
            until(lambda: _up_for(postgres) > 4.0)
            silent_s = _up_for(postgres)  # nobody is silent for longer than the server runs, and no lease is over soon
            for worker in (connected, cut_off):
                _enter(database, worker, lease_s=2.5 * silent_s)
            assert Reaper(database, Journal(database), Offers(database), hired("cid").id).reap() == ("bob",)


def test_of_many_workers_that_want_an_offer_one_gets_it(postgres: str) -> None:
    crew = [hired(f"worker {number}") for number in range(6)]
    with opened(postgres) as database:
        for worker in crew:
            _enter(database, worker, lease_s=60)
        Offers(database).make(Offer(workflow="ab12/T1/prove/1", run="ab12"))

    def take(worker: Worker) -> bool:
        with opened(postgres) as mine:
            return Offers(mine).take("ab12/T1/prove/1", worker.id)

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(take, crew)) == [False] * 5 + [True]


def test_a_worker_that_was_taken_over_from_gets_nothing_and_what_it_got_before_it_knew_is_freed(postgres: str) -> None:
    with opened(postgres) as database:
        late, offers = hired(), Offers(database)
        _enter(database, late, lease_s=60)
        offers.make(Offer(workflow="ab12", run="ab12"))
        assert offers.take("ab12", late.id)
        database.write("update workers set gone = 'taken over'")
        Reaper(database, Journal(database), offers, hired("bob").id).reap()
        assert offers.free() == (Offer(workflow="ab12", run="ab12"),)
        assert not offers.take("ab12", late.id)


def _enter(database: Database, worker: Worker, lease_s: float) -> None:
    sql = "insert into workers (id, name, labels, capacity, version, lease_s, joined_at, beat_at) "
    database.write(sql + "values (?, ?, '', 1, '1', ?, 0, 0)", worker.id, worker.name, lease_s)


def _up_for(url: str) -> float:
    with opened(url) as database:
        ((seconds,),) = database.read("select extract(epoch from clock_timestamp() - pg_postmaster_start_time())")
        return float(seconds)


def _locked(database: Database) -> bool:
    return bool(database.read("select 1 from pg_locks where locktype = 'advisory' and objsubid = 1"))
