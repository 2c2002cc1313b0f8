"""What can be found, as it is kept in the cache: entries with their words and signatures."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from milepost.memory.recall.words import USUAL, spread

EntryKind = Literal["episode", "lesson"]
VERSION = 1
USUAL_WEIGHT = 0.15
PAST = ("quarantined", "retired")  # the states in which a lesson is never shown

_TOKENIZE = "tokenize='porter unicode61 remove_diacritics 2'"
_SCHEMA = f"""
    pragma user_version = {VERSION};
    create table entries (
        key integer primary key, kind text not null, id text not null, project text not null, row integer not null,
        at real not null, outcome text not null, title text not null, text text not null, sort text not null,
        subject text not null, scope text not null, task text not null, terms text not null, unique (kind, id));
    create index entries_by_subject on entries (sort, subject) where subject <> '';
    create index entries_by_project on entries (kind, project);
    create table signatures (signature text not null, key integer not null, primary key (signature, key)) without rowid;
    create index signatures_by_key on signatures (key);
    create table vectors (key integer primary key, vector blob not null);
    create table marks (source text primary key, row integer not null, id text not null);
    create virtual table episode_words using fts5 (head, body, names, errors, scope, {_TOKENIZE});
    create virtual table lesson_words using fts5 (head, body, names, errors, scope, {_TOKENIZE});
    create table terms (term text primary key, lessons integer not null) without rowid;
"""
_SCRATCH = f"""
    pragma temp_store = memory;
    create virtual table if not exists temp.scratch using fts5 (words, content='', {_TOKENIZE});
    create virtual table if not exists temp.scratch_terms using fts5vocab (temp, scratch, row);
"""
_COLUMNS = "key, kind, id, project, at, outcome, title, text, sort, subject, scope, task, terms"
# Of head, body, names, errors and scope: how much a word in each of them counts.
_RANK = "bm25({table}, 2.0, 1.0, 1.5, 1.5, 0.0)"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDocument:
    """An episode or a lesson as it is put into the index; `row` is where the memory has it."""

    kind: EntryKind
    id: str
    project: str
    row: int
    at: float
    outcome: str
    title: str
    body: str
    names: str = ""
    errors: str = ""
    signatures: tuple[str, ...] = ()
    sort: str = ""
    subject: str = ""
    scope: str = ""
    task: str = ""
    terms: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """An episode or a lesson as it is found. `outcome` is how an episode ended, or the state of a lesson."""

    key: int
    kind: EntryKind
    id: str
    project: str
    at: float
    outcome: str
    title: str
    text: str
    sort: str
    subject: str
    scope: str
    task: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which entries are meant: of one kind, of a project, or of all but it, or of any; only such as may be shown."""

    kind: EntryKind
    project: str = ""
    elsewhere: bool = False
    live: bool = False


class Entries:
    """The tables of the cache, made where they are missing."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        if db.execute("pragma user_version").fetchone()[0] != VERSION:
            self._make()
        db.executescript(_SCRATCH)
        self._usual = self.stems(" ".join(USUAL))

    def clear(self) -> None:
        """Forget all, to be told it again."""
        for table in ("entries", "signatures", "vectors", "marks", "terms", "episode_words", "lesson_words"):
            self.db.execute(f"delete from {table}")  # noqa: S608 - our names

    def add(self, document: IndexedDocument) -> None:
        """Put a document into the index, in the place of what is known of it."""
        self.remove(document.id, document.kind)
        terms = self.stems(document.terms)
        key = self.db.execute(
            "insert into entries (kind, id, project, row, at, outcome, title, text, sort, subject, scope, task, terms)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(document.kind, document.id, document.project, document.row, document.at, document.outcome),
                *(document.title, document.body if document.kind == "lesson" else "", document.sort),
                *(document.subject, document.scope, document.task, " ".join(sorted(terms))),
            ),
        ).lastrowid
        self.db.execute(
            f"insert into {document.kind}_words (rowid, head, body, names, errors, scope) values (?, ?, ?, ?, ?, ?)",  # noqa: S608 - our names
            (
                *(key, spread(f"{document.title} {document.terms}"), spread(document.body), spread(document.names)),
                *(spread(document.errors), _scope(document.project, document.outcome)),
            ),
        )
        self._count(terms, 1)
        self.db.executemany(
            "insert or ignore into signatures values (?, ?)", [(each, key) for each in document.signatures if each]
        )

    def remove(self, name: str, kind: EntryKind | None = None) -> None:
        """Take out what has this id."""
        sql = "select key, terms from entries where kind = ? and id = ?"
        for each in (kind,) if kind else ("episode", "lesson"):
            for key, terms in self.db.execute(sql, (each, name)).fetchall():
                self._count(terms.split(), -1)
                self.db.execute(f"delete from {each}_words where rowid = ?", (key,))  # noqa: S608 - our names
                for table in ("signatures", "vectors", "entries"):
                    self.db.execute(f"delete from {table} where key = ?", (key,))  # noqa: S608 - our names

    def restate(self, lesson: str, state: str) -> None:
        """Have a lesson in another state."""
        found = self.db.execute(
            "select key, project from entries where kind = 'lesson' and id = ?", (lesson,)
        ).fetchone()
        if found:
            live = "live" if state not in ("quarantined", "retired") else "past"
            self.db.execute("update entries set outcome = ? where key = ?", (state, found[0]))
            sql = "update lesson_words set scope = ? where rowid = ?"
            self.db.execute(sql, (f"{_mark(found[1])} {live}", found[0]))

    def mark(self, source: str) -> tuple[int, str]:
        """How far a table of the memory was read: the row and its id."""
        found = self.db.execute("select row, id from marks where source = ?", (source,)).fetchone()
        return (int(found[0]), str(found[1])) if found else (0, "")

    def set_mark(self, source: str, row: int, name: str) -> None:
        self.db.execute("insert or replace into marks values (?, ?, ?)", (source, row, name))

    def stamp(self) -> object:
        """Another one whenever something was put in or taken out."""
        return self.db.execute("select source, row, id from marks order by source").fetchall()

    def newest(self, kind: EntryKind) -> tuple[int, str]:
        """The last row of the memory that is in the index, and its id."""
        found = self.db.execute(
            "select row, id from entries where kind = ? order by row desc limit 1", (kind,)
        ).fetchone()
        return (int(found[0]), str(found[1])) if found else (0, "")

    def count(self, kind: EntryKind, project: str = "") -> int:
        clause, values = (" and project = ?", (kind, project)) if project else ("", (kind,))
        return int(self.db.execute(f"select count(*) from entries where kind = ?{clause}", values).fetchone()[0])  # noqa: S608

    def by_words(self, words: Sequence[str], where: Where, most: int) -> list[tuple[IndexEntry, float]]:
        """Those that have any of the words, best first, with how well they fit."""
        if not words:
            return []
        table = f"{where.kind}_words"
        sql = f"select rowid, -{_RANK.format(table=table)} as fit from {table} where {table} match ? order by fit desc limit ?"  # noqa: S608, E501 - our names
        fits = {int(key): float(fit) for key, fit in self.db.execute(sql, (_expression(words, where), most))}
        return [(entry, fits[entry.key]) for entry in self.entries(fits)]

    def by_signature(self, signature: str, where: Where, most: int) -> list[IndexEntry]:
        """Those with exactly this signature, newest first."""
        keys = "select key from signatures where signature = ?"
        clauses = {False: "project = ?", True: "project <> ?"}[where.elsewhere] if where.project else "? = ''"
        live = "and outcome not in ('quarantined', 'retired')" if where.live else ""
        sql = f"select {_COLUMNS} from entries where key in ({keys}) and kind = ? and {clauses} {live} order by at desc limit ?"  # noqa: S608, E501 - our names
        return [_entry(row) for row in self.db.execute(sql, (signature, where.kind, where.project, most))]

    def rivals(self, lesson: IndexEntry) -> list[IndexEntry]:
        """The lessons that say something else about the same thing, and may be shown."""
        if not lesson.subject:
            return []
        sql = f"select {_COLUMNS} from entries where sort = ? and subject = ? and subject <> ''"  # noqa: S608 - our names
        found = (_entry(row) for row in self.db.execute(sql, (lesson.sort, lesson.subject)))
        return [each for each in found if each.text != lesson.text and each.outcome not in PAST]

    def entries(self, keys: Iterable[int]) -> list[IndexEntry]:
        """The entries of these keys, in this order."""
        wanted = list(keys)
        sql = f"select {_COLUMNS} from entries where key in ({_signs(wanted)})"  # noqa: S608 - our names
        found = {entry.key: entry for entry in map(_entry, self.db.execute(sql, wanted))}
        return [found[key] for key in wanted if key in found]

    def stems(self, text: str) -> frozenset[str]:
        """The words of a text as the index compares them."""
        if not text.strip():
            return frozenset()
        self.db.execute("insert into temp.scratch (rowid, words) values (1, ?)", (spread(text),))
        found = frozenset(term for (term,) in self.db.execute("select term from temp.scratch_terms"))
        self.db.execute("insert into temp.scratch (scratch) values ('delete-all')")
        return found

    def weights(self, stems: Iterable[str]) -> dict[str, float]:
        """How much each word tells of a lesson: the rarer among lessons the more, little where all tasks say it."""
        wanted, lessons = list(stems), self.count("lesson")
        sql = f"select term, lessons from terms where term in ({_signs(wanted)})"  # noqa: S608 - only signs
        counts = dict(self.db.execute(sql, wanted).fetchall())
        rarity = {stem: math.log(1 + (lessons + 1) / (counts.get(stem, 0) + 0.5)) for stem in wanted}
        return {stem: rare * (USUAL_WEIGHT if stem in self._usual else 1.0) for stem, rare in rarity.items()}

    def _count(self, terms: Iterable[str], change: int) -> None:
        sql = "insert into terms values (?, ?) on conflict (term) do update set lessons = lessons + excluded.lessons"
        self.db.executemany(sql, [(term, change) for term in terms])

    def _make(self) -> None:
        names = "select name from sqlite_master where type = 'table' and name not like '%\\_words\\_%' escape '\\'"
        self.db.execute("begin immediate")
        try:
            if self.db.execute("pragma user_version").fetchone()[0] != VERSION:
                for (name,) in self.db.execute(names).fetchall():
                    if not name.startswith("sqlite_"):
                        self.db.execute(f"drop table if exists {name}")
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    self.db.execute(statement)
            self.db.execute("commit")
        except BaseException:
            self.db.execute("rollback")
            raise


def _signs(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _expression(words: Sequence[str], where: Where) -> str:
    """What FTS5 is asked; words were made of letters and digits alone, so that nothing in them is an operator."""
    wanted = "{head body names errors} : (" + " OR ".join(f'"{word}"' for word in words) + ")"
    if where.live:
        wanted = f"(scope : live) AND ({wanted})"
    if not where.project:
        return wanted
    mark = f"(scope : {_mark(where.project)})"
    return f"({wanted}) NOT {mark}" if where.elsewhere else f"{mark} AND ({wanted})"


def _scope(project: str, outcome: str) -> str:
    return f"{_mark(project)} {'past' if outcome in PAST else 'live'}"


def _mark(project: str) -> str:
    """A project as one word that no stemmer changes."""
    return "p" + str(int(hashlib.sha256(project.encode("utf-8", "backslashreplace")).hexdigest()[:15], 16))


def _entry(row: sqlite3.Row | tuple[object, ...]) -> IndexEntry:
    key, kind, name, project, at, outcome, title, text, sort, subject, scope, task, terms = row
    return IndexEntry(
        key=int(str(key)),
        kind="lesson" if kind == "lesson" else "episode",
        id=str(name),
        project=str(project),
        at=float(str(at)),
        outcome=str(outcome),
        title=str(title),
        text=str(text),
        sort=str(sort),
        subject=str(subject),
        scope=str(scope),
        task=str(task),
        terms=frozenset(str(terms).split()),
    )
