"""A memory as JSON lines: a header, then a row a line, the same for the same rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from milepost.memory.row_shapes import COLUMNS
from milepost.memory.rows import Rows
from milepost.memory.schema import VERSION

FORMAT = "milepost memory"
PAGE = 200  # rows that are read at once: those with bodies may be large


def export_lines(rows: Rows, project: str) -> Iterator[str]:
    """The lines of all that is kept, also while a run adds to it: nothing in them lacks what it belongs to."""
    # What belongs to something else is bounded first: its parent, written before it, is then within its own bound.
    bounds = {table: _newest(rows, table) for table in reversed(COLUMNS)}
    yield _line({"format": FORMAT, "version": VERSION, "project": project})
    for table, columns in COLUMNS.items():
        names = (*columns, "digest")
        for values in pages(rows, table, names, bounds[table]):
            yield _line({"table": table, "row": dict(zip(names, values, strict=True))})


def _newest(rows: Rows, table: str) -> int:
    return int(rows.read(f"select coalesce(max(rowid), 0) from {table}")[0][0])  # noqa: S608 - our names


def pages(rows: Rows, table: str, names: tuple[str, ...], bound: int = 2**62) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, oldest first, of which never many are held at once."""
    sql = f"select rowid, {', '.join(names)} from {table} where rowid > ? and rowid <= ? order by rowid limit ?"  # noqa: S608
    last = 0
    while page := rows.read(sql, last, bound, PAGE):
        yield from (row[1:] for row in page)
        last = page[-1][0]


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
