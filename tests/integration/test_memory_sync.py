"""Memories and real primaries: killed, frozen, emptied and hostile ones, and writers that die at every moment."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

import pytest

from milepost.core.errors import DatabaseAway, DatabaseRefuses, MilepostError, SettingInvalid, ValueRefused
from milepost.core.memories import Episode, EpisodeEnd, EpisodeStart, EpisodeStep, Exhibit
from milepost.core.verdict import Verdict
from milepost.memory.memory import StoredMemory
from milepost.memory.sync import Primary, Synchroniser, open_primary, status_of, synchronising
from milepost.memory.sync.background import Pace
from milepost.memory.sync.primary import prepare
from milepost.memory.sync.primary_in_file import MemoryPrimary
from milepost.memory.sync.tables import COLUMNS
from milepost.store import libsql
from milepost.store.connection_timeout import Patience
from milepost.store.database import open_database
from milepost.store.libsql import LibsqlServer
from tests.integration.memory_lives import Comparison, Places, compare, life, one_call, write_on
from tests.postgres import Cluster
from tests.slow import slow
from tests.sqld import Sqld, hold_still

START = EpisodeStart(id="a1", project="clock", title="Parse hours", started_at=10.5)
END = EpisodeEnd(kind="success", ended_at=20.0, verdict=Verdict.PASSED)
HURRIED = Patience(connect_s=5.0, answer_s=1.0)
SERVERS = ("sqld", "postgres")
KINDS = ("memory", "file", *SERVERS)


class Server(Protocol):
    """What a primary lives on, and how it is made to fail."""

    def kill(self) -> None: ...
    def start(self) -> None: ...


class KilledPostgres:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def kill(self) -> None:
        self._cluster.stop(at_once=True)

    def start(self) -> None:
        self._cluster.start()


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the primary of the kind in the test's parameter is."""
    kind = request.getfixturevalue("kind")
    if kind == "sqld":
        return str(request.getfixturevalue("sqld").url)
    return str(request.getfixturevalue("postgres")) if kind == "postgres" else str(tmp_path / "shared.db")


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    kind = request.getfixturevalue("kind")
    found: Server = request.getfixturevalue("sqld") if kind == "sqld" else KilledPostgres(
        request.getfixturevalue("cluster")
    )  # fmt: skip
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_primary_keeps_all_or_nothing_and_gives_it_back_as_it_was(kind: str, address: str) -> None:
    primary: Primary = MemoryPrimary() if kind == "memory" else open_primary(address)
    with closing(primary):
        name = prepare(primary)
        assert prepare(primary) == name and len(name) == 32
        columns = "lesson, episode, effect, at, digest"
        add = f"insert into memory_votes ({columns}) values (?, ?, ?, ?, ?) on conflict do nothing"
        rows = [(f"l'{n}?%s", "é\0\n" * 40, "none", 1753000000.1234567 + n / 7, "d") for n in range(40)]
        for _ in range(2):
            primary.apply([(add, row) for row in rows])
        assert primary.read(f"select {columns} from memory_votes order by at") == [
            (a, b.replace("\0", "\\x00"), *rest) for a, b, *rest in rows
        ]
        with pytest.raises(DatabaseRefuses):
            primary.apply([(add, ("new", "e", "none", 1.0, "d")), ("insert into memory_nothing values (1)", ())])
        assert primary.read("select count(*) from memory_votes where lesson = ?", "new") == [(0,)]
        primary.apply([("insert into memory_versions (version, at) values (?, ?)", (99, 1.0))])
        with pytest.raises(DatabaseRefuses, match="has version 99"):
            prepare(primary)


@pytest.mark.parametrize("kind", ["file", *SERVERS])
@pytest.mark.parametrize("home", ["sqlite", "postgres"])
def test_two_memories_come_to_the_same_over_any_primary(
    kind: str, home: str, address: str, request: pytest.FixtureRequest
) -> None:
    homes = [":memory:" if home == "sqlite" else request.getfixturevalue("cluster").fresh() for _ in range(2)]
    with closing(open_database(homes[0])) as here, closing(open_database(homes[1])) as there:
        for database, name in ((here, "a1"), (there, "a2")):
            memory = StoredMemory(database, shared=True)
            memory.journal.start(replace(START, id=name))
            memory.journal.log(name, EpisodeStep(tool="shell", action="naïve", at=time.time()))
            memory.record(Episode(start=replace(START, id=name), end=END))
        syncs = [Synchroniser(database, open_primary(address)) for database in (here, there)]
        for sync in (*syncs, *syncs):
            sync.push()
            sync.pull()
        for table in ("memory_episodes", "memory_steps", "memory_endings"):
            sql = f"select {', '.join(COLUMNS[table])} from {table}"
            assert sorted(here.read(sql)) == sorted(there.read(sql)) and len(here.read(sql)) == 2
        for sync in syncs:
            assert replace(sync.status(), synced_at=None) == replace(status_of(here), synced_at=None)
            assert sync.status().waiting == sync.status().refused == 0
            sync.close()


def test_a_server_that_is_frozen_holds_nobody_up(sqld: Sqld, cluster: Cluster) -> None:
    with (
        closing(open_primary(sqld.url, patience=HURRIED)) as over_http,
        closing(open_primary(cluster.fresh(), patience=HURRIED)) as postgres,
    ):
        wait_for(lambda: answers(over_http) and answers(postgres))
        backend = backend_of(postgres)
        sqld.freeze()
        hold_still(backend)
        try:
            for primary in (over_http, postgres):
                with pytest.raises(DatabaseAway, match=r"does not answer: no answer within 1 s"):
                    primary.read("select 1")
        finally:
            sqld.thaw()
            os.kill(backend, signal.SIGCONT)
        wait_for(lambda: answers(over_http) and answers(postgres))


def backend_of(primary: Primary) -> int:
    """The process of the server that answers; a machine that is busy may need several tries to tell."""
    while True:
        with suppress(DatabaseAway):
            return int(primary.read("select pg_backend_pid()")[0][0])


def answers(primary: Primary) -> bool:
    """Whether it does within the second that it has; a machine that is busy may need several."""
    try:
        return primary.read("select 1") == [(1,)]
    except DatabaseAway:
        return False


def test_a_libsql_server_that_was_killed_or_emptied_is_told_what_it_lacks(sqld: Sqld) -> None:
    with closing(open_database(":memory:")) as database:
        memory = StoredMemory(database, shared=True)
        memory.journal.start(START)
        sync = Synchroniser(database, open_primary(sqld.url))
        assert sync.push() == 1
        sqld.kill()
        memory.journal.start(replace(START, id="a2"))
        with pytest.raises(DatabaseAway):
            sync.push()
        sqld.start()
        assert sync.push() == 1
        sqld.kill()
        sqld.start()  # the connection that was kept is gone; nobody has to know
        memory.journal.start(replace(START, id="a3"))
        assert sync.push() == 1
        sqld.empty()
        memory.journal.start(replace(START, id="a4"))
        with pytest.raises(DatabaseRefuses, match="no such table"):
            sync.push()
        assert sync.push() == 4
        sync.close()
    with closing(LibsqlServer(sqld.url)) as told:
        assert told.read("select id from memory_episodes") == [("a1",), ("a2",), ("a3",), ("a4",)]


def test_a_row_that_a_server_cannot_keep_is_set_aside_and_told(sqld: Sqld) -> None:
    with closing(open_database(":memory:")) as database:
        memory = StoredMemory(database, shared=True)
        exhibits = tuple(Exhibit(name=f"{n}.log", kind="log", text="x" * 1_000_000) for n in range(6))
        for name, end in (("a1", END), ("a2", replace(END, exhibits=exhibits)), ("a3", END)):
            memory.record(Episode(start=replace(START, id=name), end=end))
        sync = Synchroniser(database, open_primary(sqld.url))
        assert (sync.push(), sync.status().waiting) == (5, 0)
        if sync.status().not_taken:  # unless this version of the server takes it
            assert database.read("select name, id from memory_refused") == [("memory_endings", '["a2"]')]
        sync.close()


@pytest.mark.parametrize("kind", SERVERS)
def test_a_life_killed_after_every_call_is_whole_at_the_primary(kind: str, address: str, tmp_path: Path) -> None:
    places = Places(home=str(tmp_path / "milepost.db"), primary=address, told=tmp_path / "told")
    for number in range(7):
        moment = ("call", "commit")[number % 2]
        process = life(one_call, places, "e1", number, moment)
        process.join()
        assert process.exitcode == -signal.SIGKILL
    assert bring_up_to_date(places) == Comparison(
        acknowledged=7, rows=9, lost_here=0, lost_there=0, doubled=0, differing=0
    )


def storm(places: Places, server: Server, rounds: int) -> tuple[Comparison, str]:
    """Two writers on one file, killed in each round, the primary in every other one; then what there is."""
    deaths = between = 0
    for number in range(rounds):
        writers = [life(write_on, places, number * 2 + one) for one in range(2)]
        wait_for_more(places, 20, writers)
        if number % 2:
            server.kill()
        wait_for_more(places, 40, writers)
        if number % 2:
            server.start()
        wait_for_more(places, 20, writers)
        for writer in writers:
            between += not writer.is_alive()  # it died of itself, after a commit
            writer.kill()
            writer.join()
            deaths += 1
    found = bring_up_to_date(places)
    killed = f"{rounds // 2} times the primary, {deaths} writers, {between} of them between commit and note"
    return found, killed


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("rounds", [pytest.param(2, id="short"), pytest.param(14, id="long", marks=slow)])
def test_nothing_is_lost_or_doubled_with_two_writers_that_are_killed_and_a_primary_that_is_away(
    kind: str, address: str, server: Server, rounds: int, tmp_path: Path
) -> None:
    places = Places(home=str(tmp_path / "milepost.db"), primary=address, told=tmp_path / "told")
    found, killed = storm(places, server, rounds)
    sys.stdout.write(f"{kind}: {found}; killed: {killed}\n")
    assert (found.lost_here, found.lost_there, found.doubled, found.differing) == (0, 0, 0, 0), killed
    assert found.acknowledged > 0


def bring_up_to_date(places: Places) -> Comparison:
    with closing(open_database(places.home)) as database:
        sync = Synchroniser(database, open_primary(places.primary))
        sync.push()
        sync.pull()
        status = sync.status()
        sync.close()
    assert (status.waiting, status.diverged, status.refused) == (0, 0, 0)
    return compare(places)


def wait_for_more(places: Places, rows: int, writers: list[BaseProcess]) -> None:
    """Wait until so many more rows were acknowledged, or nobody is left who writes."""
    wanted = len(places.acknowledged()) + rows
    wait_for(lambda: len(places.acknowledged()) >= wanted or not any(one.is_alive() for one in writers))


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_run_is_synchronised_beside_it_by_a_last_try_if_not_before(sqld: Sqld, tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "milepost.db")) as database:
        memory = StoredMemory(database, shared=True)
        with synchronising(database, sqld.url, pace=Pace(end_s=60)):
            memory.journal.start(START)
        assert status_of(database).waiting == 0


def test_the_end_of_a_run_does_not_wait_until_a_frozen_primary_is_given_up(sqld: Sqld, tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "milepost.db")) as database:
        StoredMemory(database, shared=True).journal.start(START)
        sqld.freeze()
        try:
            with synchronising(database, sqld.url, pace=Pace(end_s=0.5)):
                pass
            left = status_of(database)
        finally:
            sqld.thaw()
        assert (left.waiting, left.last_error) == (1, "")
        wait_for(lambda: all(one.name != "memory" for one in threading.enumerate()))  # it has its answer, and ends


def test_a_primary_that_does_not_answer_is_told_by_the_status_alone(tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "milepost.db")) as database:
        StoredMemory(database, shared=True).journal.start(START)
        with synchronising(database, "http://127.0.0.1:9"):
            wait_for(lambda: "127.0.0.1:9 does not answer" in status_of(database).last_error)
        with pytest.raises(SettingInvalid), synchronising(database, "ftp://somewhere"):
            pass


TOKEN = "s3cret-token-of-a-server"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: "


@contextmanager
def answering(answer: bytes, *, drip: bool = False) -> Iterator[str]:
    """The address of a server that answers every request with these bytes; one after the other, if it drips."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(100_000)
                    try:
                        for part in [answer[n : n + 1] for n in range(len(answer))] if drip else [answer]:
                            connection.sendall(part)
                            if drip and over.wait(0.05):
                                return
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(65_536):
                            pass
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        over.set()
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def whole(body: bytes) -> bytes:
    return OK + str(len(body)).encode() + b"\r\n\r\n" + body


def ended(result: bytes) -> bytes:
    return whole(b'{"results": [' + result + b"]}")


def refused(code: bytes) -> bytes:
    return ended(b'{"type": "error", "error": {"message": "no", "code": "' + code + b'"}}')


def unwilling(status: bytes, body: bytes = b"") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", DatabaseAway),
        (b"SSH-2.0-OpenSSH_9.2\r\n", DatabaseAway),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000, DatabaseAway),
        (OK + b"1000\r\n\r\nhalf", DatabaseAway),
        (whole(b""), DatabaseRefuses),
        (whole(b"[" * 100_000), DatabaseRefuses),
        (ended(b""), DatabaseRefuses),
        (ended(b'{"type": "ok", "response": {"result": {"rows": [[{"type": "integer"}]]}}}'), DatabaseRefuses),
        (ended(b'{"type": "error", "error": 7}'), DatabaseRefuses),
        (refused(b"SQLITE_BUSY"), DatabaseAway),
        (refused(b"SQLITE_TOOBIG"), ValueRefused),
        (unwilling(b"401 No", f"bad bearer {TOKEN} \x1b[31m\n!".encode()), DatabaseRefuses),
        (unwilling(b"302 Found\r\nLocation: http://127.0.0.1:1/"), DatabaseRefuses),
        (unwilling(b"413 Much"), ValueRefused),
        (unwilling(b"503 Later"), DatabaseAway),
        (whole(b" " * 200_000), DatabaseRefuses),
    ],
    ids=map(str, itertools.count()),
)
def test_a_server_that_answers_anything_is_told_in_a_line_without_the_token(
    answer: bytes, error: type[MilepostError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libsql, "LARGEST_ANSWER", 150_000)
    with answering(answer) as place:
        server = LibsqlServer(place, TOKEN, Patience(connect_s=2.0, answer_s=5.0))
        with pytest.raises(error) as raised:
            server.read("select 1")
        server.close()
    told = f"{raised.value.message} {raised.value.advice} {raised.value.__cause__!r}"
    assert TOKEN not in told and "\x1b" not in told and "\n" not in raised.value.message
    assert len(raised.value.message) < 500


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for() -> None:
    with answering(whole(b" " * 10_000), drip=True) as place:
        server = LibsqlServer(place, patience=HURRIED)
        with pytest.raises(DatabaseAway, match=r"no answer within 1 s"):
            server.read("select 1")
        server.close()


@pytest.mark.parametrize(
    ("place", "token"),
    [
        ("http://db.example.org", TOKEN),
        ("libsql://db.example.org?tls=0", TOKEN),
        ("libsql://db.example.org?authToken=s3cret-token-of-a-server", ""),
        ("https://me:s3cret-token-of-a-server@db.example.org", ""),
        ("https://", ""),
        ("http://[::1", ""),
        ("https://db.example.org:port", ""),
        ("https://db.example.org", "two words\n"),
        ("ftp://db.example.org", ""),
        ("postgresql://me:s3cret-token-of-a-server@[db", ""),
        ("", ""),
    ],
)
def test_an_address_that_would_give_a_secret_away_or_is_none_is_refused(place: str, token: str) -> None:
    with pytest.raises(SettingInvalid) as raised:
        open_primary(place, token)
    assert TOKEN not in f"{raised.value.message} {raised.value.advice}"
