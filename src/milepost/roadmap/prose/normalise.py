"""Prose as tasks: each one that a model found is held against the line that it says to come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from milepost.core.task import Task, TaskStatus
from milepost.roadmap.prose.answers import FoundItem
from milepost.roadmap.reading.cycles import Circle, without_circles
from milepost.roadmap.writing.safe_words import tame_title, tamed

NEAR = 2  # lines around the one that is named in which the quoted words may stand
TELLING = 8  # letters that a quotation needs, unless the line has fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """A task and the line of the document that it comes from, counted from 1; `after` are places in the same list."""

    title: str
    text: str
    status: TaskStatus
    line: int
    said: str
    files: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    after: tuple[int, ...] = ()


def numbered(lines: Sequence[str]) -> str:
    """The document with the number of each line before it."""
    width = len(str(len(lines)))
    return "\n".join(f"{number:>{width}}| {line}".rstrip() for number, line in enumerate(lines, start=1))


class ProseDocument:
    """The lines of a document, asked whether it says what somebody claims that it says."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._letters = [_letters(line) for line in lines]
        self._all = " ".join(" ".join(lines).split())

    def objections(self, items: Sequence[FoundItem]) -> tuple[str, ...]:
        """What of the items cannot be, in words for whoever claimed it."""
        return tuple(objection for _, objection in self._judged(items)[1])

    def anchored(self, items: Sequence[FoundItem]) -> tuple[tuple[Anchored, ...], tuple[str, ...]]:
        """The items that are in the document, in its order, without what is not; and what was left out."""
        kept, objections = self._judged(items)
        order = sorted(kept, key=lambda number: kept[number].line)
        places = {number: place for place, number in enumerate(order)}
        found = (replace(kept[number], after=tuple(places[one] for one in kept[number].after)) for number in order)
        return tuple(found), tuple(objection for _, objection in objections)

    def _judged(self, items: Sequence[FoundItem]) -> tuple[dict[int, Anchored], list[tuple[int, str]]]:
        """The items that stay, by their numbers, and what is objected to, by the number of its item."""
        objections: list[tuple[int, str]] = []
        lines: dict[int, int] = {}
        for number, item in enumerate(items, start=1):
            line = self._line_of(item)
            twin = next((one for one in lines if _is_same(items[one - 1], item)), None)
            if isinstance(line, str):
                objections.append((number, f"item {number} ({tame_title(item.title)!r:.60}): {line}"))
            elif twin is not None:
                objections.append((number, f"item {number} is the same as item {twin}"))
            else:
                lines[number] = line
        waits: dict[int, tuple[int, ...]] = {}
        for number in lines:
            found, wrong = _waits(number, items, lines)
            waits[number] = found
            objections += [(number, one) for one in (*wrong, *self._unstated(number, items[number - 1]))]
        waits, circles = without_circles(waits)
        objections += [(circle.start, _in_words(circle)) for circle in circles]
        kept = {number: self._item(items[number - 1], line, waits[number]) for number, line in lines.items()}
        return kept, sorted(objections)

    def _line_of(self, item: FoundItem) -> int | str:
        """The line that an item comes from, or why it comes from none."""
        given, quoted = item.source_line, _letters(item.source_words)
        if given > len(self.lines):
            return f"there is no line {given}: the document has {len(self.lines)}"
        near = sorted(
            range(max(1, given - NEAR), min(len(self.lines), given + NEAR) + 1), key=lambda at: abs(at - given)
        )
        if len(quoted) < min(TELLING, max(len(self._letters[at - 1]) for at in near) or 1):
            return f"{item.source_words!r:.60} is too short to identify a line"
        if alone := next((at for at in near if quoted in self._letters[at - 1]), None):
            return alone
        if quoted in "".join(self._letters[at - 1] for at in sorted(near)):
            return next(at for at in near if self._letters[at - 1])
        elsewhere = next((at for at, line in enumerate(self._letters, start=1) if quoted in line), None)
        hint = f"; line {elsewhere} does" if elsewhere else ", nor does any other line"
        return f"line {given} does not say {item.source_words!r:.60}{hint}"

    def _unstated(self, number: int, item: FoundItem) -> Iterator[str]:
        for command in item.verify:
            if not self._states(command):
                yield f"item {number}: the document does not state the command {command!r:.80}"
        for path in item.files:
            if not self._names(path):
                yield f"item {number}: the document does not name the file {path!r:.80}"

    def _states(self, command: str) -> bool:
        return " ".join(command.removeprefix("$").split()) in self._all

    def _names(self, path: str) -> bool:
        given = PurePosixPath(path)
        return not given.is_absolute() and ".." not in given.parts and given.name != "" and given.name in self._all

    def _item(self, item: FoundItem, line: int, after: tuple[int, ...]) -> Anchored:
        told = "" if _letters(item.description) == _letters(item.title) else item.description
        fit = tamed(
            Task(
                id="1.1",
                title=item.title,
                status=item.status,
                line=line,
                text=told,
                files=tuple(dict.fromkeys(path for path in item.files if self._names(path))),
                verify=tuple(dict.fromkeys(one.removeprefix("$").strip() for one in item.verify if self._states(one))),
            )
        )
        return Anchored(
            title=fit.title,
            text=fit.text,
            status=fit.status,
            line=line,
            said=self.lines[line - 1].strip(),
            files=fit.files,
            verify=fit.verify,
            after=after,
        )


def _waits(number: int, items: Sequence[FoundItem], there: dict[int, int]) -> tuple[tuple[int, ...], list[str]]:
    """The items that one waits for, by number, and the references that lead nowhere."""
    by_title = {_letters(items[one - 1].title): one for one in there}
    found: dict[int, None] = {}
    wrong = []
    for reference in items[number - 1].depends_on:
        named = reference if isinstance(reference, int) or not reference.strip().isdecimal() else int(reference)
        other = named if isinstance(named, int) else by_title.get(_letters(named))
        if other not in there or other == number:
            what = "itself" if other == number else f"{reference!r:.60}, which is not an item"
            wrong.append(f"item {number} depends on {what}")
        elif other is not None:
            found[other] = None
    return tuple(found), wrong


def _is_same(one: FoundItem, other: FoundItem) -> bool:
    return one.source_line == other.source_line and _letters(one.title) == _letters(other.title)


def _in_words(circle: Circle[int]) -> str:
    return f"items {' → '.join(map(str, circle.path))} wait for each other"


def _letters(text: str) -> str:
    """What of a text is compared: its letters and digits, without case."""
    return "".join(re.findall(r"[^\W_]+", text.casefold()))
