"""Tags that were read before, kept by the blob that they are of, which never changes.

They are in a file of their own in the state directory: when it is damaged or cannot be written, all of it is read anew
from git, and nothing else is lost.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.sources.tags import VERSION, Tags
from milepost.sources.tags_json import from_json, to_json
from milepost.store.sqlite import FileDatabase

FILE = "cache/tags.db"
MOST_ROWS = 50_000
MOST_IN_PROCESS = 20_000

_SCHEMA = "create table if not exists tags (name text primary key, body text not null);"
_KNOWN = "select name, body from tags where name in (select value from json_each(?))"
_DROP_OLDEST = "delete from tags where rowid <= (select max(rowid) from tags) - ?"


def key_of(grammar: str, blob: str) -> str:
    """The name of a blob's tags: other grammars, and other versions of what is read, make others of it."""
    return f"{VERSION} {grammar} {blob}"


class TagCache:
    """Keeps tags in this process and, where there is a state directory, for the next one."""

    def __init__(self, state: Path | None = None, *, most_rows: int = MOST_ROWS) -> None:
        self._file = state / FILE if state is not None else None
        self._most_rows = most_rows
        self._here: dict[str, Tags] = {}
        self._db: FileDatabase | None = None
        self._lock = threading.Lock()

    def known(self, keys: Collection[str]) -> dict[str, Tags]:
        """The tags that are kept, of those asked for."""
        with self._lock:
            missing = [key for key in keys if key not in self._here]
            self._remember(dict(self._stored(missing)) if missing else {})
            return {key: self._here[key] for key in keys if key in self._here}

    def keep(self, tags: Mapping[str, Tags]) -> None:
        """Keep tags; what cannot be written is read anew by the next process."""
        with self._lock:
            self._remember(tags)
            database = self._opened() if tags else None
            if database is None:
                return
            try:
                with database.alone("tags"):
                    for key, one in tags.items():
                        database.write("insert into tags values (?, ?) on conflict do nothing", key, to_json(one))
                    database.write(_DROP_OLDEST, self._most_rows)
            except StateUnwritable:
                self._throw_away()

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
            self._db, self._file = None, None

    def _remember(self, tags: Mapping[str, Tags]) -> None:
        if len(self._here) + len(tags) > MOST_IN_PROCESS:
            self._here = dict(islice(self._here.items(), len(self._here) // 2, None))
        self._here |= tags

    def _stored(self, keys: list[str]) -> Iterator[tuple[str, Tags]]:
        database = self._opened()
        if database is None:
            return
        try:
            for key, body in database.read(_KNOWN, json.dumps(keys)):
                with suppress(ValueError):  # a damaged row
                    yield key, from_json(body)
        except StateUnwritable:
            self._throw_away()

    def _opened(self) -> FileDatabase | None:
        if self._db is None and self._file is not None:
            for _ in range(2):
                try:
                    self._file.parent.mkdir(parents=True, exist_ok=True)
                    self._db = FileDatabase(self._file)
                    self._db.script(_SCHEMA)
                    break
                except (StateUnwritable, OSError):
                    self._throw_away()
        return self._db

    def _throw_away(self) -> None:
        """Remove a file that cannot be used; the next question begins a new one."""
        if self._db is not None:
            self._db.close()
        self._db = None
        if self._file is not None:
            with suppress(OSError):
                for ending in ("", "-wal", "-shm"):
                    self._file.with_name(self._file.name + ending).unlink(missing_ok=True)
