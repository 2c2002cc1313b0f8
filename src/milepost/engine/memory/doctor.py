"""What is wrong with a memory, or worth a look: suspicious lessons, contradictions, changed rows, unsynced ones."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from milepost.core.memories import Episode, LessonStanding
from milepost.engine.memory.browse import counted
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.memory.sync import unsynced
from milepost.engine.memory.values import MemoryFinding, Unsynced
from milepost.memory.lessons.distil.refusals import REFUSED
from milepost.memory.lessons.policy import contradictions
from milepost.memory.lessons.suspicious_lessons import doctor_findings
from milepost.memory.store.owners import is_gone
from milepost.memory.store.rows import Rows
from milepost.memory.store.schema import KEYS
from milepost.memory.sync.admission import admissible
from milepost.memory.sync.tables import COLUMNS
from milepost.memory.transfer.export import pages
from milepost.memory.transfer.imported_names import IMPORT
from milepost.store.database import Database

OLD_S = 3_600.0  # what waits longer for the primary is not on its way any more
MOST_ROWS = 20
SHORT = 12  # signs of an id that are enough for a command
FORGET_IT = "milepost memory forget deletes an episode or a lesson with all its rows"


def findings(opened: OpenedMemory) -> tuple[MemoryFinding, ...]:
    """All of it, what is wrong first."""
    standings = opened.stored.lessons.standings()
    found = (
        *suspects(standings),
        *contradicting(standings),
        *changed_rows(opened.stored.rows),
        *index_health(opened.home.index),
        *not_synced(unsynced(opened), time.time()),
        *(at_odds(opened.database) if opened.home.memory.primary else ()),
        *unended(opened.stored.journal.open(), counted(opened).episodes.get("interrupted", 0)),
        *imports(standings),
    )
    return tuple(sorted(found, key=lambda one: not one.wrong))


def suspects(standings: Iterable[LessonStanding]) -> Iterator[MemoryFinding]:
    """Lessons that nobody of us could have worded, and what was refused; wrong where somebody may be shown it."""
    found = {one.lesson.id: one for one in standings}
    for suspicion in doctor_findings(found.values()):
        standing = found[suspicion.lesson]
        refused = suspicion.what.startswith(REFUSED)
        imported = standing.lesson.source.startswith(IMPORT)
        if imported and not suspicion.what.startswith("its "):
            continue  # it is told below that it was imported, which says why nothing supports it
        yield MemoryFinding(
            kind="refused" if refused else "suspicious",
            what=suspicion.what,
            subject=f"lesson {suspicion.lesson}",
            source=suspicion.source,
            advice=suspicion.advice if refused else f"milepost memory forget {suspicion.lesson[:SHORT]}",
            wrong=not refused and standing.state in ("candidate", "active"),
        )


def contradicting(standings: Sequence[LessonStanding]) -> Iterator[MemoryFinding]:
    """Lessons about one thing that say different things, and may both be told."""
    about = {one.lesson.id: one.lesson for one in standings}
    for goes, stays in contradictions(standings):
        yield MemoryFinding(
            kind="contradiction",
            what=f"it contradicts lesson {stays[:SHORT]} about {about[goes].subject!r}",
            subject=f"lesson {goes}",
            source=about[goes].source,
            advice=f"milepost memory quarantine {goes[:SHORT]} --why TEXT; the other one was used later",
        )


def imports(standings: Iterable[LessonStanding]) -> Iterator[MemoryFinding]:
    """Lessons that came by a file: nobody verified them here."""
    came = [one.lesson for one in standings if one.lesson.source.startswith(IMPORT) and one.state != "quarantined"]
    if came:
        what = f"{len(came)} lessons" if len(came) > 1 else "a lesson"
        yield MemoryFinding(
            kind="imported",
            what=f"{what} came from an imported file; no episode here supports it, and attempts are not shown it",
            source=came[0].source if len(came) == 1 else "",
            advice="milepost memory list --state candidate",
            wrong=False,
        )


def not_synced(found: Unsynced, now: float) -> Iterator[MemoryFinding]:
    """What the primary was not told for long, what differs there, and why it does not answer."""
    if found.waiting:
        since = max(0.0, now - found.oldest_at) if found.oldest_at is not None else 0.0
        yield MemoryFinding(
            kind="sync",
            what=f"{found.waiting} rows not yet synced, the oldest for {since / 60:.0f} min",
            source=found.last_error,
            advice="milepost memory sync",
            wrong=since > OLD_S,
        )


def at_odds(database: Database) -> Iterator[MemoryFinding]:
    """Rows that differ from those of the primary, and rows from there that were not let in."""
    diverged = database.read("select name, id from memory_diverged order by at limit ?", MOST_ROWS)
    for table, name in diverged:
        yield MemoryFinding(
            kind="diverged",
            what="differs between this memory and the primary; neither was overwritten",
            subject=f"{table} {name}"[:200],
            advice=FORGET_IT,
        )
    sql = "select name, id, by_whom, why from memory_refused order by at limit ?"
    for table, name, by_whom, why in database.read(sql, MOST_ROWS):
        where = "was rejected when pulled from the primary" if by_whom == "here" else "was rejected by the primary"
        yield MemoryFinding(
            kind="refused",
            what=f"{where}: {why}",
            subject=f"{table} {name}"[:200],
            advice="check who writes to the primary",
            wrong=False,
        )


def unended(open_: Iterable[Episode], interrupted: int) -> Iterator[MemoryFinding]:
    """Episodes that nobody will end, and how many were ended for that reason before."""
    for one in open_:
        if is_gone(one.start.owner):
            yield MemoryFinding(
                kind="interrupted",
                what=f"{one.start.title!r} was never ended, and the process that started it is gone",
                subject=f"episode {one.id}",
                source=one.start.owner,
                advice="the next run or episode closes it as interrupted",
                wrong=False,
            )
    if interrupted:
        yield MemoryFinding(
            kind="interrupted",
            what=f"{interrupted} episodes were interrupted; no lessons are learnt from them",
            advice="milepost memory list --episodes --outcome interrupted",
            wrong=False,
        )


def changed_rows(rows: Rows) -> Iterator[MemoryFinding]:
    """Rows that this program did not write, or that were changed or damaged since."""
    found = 0
    for table in COLUMNS:
        for row in pages(rows, table):
            if flaw := admissible(table, row):
                found += 1
                if found <= MOST_ROWS:
                    which = ", ".join(str(row[name]) for name in KEYS[table])
                    yield MemoryFinding(kind="row", what=flaw, subject=f"{table} {which}"[:200], advice=FORGET_IT)
    if found > MOST_ROWS:
        yield MemoryFinding(kind="row", what=f"and {found - MOST_ROWS} more rows", advice=FORGET_IT)


def index_health(index: Path) -> Iterator[MemoryFinding]:
    """What is wrong with the cache that is searched; it can be made again at any time."""
    if not index.exists():
        return
    try:
        with closing(sqlite3.connect(_to_look_at(index), timeout=5, uri=True)) as database:
            ((said,),) = database.execute("pragma quick_check(1)").fetchall()
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        yield MemoryFinding(
            kind="index", what=f"the index is damaged: {said}", subject=index.name, advice="milepost memory rebuild"
        )


def _to_look_at(index: Path) -> str:
    """The address of an index, which may be in a folder where nobody can write what a reader needs beside it."""
    unchanging = "" if os.access(index.parent, os.W_OK) else "?mode=ro&immutable=1"
    return f"{index.absolute().as_uri()}{unchanging}"
