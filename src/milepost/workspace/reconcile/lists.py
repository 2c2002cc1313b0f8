"""Plain lists, a line for each thing: requirements, ignored files, owners of code."""

from __future__ import annotations

import re

from milepost.sources.manifests.python import normalised
from milepost.workspace.reconcile.file_kind import Kind, Proposed, newly, one_a_line, repeated
from milepost.workspace.reconcile.list_entries import Lines, ListEntry, ListReading

_REQUIREMENT = re.compile(r"([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[\w\s.,-]*\])?\s*(?:[<>=!~;@,].*)?")


def requirement_name(text: str) -> str:
    """The package that a requirement is about, in its normal form; empty for what is no requirement."""
    found = _REQUIREMENT.fullmatch(" ".join(text.split()).partition(" #")[0])
    return normalised(found[1]) if found else ""


def _requirements(lines: Lines) -> tuple[ListEntry, ...] | None:
    def entry(line: str) -> ListEntry | None:
        name = requirement_name(line)
        return None if not name or line.endswith("\\") or "--hash" in line else ListEntry(key=name, lines=(line,))

    return one_a_line(lines, entry, _is_comment)


def _requirements_hold(proposed: Proposed) -> bool:
    return not newly(lambda text: repeated(filter(None, map(requirement_name, text.split("\n")))), proposed)


def _ignored(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Patterns; one that takes another back means something only where it stands."""
    return one_a_line(
        lines, lambda line: None if line.startswith("!") else ListEntry(key=line.rstrip(), lines=(line,)), _is_comment
    )


def _owners(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Plain paths from the root: with patterns, which may match the same file, the last one would win."""

    def entry(line: str) -> ListEntry | None:
        path, *owners = line.split()
        plain = path.startswith("/") and not set(path) & set("*?[]!\\#")
        return ListEntry(key=path, lines=(line,)) if plain and owners else None

    return one_a_line(lines, entry, _is_comment)


def _owners_hold(proposed: Proposed) -> bool:
    paths = [
        f"{line.split()[0].rstrip('/')}/"
        for spot in proposed.spots
        for line in spot.lines
        if line.strip() and not _is_comment(line)
    ]
    return not any(one != other and one.startswith(other) for one in paths for other in paths) and not repeated(paths)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _plain(entry: ListEntry) -> str:
    return entry.lines[-1]


def _folded(entry: ListEntry) -> str:
    return entry.lines[-1].casefold()


_ORDERS = (_plain, _folded)
REQUIREMENTS = Kind(
    readings=(ListReading(name="requirements", read=_requirements, orders=_ORDERS),), holds=_requirements_hold
)
IGNORED = Kind(readings=(ListReading(name="patterns", read=_ignored, orders=_ORDERS),), holds=lambda _: True)
OWNERS = Kind(readings=(ListReading(name="owners", read=_owners),), holds=_owners_hold)
