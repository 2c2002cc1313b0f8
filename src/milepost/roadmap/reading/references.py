"""What a dependency names: a task by its id or title, all tasks below a heading, or one elsewhere, `project:ID`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

from milepost.core.task import TaskElsewhere
from milepost.roadmap.reading.ids import split_id
from milepost.roadmap.reading.outline_names import called, names_of
from milepost.roadmap.reading.titles import plain, unlinked, unmarked

_SEPARATOR = re.compile(r"\s*[,;&]\s*|\s+and\s+", re.IGNORECASE)
_NOISE = re.compile(r"^(?:tasks?\s+)?#?(?=\S)", re.IGNORECASE)
_NOTE = re.compile(r"\s\([^()]*\)$")
_REMARK = re.compile(r"(?:\s+[-–—]|:)\s.*$")
_DIGITS = re.compile(r"[0-9]+")
_RANGE = re.compile(r"\s+(?:to|through|until)\s+|\s*(?:[-–—…]|\.{2,3})\s*", re.IGNORECASE)
_ISSUE = re.compile(r"#[0-9]+")
_DONE = re.compile(r"\s+(?:(?:is|are|must be|to be)\s+)?(?:completed?|done|finished|merged)\b.*$", re.IGNORECASE)
_PHASES = re.compile(r"phases?\s+\S+$", re.IGNORECASE)
_ELSEWHERE = re.compile(r"(?P<project>\S(?:.*\S)?)(?::\s*|/)(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{0,63})")
_QUOTES = frozenset({"``", '""', "''", "“”", "[]", "**", "__"})
_SHOWN = 4
# A start that so many titles share names none of them.
_LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a task may be called in a dependency; `above` are the headings of a top-level task."""

    id: str
    title: str
    above: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Below:
    """All tasks below a heading, as positions in the names."""

    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that names nobody, or several; `issue` is set where it may well be an issue of a tracker."""

    reference: str
    candidates: tuple[str, ...] = ()
    issue: bool = False

    def __str__(self) -> str:
        if not self.candidates:
            return f"{self.reference!r}, but no task has this id or title"
        more = ", …" if len(self.candidates) > _SHOWN else ""
        return f"{self.reference!r}, which could be any of {', '.join(self.candidates[:_SHOWN])}{more}"


class References:
    """Finds tasks by what a dependency calls them; the answer is a position in `names`, or a task of `projects`."""

    def __init__(self, names: Sequence[Named], projects: Mapping[str, str] | None = None) -> None:
        self._names = names
        self._projects = projects or {}
        self._by_id = {named.id.casefold(): index for index, named in enumerate(names)}

    def resolve(self, value: str) -> Iterator[int | Below | TaskElsewhere | Unresolved]:
        """Each task that `value` names: all of it as one id, title or heading, else its parts between commas."""
        whole = self._exact(_stripped(value))
        if len(whole) == 1:
            yield whole[0]
            return
        if below := self._below(value):
            yield below
            return
        for part in filter(None, _SEPARATOR.split(value)):
            known = [self._known(_stripped(word)) for word in part.split()]
            if all(one is not None for one in known):
                yield from (one for one in known if one is not None)
            else:
                yield self._one(part)

    def known(self, value: str) -> Iterator[int | Below]:
        """What a prerequisite surely names: ids, whole titles and headings; all else in it is prose."""
        for part in (value, *_SEPARATOR.split(value)):
            bare = _DONE.sub("", _NOTE.sub("", part.strip().rstrip(".")))
            found = self._exact(_stripped(bare))
            below = self._below(bare)
            if len(found) == 1:
                yield found[0]
            elif below:
                yield below
            if part is value and (len(found) == 1 or below):
                return

    def _known(self, word: str) -> int | TaskElsewhere | None:
        index = self._by_id.get(word.casefold())
        return self._of_project(word) if index is None else index

    def _of_project(self, name: str) -> int | TaskElsewhere | None:
        """The task of `project:ID`; one of this very project where that is its name."""
        found = _ELSEWHERE.fullmatch(name) if self._projects else None
        project = self._projects.get(found["project"].casefold()) if found else None
        if found is None or project is None:
            return None
        return TaskElsewhere(project=project, id=found["id"]) if project else self._by_id.get(found["id"].casefold())

    def _one(self, part: str) -> int | Below | TaskElsewhere | Unresolved:
        name = _stripped(part)
        for bare in dict.fromkeys((name, _NOTE.sub("", name))):
            if exact := self._exact(bare):
                return self._single(name, exact)
            if below := self._below(bare) or self._between(bare):
                return below
        if (elsewhere := self._of_project(name)) is not None:
            return elsewhere
        issue = _ISSUE.fullmatch(part.strip()) is not None
        matches = self._by_start(part.strip()) if issue else []
        matches = matches or self._by_id_and_more(name) or ([] if issue else self._by_start(_folded(name)))
        if not matches:
            headings = tuple(" / ".join(place) for place in self._headings(name))
            return Unresolved(part.strip() if issue else name, headings, issue)
        return self._single(name, matches)

    def _single(self, name: str, matches: list[int]) -> int | Unresolved:
        if len(matches) == 1:
            return matches[0]
        return Unresolved(name, tuple(self._names[index].id for index in sorted(matches)))

    def _exact(self, name: str) -> list[int]:
        by_id = self._by_id.get(name.casefold())
        return self._by_title.get(_folded(name), []) if by_id is None else [by_id]

    def _below(self, name: str) -> Below | None:
        """All tasks below the one heading that goes by this name, or below all phases of this number."""
        places = self._headings(name)
        if not places or (len(places) > 1 and not _PHASES.match(_stripped(name))):
            return None
        return Below(tuple(sorted({index for place in places for index in self._members[place]})))

    def _headings(self, name: str) -> list[tuple[str, ...]]:
        """The headings that go by a name, if there are some higher than others then those."""
        found = next(filter(None, (self._by_heading.get(one) for one in called(_stripped(name)))), [])
        highest = min(map(len, found), default=0)
        return [place for place in found if len(place) == highest]

    def _between(self, name: str) -> Below | None:
        """All tasks from one id to another that stands after it: `1.1 - 1.4`, `T001–T003`."""
        for found in _RANGE.finditer(name):
            ends = [_stripped(end).casefold() for end in (name[: found.start()], name[found.end() :])]
            first, last = map(self._by_id.get, ends)
            alike = len({_DIGITS.sub("0", end) for end in ends}) == 1
            if alike and first is not None and last is not None and first < last:
                return Below(tuple(range(first, last + 1)))
        return None

    def _by_id_and_more(self, name: str) -> list[int]:
        """The task of `1.1 Its title` or of `1.1 - a remark`; what else goes on after an id is not guessed at."""
        written, title = split_id(name, series="SDRBK")
        by_id = self._by_id.get(written.casefold())
        if by_id is not None and _folded(self._names[by_id].title).startswith(_folded(title)):
            return [by_id]
        remarked = self._by_id.get(_REMARK.sub("", name).casefold())
        return [] if remarked is None else [remarked]

    def _by_start(self, start: str) -> list[int]:
        """The tasks whose title starts with these words, else those that start with these letters."""
        letters: list[int] = []
        words: list[int] = []
        position = bisect_left(self._titles, start) if start else len(self._titles)
        for title in takewhile(lambda title: title.startswith(start), islice(self._titles, position, None)):
            letters += self._by_title[title]
            if not title[len(start) : len(start) + 1].isalnum():
                words += self._by_title[title]
            if len(words) > _SHOWN or len(letters) > _LOOKED_AT:
                break
        return words or letters

    @cached_property
    def _by_title(self) -> dict[str, list[int]]:
        by_title: dict[str, list[int]] = {}
        for index, named in enumerate(self._names):
            by_title.setdefault(_folded(named.title), []).append(index)
        return by_title

    @cached_property
    def _titles(self) -> list[str]:
        return sorted(self._by_title)

    @cached_property
    def _members(self) -> dict[tuple[str, ...], list[int]]:
        """The top-level tasks below each heading, which is known by its words and those above it."""
        members: dict[tuple[str, ...], list[int]] = {}
        for index, named in enumerate(self._names):
            for depth in range(1, len(named.above) + 1):
                members.setdefault(named.above[:depth], []).append(index)
        return members

    @cached_property
    def _by_heading(self) -> dict[str, list[tuple[str, ...]]]:
        by_heading: dict[str, list[tuple[str, ...]]] = {}
        for place in self._members:
            for name in names_of(place[-1]):
                by_heading.setdefault(name, []).append(place)
        return by_heading


def _stripped(reference: str) -> str:
    bare = unlinked(plain(reference)).strip().rstrip(".")
    while len(bare) > 1 and bare[0] + bare[-1] in _QUOTES and (bare[0] == "[" or bare[0] not in bare[1:-1]):
        bare = bare[1:-1].strip()
    bare = bare.strip("\"'“”")
    return _NOISE.sub("", bare.strip("`") if bare.count("`") % 2 else bare).strip()


def _folded(title: str) -> str:
    return " ".join(unmarked(title).casefold().split())
