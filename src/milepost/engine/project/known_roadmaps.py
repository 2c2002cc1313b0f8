"""The roadmaps of a folder that go by no usual name: those that were run there, those that look like one."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

DATABASE = "milepost.db"

_BOX = re.compile(rb"^[ \t]*[-*+] \[[ xX]\] ", re.MULTILINE)
_MOST_FILES, _MOST_BYTES = 200, 65_536


def were_run(state: Path, folder: Path) -> list[Path]:
    """The roadmaps in a folder that its state directory knows runs of, the newest first; those that are still there."""
    database = state / DATABASE
    if not database.is_file():
        return []
    # Another program may have written what is there: then nobody knows, and who opens it for good says why.
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as db:
        rows = db.execute(
            "select json_extract(order_json, '$.roadmap') from runs group by 1 order by max(started_at) desc"
        ).fetchall()
        beside = (folder / Path(name).name for (name,) in rows if isinstance(name, str))
        return [path for path in beside if path.exists()]
    return []


def have_boxes(folder: Path) -> list[Path]:
    """The Markdown files of a folder with a task list in them, by name."""
    with suppress(OSError):
        files = sorted(path for path in folder.glob("*.md") if path.is_file())[:_MOST_FILES]
        return [path for path in files if _has_boxes(path)]
    return []


def _has_boxes(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return _BOX.search(file.read(_MOST_BYTES)) is not None
    return False
