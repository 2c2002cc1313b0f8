"""What goes when something of a memory is forgotten: it, what grew from nothing else, and what that told others."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from milepost.memory.forgetting import Forgetting, Forgotten
from milepost.memory.forgotten_rows import ForgottenKind
from milepost.memory.lineage import of_source, offspring
from milepost.memory.memory import StoredMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """What is to be forgotten: one thing by its kind and id, or all that came from a source."""

    named: tuple[ForgottenKind, str] | None = None
    source: str = ""


class _OnlyLooked(Exception):
    """Takes back what was done, so that it is known and did not happen."""


def forget(memory: StoredMemory, roots: Roots, why: str, *, dry_run: bool) -> Forgotten:
    """Take it all away as one; with `dry_run` only tell what would go."""
    told: list[Forgotten] = []

    def act() -> None:
        told.append(_forget(memory, roots, why))
        if dry_run:
            raise _OnlyLooked

    with suppress(_OnlyLooked):
        memory.rows.together(act)
    return told[-1]


def _forget(memory: StoredMemory, roots: Roots, why: str) -> Forgotten:
    forgetting, standings = Forgetting(memory.rows), memory.lessons.standings()
    episodes: list[str] = []
    lessons: list[str] = []
    if roots.named is not None:
        kind, name = roots.named
        (episodes if kind == "episode" else lessons).append(name)
    else:
        episodes += forgetting.episodes_of(roots.source)
        lessons += [
            *forgetting.lessons_of(roots.source),
            *(one.lesson.id for one in of_source(standings, roots.source)),
        ]
    gone = set(episodes)
    lessons += [one.lesson.id for one in standings if one.sources and gone.issuperset(one.sources)]
    lessons += [one.lesson.id for one in offspring(standings, lessons, memory.lessons.told)]
    first, then = forgetting.episodes(episodes, why), forgetting.lessons(dict.fromkeys(lessons), why)
    return Forgotten(episodes=first.episodes, lessons=tuple(dict.fromkeys((*first.lessons, *then.lessons))))
