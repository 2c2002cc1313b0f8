"""The stream of events for who stays: from before the first run, over removed state, with a long output behind it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from milepost import events
from milepost.core.errors import StateUnwritable
from milepost.core.events import AgentSaid, CommandPrinted, RunFinished
from milepost.engine.events import live_stream
from milepost.engine.events.live_stream import NOTHING, EventStream, Row
from milepost.engine.records.journal import PRINTED, PRINTED_ROWS, TOLD_ROWS, Journal
from milepost.store.database import is_server, open_database
from tests import places
from tests.integration.repositories import new_place
from tests.postgres import Cluster

ORDER = {
    "agent": "code",
    "trust": "isolated",
    "parallel": 2,
    "budget": {"usd": 1.5},
    "approve": "always",
    "base": "b" * 40,
    "tasks": ["1.1", "1.2"],
}
OVER = RunFinished(run="r1", branch="b", tasks=(), cost_usd=0.0, duration_ms=1, head="h", fast_forwarded="", by_hand="")


def said(text: str, run: str = "r1") -> AgentSaid:
    return AgentSaid(run=run, task="1.1", attempt=1, text=text)


def lines(*texts: str) -> CommandPrinted:
    return CommandPrinted(run="r1", task="1.1", attempt=1, command="c", lines=texts, errors=())


@pytest.fixture
def stream(place: Path | str) -> Iterator[EventStream]:
    with EventStream(place) as opened:
        yield opened


def test_it_is_empty_until_something_is_run_and_makes_nothing(place: Path | str, stream: EventStream) -> None:
    assert (stream.runs(), stream.last("r1"), stream.after("r1", 0), stream.epoch) == ((), 0, (), NOTHING)
    assert stream.opening("r1").rows == () and stream.opening("r1").last == 0
    if is_server(place):
        with closing(open_database(place)) as database:
            assert not database.columns("runs") and not database.columns("events")
    else:
        assert not Path(place).exists()
    with Journal(place) as journal:
        journal.open_run("r0", "7", {})
        journal.open_run("r1", "7", ORDER)
        journal.append(said("hello"), "k1")
        newest, oldest = stream.runs()
        assert (newest.run, newest.agent, newest.trust, newest.parallel) == ("r1", "code", "isolated", 2)
        assert (newest.budget_usd, newest.approve, newest.base) == (1.5, "always", "b" * 40)
        assert newest.tasks == ("1.1", "1.2") and not newest.ended
        assert (oldest.run, oldest.budget_usd, oldest.tasks) == ("r0", None, ())
        journal.leave_run("r0")
        journal.close_run("r1", OVER)
        assert all(run.ended for run in stream.runs())
    (row,) = stream.after("r1", 0)
    assert json.loads(row.body)["text"] == "hello" and stream.last("r1") == row.seq and stream.epoch != NOTHING


def test_who_reads_on_gets_every_row_once_in_parts_of_a_bounded_size(place: Path | str, stream: EventStream) -> None:
    with Journal(place) as journal:
        for number in range(120):
            journal.append(said(str(number)), f"k{number}")
            journal.append(said("of another run", run="r2"), f"k{number}")
        journal.append(lines("x" * 5000), f"{PRINTED}c/1")
        journal.append(said("last"), "last")
    got, place_seen = [], 0
    while part := stream.after("r1", place_seen, most=70, most_bytes=4000):
        assert len(part) <= 70 and (sum(len(row.body) for row in part) <= 4000 or len(part) == 1)
        got += [json.loads(row.body) for row in part]
        place_seen = part[-1].seq
    assert [event.get("text") for event in got] == [*map(str, range(120)), None, "last"]
    assert place_seen == stream.last("r1")


def test_an_opening_has_all_but_the_older_output_which_is_fetched_backwards(
    place: Path | str, stream: EventStream
) -> None:
    with Journal(place) as journal:
        for number in range(100):
            journal.append(said(str(number)), f"k{number}")
            journal.append(lines(f"{number} a", f"{number} b"), f"{PRINTED}c/{number}")
        journal.replace(said("99, again"), "k99")
        whole = journal.events("r1", printed=True)
    opening = stream.opening("r1", lines=5)
    kinds = [json.loads(row.body)["event"] for row in opening.rows]
    assert (kinds.count("agent_said"), kinds.count("command_printed")) == (100, 3)
    assert kinds[-2:] == ["events_taken_back", "agent_said"] and opening.last == stream.last("r1")
    shown = [row for row in opening.rows if "command_printed" in row.body]
    assert opening.floor == shown[0].seq
    older: list[Row] = []
    while part := stream.printed_before("r1", (older or shown)[0].seq, lines=41):
        older[:0] = part
    texts = [text for row in (*older, *shown) for text in json.loads(row.body)["lines"]]
    assert texts == [f"{number} {sign}" for number in range(100) for sign in "ab"]
    assert stream.opening("r1").floor == 0
    assert [row.seq for row in stream.opening("r1").rows] == [entry.seq for entry in whole]


def test_several_threads_read_what_others_write(place: Path | str, stream: EventStream) -> None:
    seen: list[list[str]] = [[] for _ in range(3)]

    def follow(texts: list[str]) -> None:
        at = 0
        while not texts or texts[-1] != "end":
            for row in stream.after("r1", at):
                at = row.seq
                texts.append(json.loads(row.body)["text"])

    with Journal(place) as journal:
        readers = [threading.Thread(target=follow, args=(texts,)) for texts in seen]
        for thread in readers:
            thread.start()
        for number in range(60):
            journal.append(said(str(number)), f"k{number}")
        journal.append(said("end"), "end")
        for thread in readers:
            thread.join()
    assert seen == [[*map(str, range(60)), "end"]] * 3
    stream.close()
    with pytest.raises(StateUnwritable, match="closed"):
        stream.runs()


@pytest.mark.parametrize("patience_s", [0.1, 600.0])
def test_a_server_that_is_away_is_not_waited_for_by_who_closes_the_stream_and_not_long_by_who_reads(
    cluster: Cluster, postgres: str, monkeypatch: pytest.MonkeyPatch, patience_s: float
) -> None:
    monkeypatch.setattr(live_stream, "AWAY_S", patience_s)
    told: list[StateUnwritable] = []

    def read() -> None:
        try:
            away.last("r1")
        except StateUnwritable as error:
            told.append(error)

    with Journal(postgres) as journal:
        journal.open_run("r1", "7", ORDER)
    away = EventStream(postgres)
    assert away.runs()
    readers = [threading.Thread(target=read, daemon=True) for _ in range(4)]
    closing_it = threading.Thread(target=away.close, daemon=True)
    cluster.stop()
    try:
        for thread in readers:
            thread.start()
        for thread in readers if patience_s < 1 else ():
            thread.join(90)
        closing_it.start()
        for thread in (*readers, closing_it):
            thread.join(90)
    finally:
        cluster.start()
    assert not closing_it.is_alive() and len(told) == 4


def test_state_that_was_removed_and_made_anew_is_another_epoch(tmp_path: Path) -> None:
    state = places.state(tmp_path)
    with EventStream(state / "milepost.db") as stream:
        epochs = [stream.epoch]
        for text in ("one", "two"):
            state.mkdir(parents=True)
            with Journal(state / "milepost.db") as journal:
                journal.open_run("r1", "7", ORDER)
                journal.append(said(text), "k")
            epochs.append(stream.epoch)
            assert [json.loads(row.body)["text"] for row in stream.opening("r1").rows] == [text]
            shutil.rmtree(state)
            assert (stream.runs(), stream.epoch) == ((), NOTHING)
    assert len(set(epochs)) == 3


def test_the_stream_of_a_project_is_opened_before_its_first_run(tmp_path: Path) -> None:
    folder = new_place(tmp_path).top
    with events.open_stream(folder / "ROADMAP.md") as stream:
        assert stream.runs() == ()
    assert not places.state(folder).exists()


def test_output_is_found_by_an_index_however_long_it_is(tmp_path: Path) -> None:
    place = tmp_path / "milepost.db"
    with Journal(place):
        pass
    with closing(sqlite3.connect(place)) as database:
        for which, index in ((PRINTED_ROWS, "events_printed"), (TOLD_ROWS, "events_told"), ("1", "events_in_order")):
            sql = f"explain query plan select seq, at, body from events where run = ? and seq < ? and {which}"
            plan = " ".join(row[3] for row in database.execute(f"{sql} order by seq desc limit 50", ("r1", 9)))
            assert index in plan and "TEMP B-TREE" not in plan, plan


READ_ONLY = """
import os, sys
import milepost.store.sqlite
from pathlib import Path
from milepost.engine.records.journal import Journal
from milepost.engine.events.live_stream import EventStream
os.setgroups([]), os.setgid(65534), os.setuid(65534)
place = Path(sys.argv[1])
with EventStream(place) as stream, Journal.look(place) as journal:
    print(stream.last("r1"), [run.run for run in (*stream.runs(), *journal.runs())])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become a user who may not write")
@pytest.mark.parametrize("written_now", [False, True])
def test_a_state_directory_that_cannot_be_written_is_read(written_now: bool) -> None:
    with TemporaryDirectory() as folder, ExitStack() as held:
        Path(folder).chmod(0o755)
        place = Path(folder) / "milepost.db"
        journal = held.enter_context(Journal(place))
        journal.open_run("r1", "7", ORDER)
        journal.append(said("hello"), "k")
        if not written_now:
            journal.close()
        words = [sys.executable, "-c", READ_ONLY, str(place)]
        done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"HOME": "/nonexistent"})

    assert done.stdout == "1 ['r1', 'r1']\n", done.stderr
