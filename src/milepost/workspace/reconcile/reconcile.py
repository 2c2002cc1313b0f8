"""Both sides' changes of one file in one version, or nothing where that is not certain."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from milepost.workspace.reconcile.file_kind import Kind, Proposed, Spot
from milepost.workspace.reconcile.file_kinds import kind_of, whole_of
from milepost.workspace.reconcile.list_entries import Lines, ListEntry, ListReading, both, order_of
from milepost.workspace.reconcile.three_way import Contested, Settled, stretches

LARGEST = 2_000_000
LONGEST_LINE = 88  # of what is joined in one line, where the file has none that is longer
LONGEST_READ = 1_000  # of what is read as an entry: the patterns that read it may take the square of that
MOST_NEIGHBOURS = 500
_MARKERS = ("<<<<<<< ", ">>>>>>> ")


def reconcile(base: bytes, ours: bytes, theirs: bytes, path: str) -> bytes | None:
    """The file with what both sides added, ours first; None where both did more than that, or it would not parse."""
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    kind, whole = kind_of(path), whole_of(path)
    texts = _texts(base, ours, theirs)
    if texts is None or (kind is None and whole is None):
        return None
    newline = "\r\n" if any("\r" in text for text in texts) else "\n"
    texts = tuple(text.replace("\r\n", "\n") for text in texts)
    try:
        result = whole(*texts) if whole is not None else _merged(kind, path, *texts) if kind is not None else None
    except RecursionError:  # nested more deeply than anybody reads
        return None
    return None if result is None else result.replace("\n", newline).encode()


def _texts(*versions: bytes) -> tuple[str, ...] | None:
    """The versions as text; None for what is no text, too large, with markers of a merge, or with lines that end in
    different ways.
    """
    try:
        texts = tuple(version.decode("utf-8") for version in versions)
    except UnicodeDecodeError:
        return None
    endings = {_ending(text) for text in texts} - {""}
    strange = any("\0" in text or len(text) > LARGEST or _marked(text) for text in texts)
    return None if strange or len(endings) > 1 or "mixed" in endings else texts


def _ending(text: str) -> str:
    if "\r" not in text:
        return "\n" if "\n" in text else ""
    return "\r\n" if text.count("\r") == text.count("\r\n") == text.count("\n") else "mixed"


def _marked(text: str) -> bool:
    return any(line.startswith(_MARKERS) for line in text.split("\n"))


def _merged(kind: Kind, path: str, base: str, ours: str, theirs: str) -> str | None:
    pieces = stretches(_lines(base), _lines(ours), _lines(theirs))
    if pieces is None:
        return None
    done: list[str] = []
    spots: list[Spot] = []
    for number, piece in enumerate(pieces):
        if isinstance(piece, Settled):
            done += piece.lines
            continue
        after = _following(pieces[number + 1 :])
        found = next(filter(None, (_read(piece, reading, tuple(done), after) for reading in kind.readings)), None)
        if found is None:
            return None
        spots.append(replace(found, first=len(done) + 1))
        done += found.lines
    longest = max(LONGEST_LINE, *(len(line) for text in (ours, theirs) for line in text.split("\n")))
    if any(len(line) > longest for line in done):
        return None
    ends = ours.endswith("\n") if ours.endswith("\n") != base.endswith("\n") else theirs.endswith("\n")
    if _has_twice(done, base, ours, theirs, kind):
        return None
    result = "\n".join(done) + ("\n" if ends and done else "")
    proposed = Proposed(path=path, base=base, ours=ours, theirs=theirs, result=result, spots=tuple(spots))
    return result if kind.holds(proposed) else None


def _has_twice(done: list[str], base: str, ours: str, theirs: str, kind: Kind) -> bool:
    """Whether both sides added the same entry, each at another place."""
    was, mine, others = (Counter(_lines(text)) for text in (base, ours, theirs))
    shared = {line for line in mine.keys() & others.keys() if line not in was and line.strip()}
    now = Counter(line for line in done if line in shared)
    twice = (line for line in shared if now[line] > max(mine[line], others[line]))
    return any(_entries(reading, (line,)) for line in twice for reading in kind.readings)


def _lines(text: str) -> Lines:
    return tuple(text.removesuffix("\n").split("\n")) if text else ()


def _following(pieces: tuple[Settled | Contested, ...]) -> Lines:
    """The settled lines from here on, up to the next contested ones."""
    found: list[str] = []
    for piece in pieces:
        if isinstance(piece, Contested) or len(found) > MOST_NEIGHBOURS:
            break
        found += piece.lines
    return tuple(found)


def _read(contested: Contested, reading: ListReading, before: Lines, after: Lines) -> Spot | None:
    """A contested stretch as one, in one way to read it."""
    lead, sides, trail = _within_blanks(contested)
    base, ours, theirs = (_entries(reading, side) for side in sides)
    if base is None or ours is None or theirs is None:
        return None
    if len({_indent(entry) for side in (base, ours, theirs) for entry in side}) > 1:
        return None
    last_bare = False
    if reading.commas:
        bare = {_ends_bare(side, entries) for side, entries in zip(sides, (base, ours, theirs), strict=True) if side}
        if len(bare) != 1:
            return None
        last_bare = bare.pop()
    around = _neighbours(before[::-1], reading)[::-1], _neighbours(after, reading)
    order = None
    if len(base) + sum(map(len, around)) >= reading.seen and all(len(entry.lines) == 1 for entry in (*ours, *theirs)):
        order = order_of(reading, *((*around[0], *side, *around[1]) for side in (base, ours, theirs)))
    found = both(base, ours, theirs, order=order, apart=lead or trail)
    if found is None:
        return None
    lines = [line for entry in found for line in entry.lines]
    if last_bare and lines:
        lines[-1] = lines[-1].removesuffix(",")
    return Spot(first=0, lines=(*lead, *lines, *trail), reading=reading.name)


def _entries(reading: ListReading, lines: Lines) -> tuple[ListEntry, ...] | None:
    return None if any(len(line) > LONGEST_READ for line in lines) else reading.read(lines)


def _within_blanks(contested: Contested) -> tuple[Lines, tuple[Lines, Lines, Lines], Lines]:
    """The stretch without the blank lines that both sides begin and end it with, and these."""
    base, ours, theirs = contested.base, contested.ours, contested.theirs
    leading = min(_blanks(ours), _blanks(theirs))
    base, ours, theirs = base[min(_blanks(base), leading) :], ours[leading:], theirs[leading:]
    trailing = min(_blanks(ours[::-1]), _blanks(theirs[::-1]))
    base = base[: len(base) - min(_blanks(base[::-1]), trailing)]
    sides = base, ours[: len(ours) - trailing], theirs[: len(theirs) - trailing]
    return contested.ours[:leading], sides, contested.ours[len(contested.ours) - trailing :]


def _blanks(lines: Lines) -> int:
    return next((number for number, line in enumerate(lines) if line.strip()), len(lines))


def _indent(entry: ListEntry) -> str:
    line = next((line for line in entry.lines if line.strip()), "")
    return line[: len(line) - len(line.lstrip())]


def _ends_bare(side: Lines, entries: tuple[ListEntry, ...]) -> bool:
    """Whether the last entry does without its comma: read entries have theirs, so the lines then differ."""
    return bool(entries) and entries[-1].lines[-1] != side[-1]


def _neighbours(lines: Lines, reading: ListReading) -> tuple[ListEntry, ...]:
    """The entries next to a stretch, as far as there is one a line."""
    found: list[ListEntry] = []
    for line in lines[:MOST_NEIGHBOURS]:
        entries = _entries(reading, (line,)) if line.strip() else None
        if not entries:
            break
        found += entries
    return tuple(found)
