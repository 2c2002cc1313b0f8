"""Exports of a memory as files: written whole or not at all, read line by line and as often as it takes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from milepost.core.errors import ExportRefused, FileInTheWay
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.project.memory_mode import require_writing
from milepost.engine.project.state_lock import unwritable
from milepost.memory.lessons.learn import review_all
from milepost.memory.lessons.suspicious_lessons import objection
from milepost.memory.transfer.import_rows import LONGEST_LINE, Imported, checked, take_in

SPOOLED = 8_000_000  # bytes that are kept in the process; more goes to a file without a name


def write_lines(target: Path, lines: Iterable[str]) -> int:
    """Write a file that is there whole or as it was before; gives how many lines. Only its owner may read it."""
    if target.exists() and not target.is_file():
        raise FileInTheWay(f"{str(target)!r} is not a file", "name a file, or - to print the export")
    count = 0
    try:
        with _draft_of(target) as draft:
            for line in lines:
                draft.write(line.encode("utf-8", "backslashreplace"))
                count += 1
            draft.flush()
            os.fsync(draft.fileno())
            Path(draft.name).replace(target)
    except OSError as error:
        raise unwritable(target, error) from error
    return count


def taken_in(opened: OpenedMemory, file: Path | IO[bytes], *, trusted: bool) -> Imported:
    """Read a file twice: nothing is kept of it before all its lines were found to be as they should be."""
    require_writing(opened.home.memory.mode)
    with _read_again(file) as stream:
        for _ in checked(_lines_of(stream)):
            pass
        stream.seek(0)
        opened.keep()
        imported = take_in(opened.stored.rows, _lines_of(stream), trusted=trusted, judge=objection)
    review_all(opened.stored)
    return imported


@contextmanager
def _draft_of(target: Path) -> Iterator[IO[bytes]]:
    """A file beside another, which is gone at the end unless it took its place."""
    with tempfile.NamedTemporaryFile(prefix=f".{target.name}.", dir=target.parent, delete=False) as draft:
        try:
            yield draft
        finally:
            Path(draft.name).unlink(missing_ok=True)


@contextmanager
def _read_again(file: Path | IO[bytes]) -> Iterator[IO[bytes]]:
    """A file, or what comes through a pipe, such that it can be read from the beginning again."""
    if isinstance(file, Path):
        try:
            stream = file.open("rb")
        except OSError as error:
            raise ExportRefused(f"{str(file)!r} cannot be read: {error.strerror or error}", "name a file") from error
        with stream:
            yield stream
        return
    with tempfile.SpooledTemporaryFile(SPOOLED) as spool:
        shutil.copyfileobj(file, spool)
        spool.seek(0)
        yield spool


def _lines_of(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines from here on; of one that is too long only as much as shows that."""
    while line := stream.readline(LONGEST_LINE + 2):
        yield line
