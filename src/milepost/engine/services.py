"""What the steps of a run work with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from milepost.core.events import Event
from milepost.core.memories import Lessons, Query
from milepost.core.ports import Agent, Terminal, Tools
from milepost.core.secrets.redact import Redactor
from milepost.engine.budget.budget import RunBudget
from milepost.engine.context.build_context import Contexts
from milepost.engine.project.project import Project
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.call_log import CallLog
from milepost.engine.records.gates import Gates
from milepost.engine.records.held_work import HeldWorks
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_request import OnEvent
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.records.steering import Steering
from milepost.engine.records.suspend import Suspension
from milepost.engine.terminals.output_writer import Output
from milepost.engine.verification.verifier import Verifier
from milepost.memory.memory import StoredMemory
from milepost.repair.diagnosis.failure_log import FailureLog
from milepost.repair.patches.patch_log import PatchLedger
from milepost.sandbox.policy import Audit
from milepost.sandbox.terminal import WalledTerminal
from milepost.store.database import Database
from milepost.verify.credentials import shown_text
from milepost.workspace.checkout import Checkouts
from milepost.workspace.mileposts import Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTables:
    """What happened, what was asked and answered, what it cost, what was learnt."""

    journal: Journal
    calls: CallLog
    wallet: RunBudget
    gates: Gates
    held: HeldWorks
    steering: Steering
    memory: StoredMemory
    failures: FailureLog
    patches: PatchLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """All that the steps of a run work with; an engine that `stays` waits for people when only they are left.

    `terminal` is for what we run ourselves to mend and to merge; `tools` has those of agents, by their names.
    """

    project: Project
    settings: Settings
    books: RunTables
    checkouts: Checkouts
    mileposts: Mileposts
    sandbox: WalledTerminal
    terminal: Terminal
    tools: Callable[[str, Callable[[str], None]], Tools]
    examiner: Verifier
    parking: Suspension
    redact: Redactor
    audit: Audit
    on_event: OnEvent
    lock_fd: int
    agent: Callable[[str], Agent]
    contexts: Contexts
    recall: Callable[[Query], Lessons]
    output: Output
    stays: bool = False
    telling: threading.Lock = field(default_factory=threading.Lock)

    def shown(self, text: str) -> str:
        """A text that was not checked, as people, models and the books may have it: without credentials."""
        return shown_text(text, self.redact)

    def emit(self, event: Event, key: str) -> None:
        """Write an event down, and tell it to whoever listens when it is new."""
        if self.books.journal.append(event, key):
            self.tell(event)

    def announce(self, event: Event, key: str) -> None:
        """Write down and tell what a step does now, in the place of what it did when it was cut short before."""
        if not self.parking.at_once:
            self.books.journal.replace(event, key)
            self.tell(event)

    def tell(self, event: Event) -> None:
        """Tell an event to whoever listens, one at a time."""
        with self.telling:
            self.on_event(event)


def open_run_tables(
    database: Database,
    order: RunSpec,
    memory: StoredMemory,
    watched: Callable[[], bytes | None],
    stopping: Callable[[], bool],
) -> RunTables:
    """The books of a run; opening them begins one of its lives. `watched` is a look at the user's roadmap."""
    return RunTables(
        journal=Journal(database),
        calls=CallLog(database),
        wallet=RunBudget(database, order.run, order.budget, stopping=stopping),
        gates=Gates(database),
        held=HeldWorks(database),
        steering=Steering(database, order.run, watched),
        memory=memory,
        failures=FailureLog(database),
        patches=PatchLedger(database),
    )
