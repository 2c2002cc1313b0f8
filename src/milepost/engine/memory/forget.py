"""What goes when something of a memory is forgotten: it, what grew from nothing else, and what that told others."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from milepost.core.errors import Misuse
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.memory.unlearn import episodes_of, milepost_named, owners_in
from milepost.memory.memory import StoredMemory
from milepost.memory.transfer.forget import Forgetting, Forgotten
from milepost.memory.transfer.forgotten_rows import ForgottenKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """What is to be forgotten: one thing by its kind and id, or all that came from a source.

    Runs and paths are those of the `project`, of any where none is named. `episodes` came from the source, too: from a
    milepost, which the memory does not know. `everything` is all that the project remembers.
    """

    named: tuple[ForgottenKind, str] | None = None
    source: str = ""
    project: str = ""
    episodes: tuple[str, ...] = ()
    everything: bool = False


def roots_of(opened: OpenedMemory, named: str, source: str) -> Roots:
    """What a person wants forgotten, who gives either an id or a source."""
    if named.strip() and source.strip():
        raise Misuse("an id and --from exclude each other", "use one of the two")
    if not named.strip() and not source.strip():
        raise Misuse("nothing to forget was named", "give the id of a lesson or an episode, or --from SOURCE")
    if named.strip():
        return Roots(named=opened.catalogue.named(named))
    return Roots(source=source.strip(), project=opened.project, episodes=_of_milepost(opened, source.strip()))


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


def outline_of(opened: OpenedMemory, found: Forgotten) -> Mapping[str, str]:
    """A line for each thing that goes, by its id."""
    things: list[tuple[ForgottenKind, str]] = [
        *(("episode", name) for name in found.episodes),
        *(("lesson", name) for name in found.lessons),
    ]
    lines = {name: opened.catalogue.outline(kind, name) for kind, name in things}
    return {
        name: line if project in ("", opened.project) else f"of {project}: {line}"
        for name, (project, line) in lines.items()
    }


def _of_milepost(opened: OpenedMemory, commit: str) -> tuple[str, ...]:
    """The attempts at the task that a milepost ended; none where the commit is no milepost."""
    post = milepost_named(opened.home.project, commit) if opened.is_there else None
    return episodes_of(opened.stored, post, opened.project, owners_in(opened.database)) if post else ()


def _forget(memory: StoredMemory, roots: Roots, why: str) -> Forgotten:
    forgetting = Forgetting(memory.rows)
    if roots.everything:
        return forgetting.project(roots.project, why)
    if roots.named is None:
        return forgetting.grown_from(roots.source, why, project=roots.project, beside=roots.episodes)
    kind, name = roots.named
    return forgetting.episodes([name], why) if kind == "episode" else forgetting.lessons([name], why)
