"""The memory in a file and on a real server: nothing is lost and nothing doubled, whoever is killed, and when."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from milepost.core.errors import EpisodeUnknown, StateUnwritable, VersionDiffers
from milepost.core.memories import (
    Assessment,
    Episode,
    EpisodeEnd,
    EpisodeStart,
    EpisodeStep,
    Lesson,
    LessonStanding,
    Showing,
    Vote,
)
from milepost.core.verdict import Verdict
from milepost.engine.memory.forget import Roots, forget
from milepost.memory.memory import StoredMemory
from milepost.memory.store.migrations import version_of
from milepost.memory.store.owners import is_gone, owner_here
from milepost.memory.store.schema import KEYS, VERSION
from milepost.memory.transfer.forget import Forgetting
from milepost.store import sqlite
from milepost.store.database import Database, open_database

T = TypeVar("T")

START = EpisodeStart(id="a1", project="clock", title="Parse hours", started_at=10.0, run="7f3a", task="1.1")
END = EpisodeEnd(
    kind="success", ended_at=20.0, verdict=Verdict.PASSED, evidence=("1234567890ab", "4b825dc642cb", "tests")
)

# Begins a process for each line that it reads, without importing the program anew: a call, and whether to die of it.
LIVES = """
import json, os, signal, sys
from milepost.core.memories import Assessment, EpisodeEnd, EpisodeStart, EpisodeStep
from milepost.core.verdict import Verdict
from milepost.memory.memory import StoredMemory
from milepost.memory.store.owners import is_gone, owner_here
from milepost.store.database import open_database
if sys.argv[1].startswith("postgresql"):
    import milepost.store.postgres

def life(act):
    memory = StoredMemory(open_database(sys.argv[1]), shared=True)
    act(memory, memory.journal)

def start(memory, journal, name="a1", owner=""):
    journal.start(EpisodeStart(id=name, project="clock", title="Parse hours", started_at=10.0, owner=owner))

def log(memory, journal, number):
    journal.log("a1", EpisodeStep(tool="shell", action="run tests", number=number, observation="x" * 3000))

def complete(memory, journal):
    journal.complete("a1", EpisodeEnd(kind="success", ended_at=20.0, verdict=Verdict.PASSED), Assessment())

def write(memory, journal, writer, acks):
    out = os.open(acks, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    def ack(*words):
        os.write(out, (json.dumps(words) + "\\n").encode())
    number = 0
    while True:
        number += 1
        name = f"{writer}/{os.getpid()}/{number}"
        start(memory, journal, name)
        ack("start", name)
        for at in range(3):
            action = f"{name}/{at}"
            ack("step", "shared", journal.log("shared", EpisodeStep(tool="t", action=action)), action)
            ack("step", name, journal.log(name, EpisodeStep(tool="t", action=action)), action)
        journal.complete(name, EpisodeEnd(kind="partial", ended_at=20.0), Assessment())
        ack("end", name)

def open_for_good(memory, journal):
    start(memory, journal, f"of {os.getpid()}", owner_here())
    signal.pause()

warm = open_database(":memory:")  # what is built at the first use is built once, here
for call, *words in ((start,), (log, 1), (complete,)):
    memory = StoredMemory(warm)
    call(memory, memory.journal, *words)
memory.journal.episode("a1")
warm.close()
print("ready", flush=True)
for line in sys.stdin:
    name, arguments, dies = json.loads(line)
    if (pid := os.fork()) == 0:
        life(lambda *both: globals()[name](*both, *arguments))
        os.kill(os.getpid(), 9) if dies else os._exit(0)
    if dies is None:
        print(pid, flush=True)
    else:
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Lives:
    """Processes of the program, each with one call to do."""

    def __init__(self, place: Path | str) -> None:
        words = [sys.executable, "-u", "-c", LIVES, str(place)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._read() == "ready"

    def do(self, name: str, *arguments: object, dies: bool = True) -> None:
        """Do a call in a process of its own, which is killed as soon as the call has returned."""
        assert self._ask(name, arguments, dies) == ("-9" if dies else "0")

    def begin(self, name: str, *arguments: object) -> int:
        """Begin a call that goes on until its process, of this number, is killed."""
        return int(self._ask(name, arguments, None))

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _ask(self, name: str, arguments: tuple[object, ...], dies: bool | None) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, arguments, dies]).encode() + b"\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().decode().strip()


@pytest.fixture
def lives(place: Path | str) -> Iterator[Lives]:
    with closing(Lives(place)) as begun:
        yield begun


@pytest.fixture
def memory(database: Database) -> StoredMemory:
    return StoredMemory(database)


def test_each_call_of_an_episode_survives_the_death_of_its_process_and_counts_once(
    lives: Lives, place: Path | str
) -> None:
    calls: list[tuple[object, ...]] = [("start",), ("log", 1), ("log", 2), ("log", 3), ("complete",)]
    with closing(open_database(place)) as database:
        journal = StoredMemory(database).journal
        for done, (name, *arguments) in enumerate(calls):
            for _ in range(2):  # who died does not know whether it was kept, and says it again
                lives.do(str(name), *arguments)
                found = journal.episode("a1")
                assert found is not None
                assert [step.number for step in found.steps] == [1, 2, 3][:done]
                assert (found.end is not None) == (name == "complete")
        waiting = Counter(name for (name,) in database.read("select name from memory_outbox"))
    assert waiting == {"memory_episodes": 1, "memory_steps": 3, "memory_endings": 1}


def test_nothing_is_lost_or_doubled_while_two_writers_are_killed_over_and_over(
    lives: Lives, place: Path | str, tmp_path: Path
) -> None:
    acks, chance = tmp_path / "acks", random.Random(9)
    lives.do("start", "shared")
    acks.touch()
    for _ in range(5):
        enough = acks.stat().st_size + chance.randint(200, 1500)
        writers = [lives.begin("write", name, str(acks)) for name in ("one", "two")]
        until = time.monotonic() + 60
        while acks.stat().st_size < enough and time.monotonic() < until:
            time.sleep(chance.random() / 100)
        for writer in writers:
            os.kill(writer, signal.SIGKILL)
    told = [json.loads(line) for line in acks.read_text().splitlines()]
    with closing(open_database(place)) as database:
        steps = {
            (e, n): json.loads(body) for e, n, body in database.read("select episode, number, body from memory_steps")
        }
        starts = {name for (name,) in database.read("select id from memory_episodes")}
        ends = {name for (name,) in database.read("select episode from memory_endings")}
        rows = {table: database.read(f"select count(*) from {table}")[0][0] for table in KEYS}
        waiting = Counter(name for (name,) in database.read("select name from memory_outbox"))
    assert len(told) > 20
    assert {one[1] for one in told if one[0] == "start"} <= starts
    assert {one[1] for one in told if one[0] == "end"} <= ends
    kept = [one[1:] for one in told if one[0] == "step"]
    assert [steps[episode, number]["action"] for episode, number, _ in kept] == [action for *_, action in kept]
    shared = sorted(number for episode, number in steps if episode == "shared")
    assert shared == list(range(1, len(shared) + 1))
    assert len({step["action"] for (episode, _), step in steps.items() if episode == "shared"}) == len(shared)
    assert waiting == {table: count for table, count in rows.items() if count}, "each row waits once for the primary"


def test_the_next_start_ends_what_a_dead_process_left_and_says_so(lives: Lives, place: Path | str) -> None:
    living, dead = lives.begin("open_for_good"), lives.begin("open_for_good")
    with closing(open_database(place)) as database:
        journal = StoredMemory(database).journal
        until = time.monotonic() + 60
        while len(journal.open()) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        here = owner_here().split(" ")
        elsewhere = " ".join([here[0], "other/12345678", *here[2:4], "1", "1"])
        rebooted = " ".join([*here[:2], "an-earlier-boot", *here[3:]])
        owners = {"elsewhere": elsewhere, "rebooted": rebooted, "ended": "run 7f3a", "on": "run 7f3b", "nobody": ""}
        for name, owner in owners.items():
            journal.start(replace(START, id=name, owner=owner))
        journal.log("ended", EpisodeStep(tool="shell", action="run tests", at=12.5))
        os.kill(dead, signal.SIGKILL)  # and nobody will ask how it ended
        (its,) = (one.start.owner for one in journal.open() if one.id == f"of {dead}")
        while not is_gone(its) and time.monotonic() < until:
            time.sleep(0.01)

        closed = journal.close_interrupted(ended_runs=["7f3a"], by="test")
        assert {one.id for one in closed} == {f"of {dead}", "rebooted", "ended"}
        assert {one.id for one in journal.open()} == {f"of {living}", "elsewhere", "on", "nobody"}
        assert journal.close_interrupted(ended_runs=["7f3a"]) == ()
        found = journal.episode("ended")
        assert found is not None and found.end is not None
        assert (found.end.kind, found.verified, found.end.duration_ms) == ("interrupted", False, 2500)
        assert found.end.reason.startswith("run 7f3a left it without an end: found at 2")
        assert found.end.reason.endswith("by test")
        with pytest.raises(EpisodeUnknown, match="has ended"):
            journal.log("ended", EpisodeStep(tool="shell", action="late"))
        os.kill(living, signal.SIGKILL)


def test_threads_that_log_at_once_each_have_their_step_when_they_return(
    memory: StoredMemory, database: Database
) -> None:
    memory.journal.start(START)
    seen: list[tuple[int, str]] = []

    def log(thread: int) -> None:
        for at in range(10):
            action = f"{thread}/{at}"
            number = memory.journal.log("a1", EpisodeStep(tool="t", action=action))
            kept = database.read("select body from memory_steps where episode = 'a1' and number = ?", number)
            seen.append((number, json.loads(kept[0][0])["action"]))
            assert seen[-1][1] == action
            with pytest.raises(EpisodeUnknown):
                memory.journal.log("none", EpisodeStep(tool="t", action=action))

    threads = [threading.Thread(target=log, args=(thread,)) for thread in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for number, _ in seen) == list(range(1, 61))


def test_a_call_inside_of_another_transaction_is_a_part_of_it(memory: StoredMemory, database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.alone("x"):
        memory.journal.start(START)
        raise ZeroDivisionError
    assert memory.journal.episode("a1") is None
    with database.alone("x"):
        memory.journal.start(START)
    assert memory.journal.episode("a1") == Episode(start=START)


class Forgetful:
    """A database whose answers to commits are lost: what was done is done, and is asked for again."""

    def __init__(self, database: Database) -> None:
        self.script, self.read, self.write = database.script, database.read, database.write
        self.columns, self.alone = database.columns, database.alone
        self.vacuum, self.close = database.vacuum, database.close
        self._database = database

    def together(self, name: str, act: Callable[[], T], *, durable: bool = False) -> T:
        self._database.together(name, act, durable=durable)
        return self._database.together(name, act, durable=durable)


def test_what_is_done_again_because_the_answer_was_lost_is_told_as_new_and_kept_once(database: Database) -> None:
    memory = StoredMemory(Forgetful(database))
    memory.journal.start(replace(START, owner="run 7f3a"))
    step = EpisodeStep(tool="shell", action="run tests")
    assert [memory.journal.log("a1", step) for _ in range(3)] == [1, 2, 3]
    assert [one.id for one in memory.journal.close_interrupted(ended_runs=["7f3a"])] == ["a1"]
    memory.lessons.keep(lesson("l1"), ["a1"])
    gone = Forgetting(memory.rows).episodes(["a1"], "not wanted")
    assert (gone.episodes, gone.lessons) == (("a1",), ("l1",))


OLD = """
create table episodes ({rowid} run text not null, task text not null, attempt bigint not null, title text not null,
    folded_title text not null, agent text not null, verdict text not null, reason text not null,
    duration_ms bigint not null, cost_usd double precision not null, primary key (run, task, attempt));
create table trials ({rowid} run text not null, task text not null, agent_key text not null, agent text not null,
    kind text not null, size text not null, risky bigint not null, passed bigint, attempts bigint not null,
    seconds double precision not null, cost_usd double precision not null, primary key (run, task, agent_key));
create table attempts (run text not null, task text not null, number bigint not null, at double precision not null,
    body text not null, primary key (run, task, number));
insert into episodes (run, task, attempt, title, folded_title, agent, verdict, reason, duration_ms, cost_usd) values
    ('0001', '1', 1, 'Do it', 'do it', 'claude', 'failed', 'tests: 1 failed', 1000, 0.25),
    ('0001', '1', 2, 'Do it', 'do it', 'claude', 'passed', '', 2000, 0.5),
    ('0001', '2', 1, 'Say sk-abcdefghijklmnop1234', 'say', 'codex', 'unverified', 'no checks', 3000, 0.0);
insert into trials (run, task, agent_key, agent, kind, size, risky, passed, attempts, seconds, cost_usd)
    values ('0001', '1', 'claude', 'claude', 'code', 'small', 0, 1, 2, 3.0, 0.75);
insert into attempts values ('0001', '1', 2, 500.0, '{}');
"""


def test_attempts_of_version_1_become_episodes_once_also_when_several_come_at_once(
    place: Path | str, database: Database
) -> None:
    database.script(OLD)
    assert version_of(database) == 1
    assert StoredMemory(database).journal.ended() == (), "without a project they wait"
    assert version_of(database) == 1

    def open_one() -> None:
        with closing(open_database(place)) as other:
            StoredMemory(other, project="clock")

    threads = [threading.Thread(target=open_one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal = StoredMemory(database, project="another").journal
    took = {(one.task, one.attempt): one for one in journal.took(10)}
    assert [(one.verdict.value, one.duration_ms, one.cost_usd) for one in took.values()] == [
        ("failed", 1000, 0.25),
        ("unverified", 3000, 0.0),
        ("passed", 2000, 0.5),
    ]
    ended = {(one.start.task, one.start.attempt): one for one in journal.ended(project="clock")}
    assert len(ended) == 3
    passed = ended["1", 2]
    assert passed.end is not None and passed.verified
    assert (passed.end.kind, passed.start.started_at, passed.end.ended_at) == ("success", 498.0, 500.0)
    assert ended["2", 1].start.title == "Say [secret]"
    assert version_of(database) == VERSION
    assert database.columns("episodes") == frozenset()
    assert database.columns("trials") == frozenset()


def test_a_memory_of_a_newer_version_is_refused_and_left_as_it_is(database: Database) -> None:
    database.script("create table memory_versions (version bigint primary key, at double precision not null)")
    database.write("insert into memory_versions (version, at) values (2, 1.0), (7, 2.0)")
    with pytest.raises(VersionDiffers, match=f"version 7.*up to {VERSION}"):
        StoredMemory(database)
    assert not any(map(database.columns, KEYS))


def test_a_new_memory_has_this_version_from_its_beginning_and_leaves_tables_of_others(database: Database) -> None:
    database.script("create table episodes (season bigint, title text)")
    assert version_of(database) == 0
    StoredMemory(database, project="clock")
    assert database.columns("episodes") == {"season", "title"}
    assert version_of(database) == VERSION


def test_episodes_are_found_by_project_by_how_they_ended_and_by_being_open(memory: StoredMemory) -> None:
    def told(name: str, project: str, at: float, end: EpisodeEnd) -> Episode:
        return Episode(start=replace(START, id=name, project=project), end=replace(end, ended_at=at))

    failed = replace(END, kind="failure", verdict=Verdict.FAILED)
    for name, project, at, end in (
        ("late", "clock", 30.0, END),
        ("other", "garden", 25.0, END),
        ("early", "clock", 20.0, failed),
        ("gave up", "clock", 40.0, EpisodeEnd(kind="abstained", ended_at=0.0)),
    ):
        memory.record(told(name, project, at, end))
    memory.journal.start(replace(START, id="open"))
    journal = memory.journal
    assert [one.id for one in journal.ended(project="clock", most=2)] == ["late", "gave up"]
    assert [one.id for one in journal.ended()] == ["early", "other", "late", "gave up"]
    assert [one.id for one in journal.ended(verdict=Verdict.PASSED)] == ["other", "late"]
    assert [one.id for one in journal.ended(project="clock", kind="failure")] == ["early"]
    assert [one.id for one in journal.open(project="clock")] == ["open"]
    assert journal.open(project="garden") == ()


def lesson(name: str, source: str = "", made_at: float = 20.0) -> Lesson:
    return Lesson(
        id=name, kind="usage", project="clock", subject=name, text=f"`{name}`", made_at=made_at, source=source
    )


def test_what_is_forgotten_goes_with_all_that_grew_from_it_and_does_not_come_back(database: Database) -> None:
    memory = StoredMemory(database, shared=True)
    forgetting = Forgetting(memory.rows)
    for name in ("a1", "a2", "a3"):
        memory.record(
            Episode(start=replace(START, id=name, run=name), steps=(EpisodeStep(tool="t", action="a"),), end=END)
        )
    memory.lessons.keep(lesson("l1", "src/a.py"), ["a1"])
    memory.lessons.keep(lesson("l2"), ["a1", "a2"])
    memory.lessons.keep(lesson("l3"), ["a3"])  # learnt from an attempt that was told the first one
    memory.lessons.show([Showing(lesson="l1", episode="a3", arm="shown")])

    assert forgetting.grown_from("src/b.py", "wrong").lessons == ()
    gone = forgetting.grown_from("src/a.py", "poisoned")
    assert (gone.episodes, gone.lessons) == ((), ("l1", "l3"))
    gone = forgetting.grown_from("a1", "not wanted")  # a run, and an episode
    assert (gone.episodes, gone.lessons) == (("a1",), ())
    gone = forgetting.grown_from("a2", "not wanted")
    assert (gone.episodes, gone.lessons) == (("a2",), ("l2",))
    assert forgetting.episodes(["a2"], "again").episodes == ()

    for name in ("a1", "a2"):  # a pull, an import, a repeated record: all come by this way
        memory.record(Episode(start=replace(START, id=name), end=END))
    memory.lessons.keep(lesson("l1"), ["a3"])
    memory.lessons.keep(lesson("l4"), ["a1", "a3"])
    assert [one.id for one in memory.journal.ended()] == ["a3"]
    assert [(one.lesson.id, one.sources) for one in memory.lessons.standings()] == [("l4", ("a3",))]
    waiting = [(name, json.loads(body)) for name, body in database.read("select name, body from memory_outbox")]
    assert not [row for name, row in waiting if name != "memory_forgotten" and "a1" in row.values()]
    assert {row["id"] for name, row in waiting if name == "memory_forgotten"} == {"a1", "a2", "l1", "l2", "l3"}
    assert forgetting.grown_from("1234567", "its commit was taken back").episodes == ("a3",)


@pytest.mark.parametrize(
    ("source", "going"),
    [
        ("tests", ()),
        ("a1", ("a1",)),
        ("7f3a", ("a1", "a2")),
        ("7f3a/token", ("a2",)),
        ("src/größe.py", ("a1",)),
        ("src", ()),
        ("1234567", ("a1", "a2", "b1")),
        ("4b825dc642cb", ("a1", "a2", "b1")),
        ("123", ()),
        ('%\\\0"\udcff', ()),
    ],
)
def test_what_came_from_a_source_is_told_by_commits_and_changed_paths_and_runs_of_the_project_alone(
    memory: StoredMemory, source: str, going: tuple[str, ...]
) -> None:
    own = replace(START, owner="run 7f3a")
    changed = replace(END, changed=("src/größe.py",))
    memory.record(Episode(start=own, end=changed))
    memory.record(Episode(start=replace(own, id="a2", owner="run 7f3a/token"), end=END))
    memory.record(Episode(start=replace(own, id="b1", project="garden"), end=changed))
    roots = Roots(source=source, project="clock")
    would = forget(memory, roots, "not wanted", dry_run=True)
    assert would.episodes == going and len(memory.journal.ended()) == 3
    assert forget(memory, roots, "not wanted", dry_run=False) == would
    assert {one.id for one in memory.journal.ended()} == {"a1", "a2", "b1"} - set(going)


def test_who_reads_on_from_a_row_misses_none_also_after_some_were_taken_away(
    memory: StoredMemory, database: Database
) -> None:
    for name in ("a1", "a2"):
        memory.record(Episode(start=replace(START, id=name), end=END))
    rows = memory.rows.after("memory_episodes", 0, "id")
    assert [name for _, name in rows] == ["a1", "a2"]
    Forgetting(memory.rows).episodes(["a1", "a2"], "not wanted")
    database.vacuum()
    memory.record(Episode(start=replace(START, id="a3"), end=END))
    assert [name for _, name in memory.rows.after("memory_episodes", rows[-1][0], "id")] == ["a3"]
    assert [name for _, name in memory.rows.after("memory_forgotten", 0, "id", most=1)] == ["a1"]


def test_a_lesson_counts_the_times_it_was_told_without_use_since_it_was_last_of_any(database: Database) -> None:
    memory = StoredMemory(database)
    memory.lessons.keep(lesson("l1"), ["a0"])
    memory.lessons.keep(lesson("l2"), ["a0"])
    for number in range(4):
        memory.record(Episode(start=replace(START, id=f"a{number}"), end=replace(END, ended_at=100.0 + number)))
        memory.lessons.show([Showing(lesson="l2", episode=f"a{number}", arm="shown")])
    memory.lessons.vote([Vote(lesson="l2", episode=f"a{number}", effect="none") for number in range(3)])
    standings = {one.lesson.id: one for one in memory.lessons.standings(project="clock")}
    assert (standings["l1"].opportunities, standings["l2"].opportunities) == (0, 3)
    memory.lessons.vote([Vote(lesson="l2", episode="a3", effect="helped")])
    (standing,) = memory.lessons.standings(lessons=["l2", "none"])
    assert isinstance(standing, LessonStanding)
    assert (standing.opportunities, standing.helped, standing.without_effect) == (0, 1, 3)
    assert memory.lessons.standings(lessons=[]) == ()


def test_a_write_that_finds_no_room_is_an_error_and_what_was_kept_goes_on(tmp_path: Path) -> None:
    with closing(open_database(tmp_path / "milepost.db")) as database:
        journal = StoredMemory(database).journal
        journal.start(START)
        ((pages,),) = database.read("pragma page_count")
        database.read(f"pragma max_page_count = {pages + 1}")
        with pytest.raises(StateUnwritable, match="full"):
            for _ in range(10):
                journal.log("a1", EpisodeStep(tool="t", action="a", observation="x" * 9000))
        kept = journal.episode("a1")
        database.read("pragma max_page_count = 1000000")
        journal.log("a1", EpisodeStep(tool="t", action="after"))
        found = journal.episode("a1")
    assert kept is not None and found is not None
    assert [step.number for step in found.steps] == list(range(1, len(kept.steps) + 2))


def test_a_file_that_may_not_grow_is_an_error_of_the_very_call(tmp_path: Path) -> None:
    code = """
import resource, sys
from milepost.core.errors import StateUnwritable
from milepost.core.memories import EpisodeStart, EpisodeStep
from milepost.memory.memory import StoredMemory
from milepost.store.database import open_database
journal = StoredMemory(open_database(sys.argv[1])).journal
journal.start(EpisodeStart(id="a1", project="p", title="t", started_at=1.0))
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
kept = 0
try:
    while kept < 1000:
        journal.log("a1", EpisodeStep(tool="t", action="a", observation="x" * 9000))
        kept += 1
except StateUnwritable as error:
    print(kept, error.message)
"""
    path = tmp_path / "milepost.db"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    kept, _, message = done.stdout.partition(" ")
    assert "cannot be used" in message
    with closing(open_database(path)) as database:
        found = StoredMemory(database).journal.episode("a1")
    assert found is not None
    assert len(found.steps) == int(kept) > 0


def test_a_file_that_another_holds_for_too_long_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.05)
    path = tmp_path / "milepost.db"
    with closing(open_database(path)) as database, closing(sqlite3.connect(path, isolation_level=None)) as other:
        journal = StoredMemory(database).journal
        other.execute("begin immediate")
        with pytest.raises(StateUnwritable, match="locked"):
            journal.start(START)
        other.execute("rollback")
        journal.start(START)
        journal.complete("a1", END, Assessment())
        assert database.read("pragma synchronous") == [(1,)], "what others write is as cheap as before"
