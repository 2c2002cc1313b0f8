"""A memory and its primary, brought up to date when a person asks for it."""

from __future__ import annotations

from contextlib import closing

from milepost.core.errors import Misuse
from milepost.engine.memory.location import MemoryHome
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.memory.open_memory import is_of_the_repository, place_of, token_of
from milepost.engine.memory.values import MemorySynced, Unsynced
from milepost.engine.project.memory_mode import require_writing
from milepost.engine.project.settings.load import MEMORY, load
from milepost.memory.lessons.learn import review_all
from milepost.memory.sync import Synchroniser, open_primary, status_of


def unsynced(opened: OpenedMemory) -> Unsynced:
    """What waits for the primary, or is at odds with it; without what would be secret in its address or its errors."""
    primary = opened.home.memory.primary
    if not primary:
        return Unsynced()
    found = status_of(opened.database)
    return Unsynced(
        primary=opened.redact(primary),
        waiting=found.waiting,
        oldest_at=found.oldest_at,
        diverged=found.diverged,
        refused=found.refused,
        last_error=opened.redact(found.last_error),
    )


def synced(opened: OpenedMemory) -> MemorySynced:
    """Tell the primary and take over from it, where a person agreed to it."""
    given = load(opened.home.project.roadmap.parent, uses=MEMORY).memory
    _require_primary(given.primary)
    require_writing(given.mode)
    place = _place_outside(opened.home)
    opened.keep()
    with closing(Synchroniser(opened.database, open_primary(place, token_of(given)))) as synchroniser:
        pushed = synchroniser.push()
        pulled = synchroniser.pull()
        review_all(opened.stored)
        pushed += synchroniser.push()
    return MemorySynced(pushed=pushed, pulled=pulled, left=unsynced(opened))


def _require_primary(primary: str) -> None:
    if not primary:
        raise Misuse(
            "this memory has no primary to sync with",
            "set primary under [memory] in milepost.toml",
        )


def _place_outside(home: MemoryHome) -> str:
    """Where the primary is, which must not have come with the repository."""
    place = place_of(home.memory, home.project.roadmap.parent)
    if is_of_the_repository(place, home.project.repository.top):
        raise Misuse(
            "the primary is a file of the repository itself: anyone who can change it could inject lessons",
            "set primary under [memory] in milepost.toml to a file outside of the repository",
        )
    return place
