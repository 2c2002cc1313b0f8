"""The names that a change touched or took away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from milepost.memory.lessons.distil.added_lines import added_numbers
from milepost.memory.lessons.experience import FileChange
from milepost.sources.tags import Definition
from milepost.sources.tags_apart import tags_of_others


def removed_names(changes: Iterable[FileChange]) -> frozenset[str]:
    """The files that a change took away, and the names that it no longer defines anywhere."""
    told = tuple(changes)
    before = {one.name for change in told for one in _definitions(change.path, change.before)}
    after = {one.name for change in told for one in _definitions(change.path, change.after)}
    gone = {change.path for change in told if change.before is not None and change.after is None}
    return frozenset((before - after) | gone)


def touched_names(change: FileChange) -> tuple[str, ...]:
    """The definitions of a file on whose lines something was added, the smallest first."""
    added = added_numbers(change.before, change.after)
    found = [
        one
        for one in _definitions(change.path, change.after)
        if not added.isdisjoint(range(one.line, one.last_line + 1))
    ]
    return tuple(dict.fromkeys(one.name for one in sorted(found, key=lambda one: (one.last_line - one.line, one.line))))


def _definitions(path: str, text: str | None) -> Iterator[Definition]:
    yield from tags_of_others(path, text.encode("utf-8", "replace")).definitions if text else ()
