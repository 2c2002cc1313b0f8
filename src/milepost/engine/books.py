"""The books of a run: all that is written down about it, in one database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from milepost.engine.calls import CallLog
from milepost.engine.gates import Gates
from milepost.engine.journal import Journal
from milepost.engine.order import Order
from milepost.engine.steering import Steering
from milepost.engine.wallet import Wallet
from milepost.memory.memory import StoredMemory
from milepost.repair.failures import FailureLog
from milepost.repair.ledger import PatchLedger
from milepost.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """What happened, what was asked and answered, what it cost, what was learnt."""

    journal: Journal
    calls: CallLog
    wallet: Wallet
    gates: Gates
    steering: Steering
    memory: StoredMemory
    failures: FailureLog
    patches: PatchLedger


def open_books(
    database: Database,
    order: Order,
    memory: StoredMemory,
    watched: Callable[[], bytes | None],
    stopping: Callable[[], bool],
) -> Books:
    """The books of a run; opening them begins one of its lives. `watched` is a look at the user's roadmap."""
    return Books(
        journal=Journal(database),
        calls=CallLog(database),
        wallet=Wallet(database, order.run, order.budget, stopping=stopping),
        gates=Gates(database),
        steering=Steering(database, order.run, watched),
        memory=memory,
        failures=FailureLog(database),
        patches=PatchLedger(database),
    )
