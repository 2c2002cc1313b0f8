"""Lines of an export as they come in: each is held against what this program could have written, then added.

A file of somebody else is not believed. What it calls verified nobody verified here, its lessons begin as candidates
without anything to support them, and everything gets an id of its own, so that nothing in it can take the place of
what happens here. One that is trusted, as one's own backup, is taken as it was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from milepost.core.errors import ExportRefused
from milepost.core.memories import Assessment, EpisodeStart, Lesson
from milepost.memory.store.as_json import dump, load
from milepost.memory.store.columns import EndedEpisode
from milepost.memory.store.lessons import LessonBook
from milepost.memory.store.rows import Rows, digest_of
from milepost.memory.store.schema import KEYS, VERSION
from milepost.memory.sync.admission import admissible
from milepost.memory.sync.tables import COLUMNS, Line
from milepost.memory.transfer.export import FORMAT
from milepost.memory.transfer.import_filter import Sieve, digest_here, is_said
from milepost.memory.transfer.imported_names import IMPORT, imported_lesson, imported_name
from milepost.memory.transfer.trusted_import import KINDS, replace_copy
from milepost.store.dialect import LONGEST_KEY

LONGEST_LINE = 32_000_000  # bytes; an episode is bounded far below
MOST_LINES = 5_000_000
CUT = "nothing was imported; export it again: milepost memory export FILE"
BATCH = 200  # rows that are added as one: a run that is on waits no longer than for these

# Which rows must be there before a row: the column that names it, and the table it is in.
PARENTS = {
    "memory_steps": (("episode", "memory_episodes"),),
    "memory_endings": (("episode", "memory_episodes"),),
    "memory_supports": (("lesson", "memory_lessons"),),
    "memory_states": (("lesson", "memory_lessons"),),
    "memory_showings": (("lesson", "memory_lessons"),),
    "memory_votes": (("lesson", "memory_lessons"),),
}
Judge = Callable[[Lesson], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of a file: rows that were added, were there already, differ from what is here, or were left out.

    `forgotten` are episodes and lessons that were forgotten here; `for_trust` rows that only a trusted file may add;
    `now_trusted` episodes and lessons that were here without trust, and now are as the file has them.
    """

    project: str
    added: dict[str, int] = field(default_factory=dict)
    known: int = 0
    diverged: int = 0
    forgotten: int = 0
    for_trust: int = 0
    now_trusted: int = 0
    quarantined: tuple[tuple[str, str], ...] = ()


def checked(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The header as ("", header), then each row with its table; raises with the number of the first bad line."""
    seen: dict[str, set[tuple[Any, ...]]] = {table: set() for table in COLUMNS}
    header, counted, last = False, 0, None
    for number, raw in enumerate(lines, 1):
        if number > MOST_LINES:
            raise _refused(number, f"there are more than {MOST_LINES:,} lines")
        if not raw.strip():
            continue
        value = _read(number, raw)
        if not header:
            header = True
            yield "", _header(number, value)
            continue
        if last is not None:
            raise _refused(number, "it comes after the last line")
        if value.keys() == {"rows"}:
            last = value["rows"]
            continue
        table, row = value.get("table"), value.get("row")
        if value.keys() != {"table", "row"} or not isinstance(table, str) or not isinstance(row, dict):
            raise _refused(number, "it is not a row")
        if flaw := admissible(table, row) or _out_of_place(table, row, seen):
            raise _refused(number, flaw)
        seen[table].add(tuple(row[name] for name in KEYS[table]))
        counted += 1
        yield table, row
    if not header:
        raise ExportRefused("the file is empty", "milepost memory export FILE writes one")
    if last is None:
        raise ExportRefused("the file is truncated: its last line is missing", CUT)
    if last != counted:
        raise ExportRefused(f"the file has {counted} rows, and should have {last}", CUT)


def take_in(rows: Rows, lines: Iterable[bytes], *, trusted: bool, judge: Judge) -> Imported:
    """Add the rows of lines that were all `checked` before; harmless when repeated, and goes on where it was cut off.

    `judge` says why a lesson is not to be trusted, or nothing; such a one is quarantined, in a backup, too.
    """
    found = checked(lines)
    project = next(found)[1]["project"]
    tally, suspects, sieve = Counter[str](), dict[str, str](), Sieve(rows, trusted=trusted)
    for batch in _batches(found):
        sifted = [(one, sieve.sift(*one)) for one in batch]
        tally.update(what for _, what in sifted if what != "news")
        wanted = [one if trusted else _as_somebody_elses(*one) for one, what in sifted if what == "news"]
        lessons = [load(Lesson, row["body"]) for table, row in wanted if table == "memory_lessons"]
        odd = {lesson.id: why for lesson in lessons if lesson.text and (why := judge(lesson))}
        add = partial(_add_trusted, rows, wanted) if trusted else partial(_add_theirs, rows, wanted, odd)
        tally.update(rows.together(add))
        suspects |= odd
    return Imported(
        project=project,
        added={table: tally[table] for table in COLUMNS if tally[table]},
        known=tally["known"],
        diverged=tally["diverged"],
        forgotten=tally["forgotten"],
        for_trust=tally["for trust"],
        now_trusted=tally["now trusted"],
        quarantined=tuple(_quarantined(rows, suspects)),
    )


def _quarantined(rows: Rows, suspects: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Have suspicious lessons shown to nobody, after all states that a file brings; gives those that are kept."""
    states = {one.lesson.id: one.state for one in LessonBook(rows).standings(lessons=suspects)}
    for lesson, state in states.items():
        if state in ("candidate", "active"):
            LessonBook(rows).move(lesson, "quarantined", suspects[lesson])
        if state != "retired":
            yield lesson, suspects[lesson]


def _add_trusted(rows: Rows, wanted: list[tuple[str, Line]]) -> list[str]:
    """What became of each row, as `_add` says it, and of each copy here whose place one took: `now trusted`."""
    came = [(_add(rows, table, row), table, row) for table, row in wanted]
    replaced = [replace_copy(rows, table, row) for what, table, row in came if what in (table, "known")]
    return [*(what for what, _, _ in came), *["now trusted"] * sum(replaced)]


def _add_theirs(rows: Rows, wanted: list[tuple[str, Line]], odd: Mapping[str, str]) -> list[str]:
    """What became of each row; lessons that come in get the state that they begin in, by why some of them are `odd`."""
    came = [_add(rows, table, row) for table, row in wanted]
    book = LessonBook(rows)
    for (table, row), what in zip(wanted, came, strict=True):
        if what == table == "memory_lessons":
            why = odd.get(row["id"], "")
            book.move(row["id"], "quarantined" if why else "candidate", why or "imported")
    return came


def _add(rows: Rows, table: str, row: Line) -> str:
    """What became of a row: the table that it was added to, `known`, `diverged` or `forgotten`."""
    if table == "memory_lessons" and row["source"].startswith(IMPORT) and is_said(rows, load(Lesson, row["body"])):
        return "known"
    if rows.add(table, {name: value for name, value in row.items() if name != "digest"}):
        return table
    digest = digest_here(rows, table, row)
    if not digest:
        return "forgotten" if table in KINDS else "about forgotten"
    return "known" if digest == row["digest"] else "diverged"


def _as_somebody_elses(table: str, row: Line) -> tuple[str, Line]:
    """A row as it is kept when others say so: under an id of its own, and with nothing verified."""
    if table == "memory_episodes":
        start = replace(load(EpisodeStart, row["body"]), id=imported_name(row["id"]), run="", owner=IMPORT)
        made = {**row, "id": start.id, "run": "", "owner": IMPORT, "body": dump(start)}
    elif table == "memory_endings":
        ended = load(EndedEpisode, row["body"])
        word = EndedEpisode(end=replace(ended.end, verdict=None), assessment=Assessment())
        made = {**row, "episode": imported_name(row["episode"]), "verdict": "", "reward": 0.0, "body": dump(word)}
    elif table == "memory_lessons":
        lesson = load(Lesson, row["body"])
        source = f"{IMPORT} {lesson.source.removeprefix(IMPORT).strip()}"
        ours = replace(lesson, id=imported_lesson(lesson), scope="user", source=source)
        made = {**row, "id": ours.id, "scope": ours.scope, "source": source, "body": dump(ours)}
    else:
        made = {**row, "episode": imported_name(row["episode"])}
    return table, {**made, "digest": digest_of(made)}


def _batches(found: Iterator[tuple[str, Line]]) -> Iterator[list[tuple[str, Line]]]:
    while batch := list(islice(found, BATCH)):
        yield batch


def _read(number: int, raw: bytes) -> dict[str, Any]:
    if len(raw) > LONGEST_LINE:
        raise _refused(number, f"it has more than {LONGEST_LINE:,} bytes")
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise _refused(number, "it is not JSON") from None
    if not isinstance(value, dict):
        raise _refused(number, "it is not a JSON object")
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _header(number: int, value: dict[str, Any]) -> dict[str, Any]:
    if value.keys() != {"format", "version", "project"} or value["format"] != FORMAT:
        raise _refused(number, "this is not an export of a memory")
    version, project = value["version"], value["project"]
    if not isinstance(version, int) or not isinstance(project, str) or len(project) > LONGEST_KEY:
        raise _refused(number, "this is not an export of a memory")
    if version != VERSION:
        which = "a newer" if version > VERSION else "an older"
        raise _refused(number, f"it was written by {which} version of milepost (format {version}, here {VERSION})")
    return value


def _out_of_place(table: str, row: Line, seen: dict[str, set[tuple[Any, ...]]]) -> str:
    """Why a row cannot stand where it does: it was there before, or what it belongs to was not."""
    if tuple(row[name] for name in KEYS[table]) in seen[table]:
        return "the same row appears in an earlier line"
    for name, parent in PARENTS.get(table, ()):
        if (row[name],) not in seen[parent]:
            return f"the {name} {row[name][:40]!r} that it belongs to is not in an earlier line"
    return ""


def _refused(number: int, why: str) -> ExportRefused:
    return ExportRefused(
        f"line {number}: {why}", "nothing was imported; milepost memory export FILE writes a complete one"
    )
