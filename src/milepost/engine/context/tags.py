"""The tags of the files of a tree: from the cache where they were read before, else from git."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from milepost.core.folders import BUILT, NOT_SOURCE
from milepost.core.secrets.files import holds_secrets
from milepost.engine.context.tag_cache import TagCache, key_of
from milepost.sources.grammars import grammar_of
from milepost.sources.tags import Tags
from milepost.sources.tags_apart import tags_read
from milepost.workspace.git import Git
from milepost.workspace.objects import TreeEntry, blobs_of

MOST_FILES = 3_000
MOST_BYTES = 30_000_000
LARGEST_FILE = 200_000
BATCH_BYTES = 8_000_000
MOST_READERS = 4
WORTH_A_READER = 50  # files, below which another process takes longer to start than it saves

# Others' code, and what programs wrote.
_NOT_OURS = NOT_SOURCE | BUILT - {"target"} | {"third_party", "vendor"}
_WRITTEN = (".min.js", ".bundle.js", "_pb2.py", ".pb.go", ".d.ts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagged:
    """The tags by path, and how many files of code were not read: too many, too large, or no parser survives them."""

    tags: dict[str, Tags]
    unread: int = 0


class Tagger:
    """Reads the tags of trees of one repository."""

    def __init__(self, git: Git, cache: TagCache, redact: Callable[[str], str]) -> None:
        self._git = git
        self._cache = cache
        self._redact = redact

    def tagged(self, entries: Sequence[TreeEntry], near: Sequence[str]) -> Tagged:
        """The tags of a tree's files; where they are too many, of those that are nearest to some."""
        code = [entry for entry in entries if is_code(entry)]
        chosen: list[TreeEntry] = []
        left = MOST_BYTES
        steps = _steps_to({_folder(entry.path) for entry in code}, {_folder(path) for path in near})
        for entry in sorted(code, key=lambda entry: (steps[_folder(entry.path)], entry.path)):
            left -= entry.size
            if len(chosen) == MOST_FILES or left < 0:
                break
            if entry.size <= LARGEST_FILE:
                chosen.append(entry)
        keys = {entry.path: _key(entry) for entry in chosen}
        known = self._cache.known(frozenset(keys.values()))
        missing = [entry for entry in chosen if keys[entry.path] not in known]
        for batch in _batches(missing):
            read = self._read(batch)
            self._cache.keep(read)
            known |= read
        tags = {path: known[key] for path, key in keys.items() if key in known}
        unreadable = sum(one.unreadable for one in tags.values())
        return Tagged(tags=tags, unread=len(code) - len(chosen) + unreadable)

    def _read(self, batch: list[TreeEntry]) -> dict[str, Tags]:
        contents, _ = blobs_of(self._git, (entry.blob for entry in batch), LARGEST_FILE)

        def read(part: list[TreeEntry]) -> list[tuple[str, Tags]]:
            files = ((entry.path, self._text(contents.get(entry.blob, b""))) for entry in part)
            return [(_key(entry), tags) for entry, tags in zip(part, tags_read(files), strict=True)]

        readers = max(1, min(MOST_READERS, os.cpu_count() or 1, len(batch) // WORTH_A_READER))
        with ThreadPoolExecutor(readers) as pool:
            parts = pool.map(read, (batch[at::readers] for at in range(readers)))
            return dict(pair for part in parts for pair in part)

    def _text(self, content: bytes) -> bytes:
        return self._redact(content.decode("utf-8", "replace")).encode() if b"\0" not in content else b""


def is_code(entry: TreeEntry) -> bool:
    """Whether a file is code of the project's own that a grammar can read."""
    if entry.is_link or holds_secrets(entry.path) or entry.path.endswith(_WRITTEN):
        return False
    return not _NOT_OURS.intersection(entry.path.split("/")[:-1]) and grammar_of(entry.path) is not None


def _key(entry: TreeEntry) -> str:
    grammar = grammar_of(entry.path)
    return key_of(grammar.name if grammar else "", entry.blob)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _steps_to(folders: set[str], near: set[str]) -> dict[str, int]:
    """How many steps up and down it is from each folder to the nearest of some, or to the top where there are none."""
    goals = [folder.split("/") for folder in near or {""}]
    return {folder: min(_steps(folder.split("/"), goal) for goal in goals) for folder in folders}


def _steps(one: list[str], other: list[str]) -> int:
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return len(one) + len(other) - 2 * same


def _batches(entries: list[TreeEntry]) -> Iterator[list[TreeEntry]]:
    batch: list[TreeEntry] = []
    size = 0
    for entry in entries:
        if batch and size + entry.size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    if batch:
        yield batch
