"""A made-up run in the state of a real repository, of which more can be told while somebody looks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from milepost.core.budget import Budget
from milepost.core.events import CommandPrinted, Event, RunFinished
from milepost.engine.project.state_lock import StateLock
from milepost.engine.records.check_logs import Logs
from milepost.engine.records.journal import LAST, PRINTED, Journal
from milepost.engine.records.run_spec import VERSION, BranchMove, RunSpec
from milepost.engine.records.spending import Spending
from milepost.engine.records.values_json import dump
from milepost.engine.run.summaries import run_finished
from milepost.store.database import Database, open_database
from milepost.workspace.repository import Identity, Position
from tests import places
from tests.web.history import MAIN, Written, new_history
from tests.web.story import START, STORY, Told
from tests.web.telling import Teller, command_id

RUN: Final = "5a1c"
IN_WORK: Final = ("2.3", 1, command_id("2.3", 1, 1))  # the task, the attempt and the command that is not over
SECONDS_AN_EVENT: Final = 7.0
_PRINTED: Final = "select body from events where run = ? and key like 'printed/%' order by seq"
_SPREAD: Final = "update events set at = ? - (? - seq) * ? where run = ?"


class Story:
    """A run that is not over. All that is told of it is in the database at once, for any process to read."""

    def __init__(self, folder: Path, database: Database, order: RunSpec) -> None:
        self.folder, self.order, self.run = folder, order, order.run
        self._database, self._journal = database, Journal(database)
        self._ending: RunFinished | None = None

    def tell(self, *events: Event) -> None:
        """Write events down, in one transaction."""

        def write() -> None:
            for place, event in enumerate(events, self.last() + 1):
                self._journal.append(event, _key(event, place))

        self._database.together("a story", write)

    def print_lines(self, lines: Sequence[str], errors: Sequence[int] = ()) -> None:
        """Let the command that still runs print."""
        self.tell(self._printed(lines, errors))

    def flood(self, lines: int, a_row: int = 400) -> None:
        """Let the command that still runs print very many lines, in colour."""
        said = [f"\x1b[3{number % 7 + 1}mline {number}\x1b[0m of what a long build prints" for number in range(lines)]
        self.tell(*(self._printed(said[first : first + a_row]) for first in range(0, lines, a_row)))

    def lines(self) -> list[str]:
        """All lines that the database has of what commands printed, in order."""
        return [line for (body,) in self._database.read(_PRINTED, self.run) for line in json.loads(body)["lines"]]

    def last(self) -> int:
        """The place of the newest event in the stream."""
        return int(self._database.read("select coalesce(max(seq), 0) from events")[0][0])

    def finish(self) -> RunFinished:
        """End the run; what is not over is left where it is."""
        assert self._ending is not None
        self.tell(self._ending)
        self._journal.close_run(self.run, self._ending)
        return self._ending

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """As if an engine worked on the run: the lock of its state is held by a process that lives, this one."""
        with StateLock(places.state(self.folder), self.run):
            yield

    def close(self) -> None:
        """Let go of the database; what was told stays."""
        self._database.close()

    def begin(self, teller: Teller, now: float) -> None:
        """Tell all that a teller has to, as if it had happened up to now."""
        self._journal.open_run(self.run, VERSION, dump(self.order))
        Spending(self._database).begin_life(self.run, "first")
        self.tell(*teller.events)
        last = self.last()
        self._database.write(_SPREAD, now, last, SECONDS_AN_EVENT, self.run)
        began = now - len(teller.events) * SECONDS_AN_EVENT
        self._database.write("update runs set started_at = ? where run = ?", began, self.run)
        self._database.write("update lives set began_at = ?, seen_at = ? where run = ?", began, now, self.run)
        head = next((end.commit for end in reversed(teller.ends) if end.commit), self.order.base)
        by_hand = BranchMove(by_hand=f"git merge milepost/{self.run}")
        self._ending = run_finished(self.order, tuple(teller.ends), teller.tries, head, by_hand)

    def _printed(self, lines: Sequence[str], errors: Sequence[int] = ()) -> CommandPrinted:
        task, attempt, command = IN_WORK
        return CommandPrinted(
            run=self.run, task=task, attempt=attempt, command=command, lines=tuple(lines), errors=tuple(errors)
        )


def new_story(folder: Path, tasks: Sequence[Told] = STORY, *, run: str = RUN) -> Story:
    """A repository in a folder, and a run there: tasks passed, failed, are unverified, one asks, one is in work."""
    now = time.time()
    folder.mkdir(parents=True, exist_ok=True)
    with new_history(folder, int(now)) as history:
        places.made_state(folder)
        base = history.commit(MAIN, "Start\n", START)
        database = open_database(places.database(folder))
        story = Story(folder, database, _order(run, base, tasks, now))
        teller = Teller(story.order, database, history, base, Logs(places.state(folder) / "logs"))
        with database.alone("a story"):
            for task in tasks:
                teller.tell(task)
            story.begin(teller, now)
    return story


def _key(event: Event, place: int) -> str:
    match event:
        case RunFinished():
            return LAST
        case CommandPrinted():
            return f"{PRINTED}{place}"
        case _:
            return f"{event.event}/{place}"


def _order(run: str, base: Written, tasks: Sequence[Told], now: float) -> RunSpec:
    return RunSpec(
        run=run,
        roadmap="ROADMAP.md",
        base=base.commit,
        ahead="",
        user=Position(branch="main", commit=base.commit),
        tasks=tuple(task.id for task in tasks),
        wished=(),
        max_tasks=None,
        agent="claude",
        trust="sandboxed",
        parallel=2,
        attempts=3,
        task_timeout_s=1800.0,
        idle_timeout_s=300.0,
        check_timeout_s=600.0,
        identity=Identity(name="Ada", email="ada@example.com"),
        started_at=int(now),
        approve="risky",
        budget=Budget(usd=2.0),
    )
