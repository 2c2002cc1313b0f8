"""What a task mentions: files of the repository, and names that code may have."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from milepost.core.task import Task

SURELY, PERHAPS = 1.0, 0.02
MOST_FILES = 50

_TICKS = re.compile(r"`+")
_NAME = re.compile(r"[^\W\d]\w*")
_COMPOUND = re.compile(r"_\w|[a-z][A-Z]|[A-Z]{2,}[a-z]|\w\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """`files` are there, `missing` are not yet; `names` have a weight: whether they surely are names of code."""

    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    names: Mapping[str, float] = field(default_factory=dict)


def mentions_in(task: Task, paths: Collection[str]) -> Mentions:
    """What a task with its subtasks mentions, where the repository has these files."""
    known = _Paths(paths)
    named = dict.fromkeys(file for part in task.walk() for file in part.files)
    told = dict.fromkeys(word for part in task.walk() for word in _path_words(part))
    files = dict.fromkeys(found for word in (*named, *told) for found in known.meant(word))
    missing = tuple(word for word in named if not known.meant(word) and not known.folder(word))
    folders = dict.fromkeys(filter(None, map(known.folder, (*named, *told))))
    return Mentions(
        files=tuple(files)[:MOST_FILES], missing=missing[:MOST_FILES], folders=tuple(folders), names=_names(task)
    )


class _Paths:
    """The files of a repository by the ways in which people write them."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = frozenset(paths)
        self._folders = frozenset(above for path in self._paths for above in _above(path))
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def meant(self, word: str) -> tuple[str, ...]:
        """The files that a word means: that path, those of a pattern, or the only one that ends so."""
        word = _plain(word)
        if word in self._paths:
            return (word,)
        if "*" in word:
            return tuple(path for path in sorted(self._paths) if fnmatchcase(path, word))
        if "." not in word and "/" not in word:
            return ()
        ending = [path for path in self._by_name.get(word.rpartition("/")[2], ()) if f"/{path}".endswith(f"/{word}")]
        return tuple(ending) if len(ending) == 1 else ()

    def folder(self, word: str) -> str:
        plain = _plain(word).rstrip("/")
        return plain if plain in self._folders else ""


def _plain(word: str) -> str:
    return word.strip().removeprefix("./")


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _path_words(task: Task) -> Iterator[str]:
    """Words of a task that may be paths: between back-ticks, and in the commands that verify it."""
    for text in (task.title, task.text):
        for span in _spans(text):
            yield from re.split(r"[\s\"'(),]+", span)
    for command in task.verify:
        try:
            words = shlex.split(command)
        except ValueError:
            words = command.split()
        yield from (word.partition("::")[0] for word in words)


def _spans(text: str) -> Iterator[str]:
    """What stands between back-ticks and as many of them again; in a time that grows with the text alone."""
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(text)]
    ends: dict[int, list[int]] = {}
    for start, end in reversed(runs):
        ends.setdefault(end - start, []).append(start)
    after = 0
    for start, end in runs:
        waiting = ends[end - start]
        while waiting and waiting[-1] < max(end, after):
            waiting.pop()
        if start >= after and waiting:
            yield text[end : waiting[-1]]
            after = waiting[-1] + end - start


def _names(task: Task) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in task.walk():
        for text in (part.title, part.text):
            spans = " ".join(_spans(text))
            found |= dict.fromkeys((name for name in _NAME.findall(spans) if len(name) > 1), SURELY)
            for name in _NAME.findall(text):
                if len(name) > 3:
                    found.setdefault(name, SURELY if _COMPOUND.search(name) else PERHAPS)
    return found
