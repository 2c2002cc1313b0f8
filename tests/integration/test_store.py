"""The store, in a file and on a real server: what holds for one holds for the other, whoever dies in the middle."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from milepost.core.attempt import Attempt, Outcome
from milepost.core.calls import Usage
from milepost.core.errors import MilepostError, SettingInvalid, StateUnwritable
from milepost.core.events import AgentSaid
from milepost.core.failures import FailureClass
from milepost.core.verdict import judge
from milepost.engine.records.journal import Journal
from milepost.repair.diagnosis.failure_log import FailureLog
from milepost.repair.patches.patch_log import PatchLedger
from milepost.store import postgres as server
from milepost.store.database import Database, open_database
from tests.postgres import Cluster

T = TypeVar("T")

SCHEMA = """
create table if not exists counters (name text primary key, value bigint not null); -- one; and it's more
create table if not exists things ({rowid} name text primary key, body {bytes}, at double precision);
create index if not exists things_by_time on things (at);
"""
ADD = "insert into things (name, at) values (?, ?) on conflict do nothing"


@pytest.fixture
def store(database: Database) -> Database:
    database.script(SCHEMA)
    return database


def names(database: Database) -> list[str]:
    return [name for (name,) in database.read("select name from things order by rowid")]


def in_threads(*acts: Callable[[], None]) -> None:
    """Do several things at once; the first failure is raised."""
    failures: list[BaseException] = []

    def guarded(act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def python(code: str, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, *words])


def test_values_come_back_as_they_were_and_signs_in_the_text_mean_themselves(store: Database) -> None:
    at, body = 1753000000.1234567, bytes(range(256))
    store.write("insert into things (name, body, at) values (?, ?, ?)", "it's 100 %s?", body, at)
    store.write("insert into counters (name, value) values ('?;%', ?), ('yes', ?)", 2**40, True)
    assert store.read("select name, body, at from things where name like '%100 %' and name <> '?'") == [
        ("it's 100 %s?", body, at)
    ]
    assert store.read("select value, value % 7, '?' from counters where name = '?;%' -- why?") == [
        (2**40, 2**40 % 7, "?")
    ]
    assert store.read("select value from counters where name = 'yes'") == [(1,)]


def test_text_that_is_no_text_is_written_out_and_found_again(store: Database) -> None:
    store.write(ADD, "a\0b\udcff", 1.0)
    assert names(store) == ["a\\x00b\\udcff"]
    assert store.read("select at from things where name = ?", "a\0b\udcff") == [(1.0,)]


def test_rows_stay_in_the_order_they_came_in_and_a_second_one_changes_nothing(store: Database) -> None:
    assert [store.write(ADD, name, 1.0) for name in ("z", "a", "z", "m")] == [1, 1, 0, 1]
    assert names(store) == ["z", "a", "m"]


def test_a_table_has_the_columns_it_was_made_with_and_one_that_is_not_there_none(store: Database) -> None:
    assert store.columns("counters") == {"name", "value"}
    assert store.columns("nothing; 'of \"the kind") == frozenset()


def test_a_block_counts_whole_or_not_at_all_and_one_within_it_is_a_part(store: Database) -> None:
    with pytest.raises(ZeroDivisionError), store.alone("x"):
        store.write(ADD, "lost", 1.0)
        raise ZeroDivisionError
    with store.alone("x"):
        store.write(ADD, "outer", 1.0)
        with pytest.raises(ZeroDivisionError), store.alone("y"):
            store.write(ADD, "inner, taken back", 1.0)
            raise ZeroDivisionError
        store.together("y", lambda: store.write(ADD, "inner", 1.0))
    assert names(store) == ["outer", "inner"]


def test_a_process_that_is_killed_in_the_middle_leaves_nothing(store: Database, place: Path | str) -> None:
    code = f"""
import os, sys
from milepost.store.database import open_database
database = open_database(sys.argv[1])
with database.alone("x"):
    database.write({ADD!r}, "half", 1.0)
    os.kill(os.getpid(), 9)
"""
    assert python(code, str(place)).wait() == -9
    store.together("x", lambda: store.write(ADD, "next", 1.0))
    assert names(store) == ["next"]


def test_nobody_counts_over_another(store: Database, place: Path | str) -> None:
    store.write("insert into counters values ('n', 0)")

    def count(database: Database) -> None:
        def add() -> None:
            ((value,),) = database.read("select value from counters")
            database.write("update counters set value = ?", value + 1)

        for _ in range(20):
            database.together("n", add)

    with closing(open_database(place)) as other:
        in_threads(*(lambda each=each: count(each) for each in (store, store, other, other)))
    assert store.read("select value from counters") == [(80,)]


def test_several_processes_may_make_the_tables_at_once(place: Path | str, tmp_path: Path) -> None:
    code = f"""
import pathlib, sys, time
from milepost.engine.records.journal import Journal
from milepost.memory.memory import StoredMemory
from milepost.repair.diagnosis.failure_log import FailureLog
from milepost.repair.patches.patch_log import PatchLedger
from milepost.store.database import open_database
if sys.argv[1].startswith("postgresql"):
    import milepost.store.postgres
sign = pathlib.Path({str(tmp_path / "go")!r})
print("ready", flush=True)
while not sign.exists():
    time.sleep(0.001)
database = open_database(sys.argv[1])
for keep in (Journal, StoredMemory, FailureLog, PatchLedger):
    keep(database)
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()
    (tmp_path / "go").touch()
    assert [process.communicate()[1] for process in started] == [b""] * 4
    assert [process.returncode for process in started] == [0] * 4


def test_closing_waits_for_who_is_in_the_middle_and_refuses_who_comes_later(store: Database) -> None:
    inside, outcomes = threading.Event(), []

    def use() -> None:
        with store.alone("x"):
            inside.set()
            outcomes.append(store.write(ADD, "in time", 1.0))

    user = threading.Thread(target=use)
    user.start()
    inside.wait()
    store.close()
    user.join()
    store.close()
    assert outcomes == [1]
    with pytest.raises(StateUnwritable, match="closed"):
        store.write(ADD, "too late", 1.0)


def test_a_full_disk_is_told_and_what_was_kept_goes_on_once_there_is_room(tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "milepost.db")) as database:
        database.script(SCHEMA)
        database.write(ADD, "before", 1.0)
        ((pages,),) = database.read("pragma page_count")
        database.read(f"pragma max_page_count = {pages + 2}")
        with pytest.raises(StateUnwritable, match="full") as raised, database.alone("x"):
            for number in range(100):
                database.write("insert into things (name, body) values (?, ?)", f"{number}", b"x" * 4000)
        assert "space" in raised.value.advice
        database.read("pragma max_page_count = 1000000")
        database.together("x", lambda: database.write(ADD, "after", 1.0))
        assert names(database) == ["before", "after"]


@pytest.mark.parametrize("at_once", [False, True], ids=["stopped", "crashed"])
def test_nothing_is_lost_or_doubled_when_the_server_restarts_while_several_write(
    cluster: Cluster, postgres: str, at_once: bool
) -> None:
    done, new = threading.Event(), []
    with closing(open_database(postgres)) as database, closing(open_database(postgres)) as other:
        database.script(SCHEMA)
        database.write("insert into counters values ('n', 0)")
        journals = [Journal(database), Journal(other)]

        def write(writer: int) -> None:
            number = 0
            while not done.is_set():
                number += 1
                said = AgentSaid(run="r1", task="1", attempt=writer, text=str(number))
                new.append(journals[writer % 2].append(said, f"{writer}/{number}"))

        def restart() -> None:
            try:
                for wanted in (20, 60, 100):
                    until = time.monotonic() + 60
                    while len(new) < wanted and time.monotonic() < until:
                        time.sleep(0.005)
                    cluster.restart(at_once=at_once)
                    before = len(new)  # some go on before it happens again, or is over
                    while len(new) < before + 8 and time.monotonic() < until:
                        time.sleep(0.005)
            finally:
                done.set()

        in_threads(restart, *(lambda each=each: write(each) for each in range(4)))
        kept = [entry.event for entry in journals[0].events("r1")]
    assert all(new), "who wrote an event down is told so, also when the answer was lost"
    assert len(kept) == len(new) > 100
    assert len({(event.attempt, event.text) for event in kept if isinstance(event, AgentSaid)}) == len(kept)


class Forgetful:
    """A database whose answers are lost: what is written is kept, asked for again, and kept again."""

    def __init__(self, database: Database) -> None:
        self.script, self.read, self.alone = database.script, database.read, database.alone
        self.columns, self.vacuum, self.close = database.columns, database.vacuum, database.close
        self._database = database

    def write(self, sql: str, *values: object) -> int:
        self._database.write(sql, *values)
        return self._database.write(sql, *values)

    def together(self, name: str, act: Callable[[], T], *, durable: bool = False) -> T:
        self._database.together(name, act, durable=durable)
        return self._database.together(name, act, durable=durable)


def test_what_is_asked_for_again_because_the_answer_was_lost_is_still_new(database: Database) -> None:
    journal = Journal(Forgetful(database))
    said = AgentSaid(run="r1", task="1", attempt=1, text="hello")
    journal.open_run("r1", "1", {})
    assert (journal.append(said, "k"), journal.append(said, "k")) == (True, False)
    journal.replace(said, "k")
    assert len(journal.runs()) == 1
    assert [entry.event for entry in journal.events("r1") if isinstance(entry.event, AgentSaid)] == [said]


def test_a_later_event_is_never_seen_before_an_earlier_one(postgres: str) -> None:
    with (
        Journal(postgres) as follower,
        closing(open_database(postgres)) as slow,
        closing(open_database(postgres)) as fast,
    ):
        said = [AgentSaid(run="r1", task="1", attempt=1, text=text) for text in ("earlier", "later")]
        later = threading.Thread(target=Journal(fast).append, args=(said[1], "k2"))
        early = Journal(slow)
        with slow.alone("x"):
            early.append(said[0], "k1")
            later.start()
            while later.is_alive() and not slow.read("select 1 from pg_locks where not granted"):
                time.sleep(0.005)
            assert follower.events("r1") == ()
        later.join()
        assert [entry.event for entry in follower.events("r1")] == said


def test_a_block_that_loses_its_server_fails_and_keeps_nothing_and_an_act_is_done_again(
    cluster: Cluster, postgres: str
) -> None:
    tries = []
    with closing(open_database(postgres)) as database:
        database.script(SCHEMA)

        def act() -> None:
            tries.append(1)
            database.write(ADD, f"try {len(tries)}", 1.0)
            if len(tries) == 1:
                cluster.restart()

        with pytest.raises(StateUnwritable), database.alone("x"):
            database.write(ADD, "half", 1.0)
            cluster.restart()
            database.write(ADD, "never", 1.0)
        database.together("x", act)
        assert names(database) == ["try 2"]


def test_one_that_stands_still_in_the_middle_does_not_hold_up_the_others(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STUCK", "200ms")
    with closing(open_database(postgres)) as still, closing(open_database(postgres)) as other:
        still.script(SCHEMA)
        tries = []

        def act() -> None:
            tries.append(1)
            still.write(ADD, f"still {len(tries)}", 1.0)
            if len(tries) == 1:
                other.together("x", lambda: other.write(ADD, "other", 1.0))  # goes on only when `still` is cut off

        still.together("x", act)
        assert names(still) == ["other", "still 2"]


def test_whoever_waits_for_a_server_is_told_when_the_database_is_closed(cluster: Cluster, postgres: str) -> None:
    database = open_database(postgres)
    cluster.stop()
    told: list[MilepostError] = []

    def wait() -> None:
        try:
            database.read("select 1")
        except MilepostError as error:
            told.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    database.close()
    waiting.join()
    cluster.start()
    assert [type(error) for error in told] == [StateUnwritable]


def test_an_address_that_cannot_be_right_is_refused_at_once_without_its_password(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ABSENT_S", 0.0)
    with pytest.raises(StateUnwritable, match="does not exist"):
        open_database(f"{postgres}_of_nobody")
    with pytest.raises(StateUnwritable, match="refused"):
        open_database("postgresql://ada:hush@127.0.0.1:1/db")
    with pytest.raises(SettingInvalid) as raised:
        open_database("postgresql://ada:hu%sh@127.0.0.1/db")
    assert "hu" not in str(raised.value)


# The tables as the version before made them.
OLD_SCHEMA = """
create table runs (run text primary key, version text not null, order_json text not null,
    started_at real not null, finished_at real, summary_json text, left_at real);
create table events (seq integer primary key autoincrement, run text not null, key text not null, at real not null,
    body text not null, unique (run, key));
create table attempts (run text not null, task text not null, number integer not null, at real not null,
    body text not null, primary key (run, task, number));
create table answers (tree text not null, question text not null, body text not null, primary key (tree, question));
create table episodes (run text not null, task text not null, attempt integer not null, title text not null,
    folded_title text not null, agent text not null, verdict text not null, reason text not null,
    duration_ms integer not null, cost_usd real not null, primary key (run, task, attempt));
create table failures (id integer primary key autoincrement, run text not null, task text not null,
    attempt integer not null, at real not null, class text not null, severity text not null, signature text not null,
    summary text not null, subject text not null, check_name text not null, ended_at real, mended_by text,
    unique (run, task, attempt));
create table patches (id text primary key, run text not null, task text not null, attempt integer not null,
    source text not null, diff blob not null, paths text not null);
create table patch_moves (patch text not null references patches (id), position integer not null,
    state text not null, reason text not null, primary key (patch, position));
create table patch_files (patch text not null references patches (id), path blob not null, before blob,
    before_mode integer, after blob, after_mode integer, primary key (patch, path));
insert into runs values ('0001', '5', '{"run": "0001"}', 1.5, null, null, 2.5);
insert into runs values ('0000', '5', '{"run": "0000"}', 9.5, null, null, null);
insert into events (run, key, at, body) values ('0000', 'k', 1.0,
    '{"event": "agent_said", "run": "0000", "task": "1", "attempt": 1, "text": "hello"}');
insert into answers values ('tree', '0000: tests', '{"t": "passed"}');
insert into episodes values ('0001', '1', 1, 'Do it', 'do it', 'claude', 'passed', '', 10, 0.5);
insert into failures (run, task, attempt, at, class, severity, signature, summary, subject, check_name)
    values ('0001', '1', 1, 3.5, 'test_failure', 'medium', 'aa', 'it failed', '', 'tests');
insert into patches values ('p1', '0001', '1', 1, 'claude', x'64696666', '["app.py"]');
insert into patch_moves values ('p1', 0, 'created', '');
"""


def test_a_file_of_the_version_before_is_read_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "milepost.db"
    attempt = Attempt(
        number=1,
        agent="code",
        base="b",
        commit="c",
        outcome=Outcome(status="finished", said="done", usage=Usage(cost_usd=0.1)),
        evidence=judge("t", ()),
        duration_ms=7,
    )
    with closing(sqlite3.connect(path)) as old, old:
        old.executescript(OLD_SCHEMA)

    with closing(open_database(path)) as database:
        journal = Journal(database)
        newest, before = journal.runs()
        assert (newest.run, newest.unfinished, before.run, before.unfinished) == ("0000", True, "0001", False)
        (said,) = journal.events("0000")
        assert journal.append(AgentSaid(run="0000", task="1", attempt=1, text="again"), "k2")
        assert [entry.seq for entry in journal.events("0000", after=said.seq)] == [said.seq + 1]
        journal.keep_attempt("0000", "one", attempt)
        journal.keep_attempt("0000", "one", attempt)
        assert journal.attempts("0000", "ONE") == (attempt,)
        assert journal.answer("tree", "0000: tests") == {"t": "passed"}
        (failure,) = FailureLog(database).stats()
        assert (failure.kind, failure.example) == (FailureClass.TEST_FAILURE, "it failed")
        ledger = PatchLedger(database)
        (patch,) = ledger.of_task("0001", "1")
        ledger.move(patch, "validated", "it applies")
        assert [move.to for one in ledger.of_task("0001", "1") for move in one.history] == ["created", "validated"]


def test_looking_waits_for_nobody_and_makes_nothing(tmp_path: Path) -> None:
    path, nowhere = tmp_path / "milepost.db", tmp_path / "none.db"
    with Journal(path) as journal, closing(open_database(path)) as writer:
        journal.open_run("r1", "1", {})
        with writer.alone("x"), Journal.look(path) as seen:
            assert [record.run for record in seen.runs()] == ["r1"]
    with Journal.look(nowhere) as seen:
        assert seen.runs() == ()
    assert not nowhere.exists()
