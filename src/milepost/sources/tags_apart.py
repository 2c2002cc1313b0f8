"""Reads tags in a process apart, so that no file of a repository can hold up or bring down the engine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import IO

from milepost.sources.grammars import grammar_of
from milepost.sources.tags import Tags, tags_of
from milepost.sources.tags_json import from_json

PROGRAM = (sys.executable, "-P", "-m", "milepost.sources.tag_process")
READ_HERE = 8_000  # bytes: parsers can take time that grows with their square


def tags_read(files: Iterable[tuple[str, bytes]]) -> Iterator[Tags]:
    """The tags of files, each given by its path and content; of one that a parser does not survive there are none."""
    left = iter(files)
    while (first := next(left, None)) is not None:
        with _process() as (given, told):
            yield from _answers(first, left, given, told)


@lru_cache(maxsize=100)
def tags_of_others(path: str, content: bytes) -> Tags:
    """The tags of one file that anybody may have written: of a larger one that no parser survives there are none."""
    if len(content) <= READ_HERE or grammar_of(path) is None:
        return tags_of(path, content) or Tags()
    return next(tags_read([(path, content)]))


def _answers(
    first: tuple[str, bytes], left: Iterator[tuple[str, bytes]], given: IO[bytes], told: IO[bytes]
) -> Iterator[Tags]:
    """What a process says to the files, up to the one that it dies of."""
    file: tuple[str, bytes] | None = first
    while file is not None:
        path, content = file
        line = b""
        with suppress(BrokenPipeError):
            given.write(f"{json.dumps([path, len(content)])}\n".encode() + content)
            given.flush()
            line = told.readline()
        try:
            yield from_json(line)
        except ValueError:
            yield Tags(unreadable=True)
            return
        file = next(left, None)


@contextmanager
def _process() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    process = subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/"
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield process.stdin, process.stdout
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.kill()
        process.stdout.close()
        process.wait()
