"""How a memory and its primary stand, by what is written down: no connection is needed to tell it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from milepost.memory.sync.breaker import BreakerState
from milepost.memory.sync.outbox import Outbox
from milepost.memory.sync.sync_state import Notes
from milepost.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncStatus:
    """`waiting` rows are not at the primary yet; the one that waits the longest was noted at `oldest_at`.

    `diverged` rows are otherwise here than there, and stay so; `refused` ones were not let in here, `not_taken` ones
    the primary cannot keep. `state` is the breaker's, of the process that asks. `last_error` is empty once it works.
    """

    waiting: int = 0
    oldest_at: float | None = None
    state: BreakerState = "closed"
    diverged: int = 0
    refused: int = 0
    not_taken: int = 0
    last_error: str = ""
    last_error_at: float | None = None
    synced_at: float | None = None


def status_of(database: Database, state: BreakerState = "closed") -> SyncStatus:
    """How things stand now."""
    notes = Notes(database)
    outbox = Outbox(database, notes)
    error, error_at = json.loads(notes.text("failure") or '["", null]')
    refused: dict[str, int] = dict(database.read("select by_whom, count(*) from memory_refused group by by_whom"))
    synced = notes.text("synced")
    return SyncStatus(
        waiting=outbox.count(),
        oldest_at=outbox.oldest_at(),
        state=state,
        diverged=int(database.read("select count(*) from memory_diverged")[0][0]),
        refused=refused.get("here", 0),
        not_taken=refused.get("there", 0),
        last_error=error,
        last_error_at=error_at,
        synced_at=float(synced) if synced else None,
    )
