"""What goes when something of a memory is forgotten: it, what grew from nothing else, and what that told others."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from milepost.memory.forgetting import Forgetting, Forgotten
from milepost.memory.forgotten_rows import ForgottenKind
from milepost.memory.memory import StoredMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """What is to be forgotten: one thing by its kind and id, or all that came from a source.

    Runs and paths are those of the `project`, of any where none is named. `episodes` came from the source, too: from a
    milepost, which the memory does not know.
    """

    named: tuple[ForgottenKind, str] | None = None
    source: str = ""
    project: str = ""
    episodes: tuple[str, ...] = ()


class _OnlyLooked(Exception):
    """Takes back what was done, so that it is known and did not happen."""


def forget(memory: StoredMemory, roots: Roots, why: str, *, dry_run: bool) -> Forgotten:
    """Take it all away as one; with `dry_run` only tell what would go."""
    if not dry_run:
        return _forget(memory, roots, why)
    told: list[Forgotten] = []

    def look() -> None:
        told.append(_forget(memory, roots, why))
        raise _OnlyLooked

    with suppress(_OnlyLooked):
        memory.rows.together(look)
    return told[-1]


def _forget(memory: StoredMemory, roots: Roots, why: str) -> Forgotten:
    forgetting = Forgetting(memory.rows)
    if roots.named is None:
        return forgetting.grown_from(roots.source, why, project=roots.project, beside=roots.episodes)
    kind, name = roots.named
    return forgetting.episodes([name], why) if kind == "episode" else forgetting.lessons([name], why)
