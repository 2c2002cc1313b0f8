"""Who stands in when a run is replayed: a recording for its agents and reviewers, what they answered for its people."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from milepost.agents.replay.cassette import Cassette
from milepost.agents.replay.replay import Loops, ReplayAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.events import Event, GateOpened, MilepostMade, TaskFinished
from milepost.core.ports import Agent, Tools
from milepost.engine.records.gates import Gates
from milepost.engine.replay.recorded_run import Past
from milepost.store.database import open_database

REVIEWER = "recorded opinion"
UNASKED = "nobody was asked this when the run was recorded"
QUIET_S = 60.0  # of a run in which nothing happens any more, then nobody waits for his turn
LOOK_S = 0.05


class StandIns:
    """All that a replayed run has to do with; hears its events, by which it knows whose turn it is."""

    def __init__(
        self,
        past: Past,
        cassette: Cassette,
        *,
        place: Path,
        loops: Loops,
        on_event: Callable[[Event], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._past = past
        self._place = place
        self._on_event = on_event
        self._clock = clock
        self._over: set[str] = set()
        self._heard_at = clock()
        self._agent = InTurn(ReplayAgent(cassette, loops=loops, pause=lambda _: None), self.is_turn)
        self._reviewer = RecordedOpinion(past.opinions)

    @property
    def agents(self) -> Mapping[str, Agent]:
        """Whoever is named: the recording tells them apart by task and attempt."""
        return _Anybody(self._agent, self._reviewer)

    def hear(self, event: Event) -> None:
        """Tell an event on, and answer what a person is asked in it as the person did."""
        self._heard_at = self._clock()
        self._on_event(event)
        match event:
            case MilepostMade(task=task) | TaskFinished(task=task):
                self._over.add(task)
            case GateOpened(run=run, gate=gate):
                self._answer(run, gate)
            case _:
                pass

    def is_turn(self, assignment: Assignment) -> bool:
        """Whether an attempt may begin: work lands in the order in which it landed before."""
        if (assignment.task, assignment.attempt) not in self._past.proven:
            return True
        return self._past.before(assignment.task) <= self._over or self._clock() - self._heard_at > QUIET_S

    def _answer(self, run: str, gate: str) -> None:
        known = self._past.gates.get(gate)
        database = open_database(self._place)
        try:
            if known is None or known.answer is None:
                Gates(database).answer(run, gate, "reject", UNASKED)
            else:
                Gates(database).answer(run, gate, known.answer, known.text, by=known.answered_by)
        finally:
            database.close()


class InTurn:
    """An agent that begins an attempt when it is its turn."""

    def __init__(self, agent: Agent, is_turn: Callable[[Assignment], bool]) -> None:
        self._agent = agent
        self._is_turn = is_turn

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        while not self._is_turn(assignment):
            tools.stops.pause(LOOK_S)
        return self._agent.act(assignment, workspace, tools)


class RecordedOpinion:
    """A reviewer that says what was said: of each task the first time, the second time, …"""

    def __init__(self, opinions: Mapping[str, tuple[str, ...]]) -> None:
        self._opinions = opinions
        self._given: Counter[str] = Counter()
        self._lock = threading.Lock()

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        with self._lock:
            number = self._given[assignment.task]
            self._given[assignment.task] += 1
        known = self._opinions.get(assignment.task, ())
        refusal = known[min(number, len(known) - 1)] if known else "no opinion was recorded"
        said = {"accept": False, "reason": refusal} if refusal else {"accept": True}
        return Outcome(status="finished", said=json.dumps(said))


class _Anybody(Mapping[str, Agent]):
    """One agent under every name."""

    def __init__(self, agent: Agent, reviewer: Agent) -> None:
        self._agent, self._reviewer = agent, reviewer

    def __getitem__(self, name: str) -> Agent:
        return self._reviewer if name == REVIEWER else self._agent

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter((REVIEWER,))

    def __len__(self) -> int:
        return 1
