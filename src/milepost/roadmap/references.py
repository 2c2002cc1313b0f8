"""What a dependency names: a task by its id, its title, or the start of its title; one elsewhere as `project:ID`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from milepost.core.task import TaskElsewhere
from milepost.roadmap.ids import split_id
from milepost.roadmap.titles import plain

_SEPARATOR = re.compile(r"\s*[,;&]\s*|\s+and\s+", re.IGNORECASE)
_NOISE = re.compile(r"^(?:tasks?\s+)?#?(?=\S)", re.IGNORECASE)
_NOTE = re.compile(r"\s\([^()]*\)$")
_ELSEWHERE = re.compile(r"(?P<project>\S(?:.*\S)?)(?::\s*|/)(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{0,63})")
_SHOWN = 4
# A start that so many titles share names none of them.
_LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a task may be called in a dependency."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that names nobody, or several."""

    reference: str
    candidates: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.candidates:
            return f"{self.reference!r}, and no task has this id or title"
        more = ", …" if len(self.candidates) > _SHOWN else ""
        return f"{self.reference!r}, which could be any of {', '.join(self.candidates[:_SHOWN])}{more}"


class References:
    """Finds tasks by what a dependency calls them; the answer is a position in `names`, or a task of `projects`."""

    def __init__(self, names: Sequence[Named], projects: Mapping[str, str] | None = None) -> None:
        self._names = names
        self._projects = projects or {}
        self._by_id = {named.id.casefold(): index for index, named in enumerate(names)}
        self._by_title: dict[str, list[int]] = {}
        for index, named in enumerate(names):
            self._by_title.setdefault(_folded(named.title), []).append(index)
        self._titles = sorted(self._by_title)

    def resolve(self, value: str) -> Iterator[int | TaskElsewhere | Unresolved]:
        """Each task that `value` names: all of it as one id or title, else its parts between commas."""
        whole = self._exact(_stripped(value))
        if len(whole) == 1:
            yield whole[0]
            return
        for part in filter(None, _SEPARATOR.split(value)):
            known = [self._known(_stripped(word)) for word in part.split()]
            if all(one is not None for one in known):
                yield from (one for one in known if one is not None)
            else:
                yield self._one(_stripped(part))

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

    def _one(self, name: str) -> int | TaskElsewhere | Unresolved:
        matches = self._exact(name) or self._exact(_NOTE.sub("", name)) or self._by_id_and_title(name)
        if not matches and (found := self._of_project(name)) is not None:
            return found
        matches = matches or self._by_start(_folded(name))
        if len(matches) == 1:
            return matches[0]
        return Unresolved(name, tuple(self._names[index].id for index in sorted(matches)))

    def _exact(self, name: str) -> list[int]:
        by_id = self._by_id.get(name.casefold())
        return self._by_title.get(_folded(name), []) if by_id is None else [by_id]

    def _by_id_and_title(self, name: str) -> list[int]:
        """The task of `1.1 Its title`; what goes on otherwise after an id, such as a range, is not guessed at."""
        written, title = split_id(name)
        by_id = self._by_id.get(written.casefold())
        if by_id is None or not _folded(self._names[by_id].title).startswith(_folded(title)):
            return []
        return [by_id]

    def _by_start(self, start: str) -> list[int]:
        """The tasks whose title starts with these words, else those that start with these letters."""
        letters: list[int] = []
        words: list[int] = []
        position = bisect_left(self._titles, start) if start else len(self._titles)
        for title in takewhile(lambda title: title.startswith(start), islice(self._titles, position, None)):
            letters += self._by_title[title]
            if not title[len(start)].isalnum():
                words += self._by_title[title]
            if len(words) > _SHOWN or len(letters) > _LOOKED_AT:
                break
        return words or letters


def _stripped(reference: str) -> str:
    bare = plain(reference).strip().strip("`\"'“”").rstrip(".")
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
    return _NOISE.sub("", bare).strip("`").strip()


def _folded(title: str) -> str:
    return " ".join(title.casefold().split())
