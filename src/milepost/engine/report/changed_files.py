"""The files that an attempt changed, with their text before and after, bounded; read from git's objects alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from milepost.core.errors import GitFailed, PlaceUnknown
from milepost.core.lock_files import lock_of
from milepost.engine.records.call_log import AttemptKey
from milepost.engine.records.run_view import RunRef, RunView, viewed
from milepost.engine.report.attempt import story_in
from milepost.verify.credentials import shown_text
from milepost.workspace.objects import blobs_of
from milepost.workspace.tree_diff import Differing, Kind, differing

MOST_FILES = 300
LARGEST_FILE = 400_000
LARGEST_IN_ALL = 8_000_000
_NUL = b"\0"
_FIRST_BYTES = 8_000  # git looks no further for a NUL


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file: `before` and `after` are its text, None where it is not there, is no text, or is `cut` for its size.

    `was` is what it was called before. `added` and `removed` count lines, None where there are none to count.
    """

    path: str
    kind: Kind
    was: str = ""
    before: str | None = None
    after: str | None = None
    added: int | None = None
    removed: int | None = None
    binary: bool = False
    generated: bool = False
    cut: bool = False
    is_link: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesChanged:
    """What an attempt changed from `base` to `commit`; `left_out` counts files beyond those that are shown.

    An attempt that is `under_way` is shown as it was after the last of its calls.
    """

    run: str
    task: str
    attempt: int
    base: str
    commit: str
    files: tuple[FileChange, ...] = ()
    left_out: int = 0
    under_way: bool = False


def changed_files(whose: RunRef, task: str, number: int | None = None) -> FilesChanged:
    """The files that an attempt changed, the newest at its task unless another is named."""
    with viewed(whose) as view:
        told = story_in(view, task, number)
        base, commit, under_way = told.attempt.base, told.attempt.commit, False
        if not commit:
            base, commit = _on_its_way(view, AttemptKey(run=told.run, task=told.task, attempt=told.attempt.number))
            under_way = True
        found = _differing(view, base, commit) if commit else ()
        return FilesChanged(
            run=told.run,
            task=told.task,
            attempt=told.attempt.number,
            base=base,
            commit=commit,
            files=_shown(view, found[:MOST_FILES]),
            left_out=max(0, len(found) - MOST_FILES),
            under_way=under_way,
        )


def _on_its_way(view: RunView, key: AttemptKey) -> tuple[str, str]:
    """The workspace after the last recorded call, and what it began with; empty where nothing was kept yet."""
    from milepost.engine.records.call_log import calls_ref

    commit = view.mileposts.resolve(calls_ref(key))
    return ("", "") if commit is None else (view.mileposts.parent_of(commit), commit)


def _differing(view: RunView, base: str, commit: str) -> tuple[Differing, ...]:
    try:
        return differing(view.git, base, commit)
    except GitFailed as error:
        raise PlaceUnknown(
            "the files of this attempt no longer exist here",
            "milepost clean deleted them, or the attempt was made on another machine",
        ) from error


def _shown(view: RunView, found: Sequence[Differing]) -> tuple[FileChange, ...]:
    """The files with their texts, as long as there is room; those with less text go first."""
    blobs, large = blobs_of(view.git, [name for one in found for name in (one.old, one.new)], LARGEST_FILE)
    room = LARGEST_IN_ALL
    shown: dict[int, FileChange] = {}
    sizes = {at: len(blobs.get(one.old, b"")) + len(blobs.get(one.new, b"")) for at, one in enumerate(found)}
    for at in sorted(sizes, key=lambda place: sizes[place]):
        one, room = found[at], room - sizes[at]
        cut = room < 0 or bool(large & {one.old, one.new})
        shown[at] = _file(view, one, (b"", b"") if cut else (blobs.get(one.old), blobs.get(one.new)), cut=cut)
    return tuple(shown[at] for at in sorted(shown))


def _file(view: RunView, one: Differing, sides: tuple[bytes | None, bytes | None], *, cut: bool) -> FileChange:
    binary = any(_NUL in (side or b"")[:_FIRST_BYTES] for side in sides)
    before, after = (None if side is None or binary or cut else _text(view, side) for side in sides)
    return FileChange(
        path=view.redact(one.path),
        kind=one.kind,
        was=view.redact(one.was),
        before=before,
        after=after,
        added=one.added,
        removed=one.removed,
        binary=binary or (one.added is None and not cut),
        generated=is_generated(one.path, after or before or ""),
        cut=cut,
        is_link=one.is_link,
    )


def _text(view: RunView, content: bytes) -> str:
    return shown_text(content.decode("utf-8", "replace"), view.redact)


_FOLDERS = frozenset({"node_modules", "vendor", "dist", "build", "generated", "__generated__", "__snapshots__"})
_NAMES = frozenset({"go.sum", "composer.lock", "Gemfile.lock", "flake.lock", "bun.lock", "bun.lockb", "deno.lock"})
_ENDINGS = (".min.js", ".min.css", ".map", ".snap", "_pb2.py", "_pb2_grpc.py", ".pb.go", ".g.dart")
_SAYS_SO = re.compile(r"@generated\b|\bcode generated\b.*\bdo not edit\b|\bautomatically generated\b", re.IGNORECASE)
_FIRST_SIGNS = 600


def is_generated(path: str, text: str = "") -> bool:
    """Whether a file is made by a program, by its path or by what its first lines say."""
    pure = PurePosixPath(path)
    named = lock_of(path) is not None or pure.name in _NAMES or pure.name.endswith(_ENDINGS)
    return named or not _FOLDERS.isdisjoint(pure.parts[:-1]) or bool(_SAYS_SO.search(text[:_FIRST_SIGNS]))
