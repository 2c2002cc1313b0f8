"""A memory as JSON lines: a header, a row a line, how many there were. The same for the same rows."""

from __future__ import annotations

import json
from collections.abc import Iterator

from milepost.memory.store.rows import Rows
from milepost.memory.store.schema import VERSION
from milepost.memory.sync.tables import COLUMNS, Line

FORMAT = "milepost memory"
PAGE = 200  # rows that are read at once: those with bodies may be large


def export_lines(rows: Rows, project: str) -> Iterator[str]:
    """The lines of all that is kept, also while a run adds to it: nothing in them lacks what it belongs to."""
    # What belongs to something else is bounded first: its parent, written before it, is then within its own bound.
    bounds = {table: _newest(rows, table) for table in reversed(COLUMNS)}
    yield _line({"format": FORMAT, "version": VERSION, "project": project})
    count = 0
    for table in COLUMNS:
        for row in pages(rows, table, bounds[table]):
            count += 1
            yield _line({"table": table, "row": row})
    yield _line({"rows": count})


def _newest(rows: Rows, table: str) -> int:
    return int(rows.read(f"select coalesce(max(rowid), 0) from {table}")[0][0])  # noqa: S608 - our names


def pages(rows: Rows, table: str, bound: int = 2**62) -> Iterator[Line]:
    """The rows of a table, oldest first, of which never many are held at once."""
    names = tuple(COLUMNS[table])
    last = 0
    while page := rows.after(table, last, *names, most=PAGE):
        yield from (dict(zip(names, row[1:], strict=True)) for row in page if row[0] <= bound)
        last = page[-1][0]
        if last >= bound:
            return


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
