"""What a guest changed in an overlaid folder: to be looked at, then accepted or dropped."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

from milepost.core.errors import MachineFailed
from milepost.core.unified_diff import unified_diff
from milepost.sandbox.open_folder import folder_of, opened
from milepost.sandbox.protected_paths import is_protected, is_protected_name

ChangeKind = Literal["added", "changed", "deleted"]
_What = Literal["file", "link", "folder", "nothing"]

_CHUNK = 1 << 20
_LONGEST_TEXT = 1_000_000
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChange:
    """One path that differs. `now` and `was` say what is there after and before; a deleted folder counts as one.

    `size` and `mode` are of a file, `to` is where a link leads, `same_as` another path that is the same file.
    """

    path: PurePosixPath
    now: _What
    was: _What
    mode: int = 0
    size: int = 0
    to: str = ""
    same_as: PurePosixPath | None = None
    pieces: tuple[tuple[int, int, int], ...] = ()

    @property
    def kind(self) -> ChangeKind:
        if self.now == "nothing":
            return "deleted"
        return "added" if self.was == "nothing" else "changed"


class Changes:
    """The changes of one guest, with the contents of files in a temporary file. To drop them is to close this."""

    def __init__(self, changes: tuple[PathChange, ...], contents: IO[bytes]) -> None:
        self._changes = changes
        self._contents = contents

    @classmethod
    def read(cls, stream: IO[bytes]) -> Changes:
        """The changes that a relay tells in `stream`; MachineFailed when they are not all there."""
        contents = tempfile.TemporaryFile()  # noqa: SIM115 - closed with what is returned
        try:
            return cls(tuple(_read_changes(stream, contents)), contents)
        except BaseException:
            contents.close()
            raise

    def list(self) -> tuple[PathChange, ...]:
        """Every change, a folder before what is in it."""
        return self._changes

    def diff(self, base: Path) -> str:
        """The changes of text files as a unified diff against `base`, a line for each other one."""
        with opened(base) as top:
            return "".join(self._diff_of(change, top) for change in self._changes)

    def accept(self, into: Path) -> tuple[PathChange, ...]:
        """Make the changes in `into`, each at once or not at all; gives those that nobody can accept.

        They are all that is called `.git` or `.milepost` or lies in such a folder, and what would remove one.
        No link there is followed, so OSError if a folder on the way became one since the guest saw it.
        """
        refused = []
        with opened(into) as top:
            for change in self._changes:
                if is_protected(change.path) or (change.same_as is not None and is_protected(change.same_as)):
                    refused.append(change)
                    continue
                with folder_of(change.path, top) as folder:
                    if change.now != "folder" and _holds_protected(change.path.name, folder):
                        refused.append(change)
                    else:
                        self._make(change, folder, top)
        return tuple(refused)

    def close(self) -> None:
        self._contents.close()

    def __enter__(self) -> Changes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make(self, change: PathChange, folder: int, top: int) -> None:
        name = change.path.name
        if change.now == "folder":
            _make_folder(name, folder)
            return
        with contextlib.suppress(FileNotFoundError):
            if change.now == "nothing" or _is_folder(name, folder):
                _remove(name, folder)
        if change.now == "nothing":
            return
        beside = f".milepost-{secrets.token_hex(8)}"
        try:
            self._write(change, beside, folder, top)
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=folder)
            raise

    def _write(self, change: PathChange, name: str, folder: int, top: int) -> None:
        if change.now == "link":
            os.symlink(change.to, name, dir_fd=folder)
        elif change.same_as is not None:
            with folder_of(change.same_as, top) as other:
                os.link(change.same_as.name, name, src_dir_fd=other, dst_dir_fd=folder, follow_symlinks=False)
        else:
            with os.fdopen(os.open(name, _NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
                for start, at, length in change.pieces:
                    file.seek(start)
                    self._contents.seek(at)
                    _copy(self._contents, file, length)
                file.truncate(change.size)
                os.fchmod(file.fileno(), change.mode & 0o777)

    def _diff_of(self, change: PathChange, top: int) -> str:
        before = _text_before(change, top) if change.was in ("file", "nothing") else None
        after = self._text_after(change) if change.now in ("file", "nothing") else None
        if before is None or after is None:
            return f"{change.kind} {change.path}\n"
        old = f"a/{change.path}" if change.was == "file" else "/dev/null"
        new = f"b/{change.path}" if change.now == "file" else "/dev/null"
        lines = unified_diff(_lines(before), _lines(after), old, new)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def _text_after(self, change: PathChange) -> str | None:
        if change.same_as is not None:
            change = next(other for other in self._changes if other.path == change.same_as)
        if change.size > _LONGEST_TEXT:
            return None
        whole = bytearray(change.size)
        for start, at, length in change.pieces:
            self._contents.seek(at)
            whole[start : start + length] = self._contents.read(length)
        return _text(bytes(whole))


def _read_changes(stream: IO[bytes], contents: IO[bytes]) -> Iterator[PathChange]:
    while (entry := _entry(stream))["now"] != "end":
        pieces = []
        for start, length in entry.pop("pieces", ()):
            pieces.append((start, contents.tell(), length))
            _copy(stream, contents, length)
        path, same_as = _safe(entry.pop("path")), entry.pop("same_as", None)
        yield PathChange(
            path=path,
            now=entry.pop("now"),
            same_as=None if same_as is None else _safe(same_as),
            pieces=tuple(pieces),
            **entry,
        )
    if "failure" in entry:
        raise _lost(entry["failure"])


def _entry(stream: IO[bytes]) -> dict[str, Any]:
    length = int.from_bytes(_exactly(stream, 4), "big")
    entry: dict[str, Any] = json.loads(_exactly(stream, length))
    return entry


def _exactly(stream: IO[bytes], length: int) -> bytes:
    piece = stream.read(length)
    if len(piece) != length:
        raise _lost("they end in the middle")
    return piece


def _copy(source: IO[bytes], target: IO[bytes], length: int) -> None:
    while length:
        length -= target.write(_exactly(source, min(length, _CHUNK)))


def _lost(why: str) -> MachineFailed:
    return MachineFailed(f"the changes made in a sandbox cannot be read: {why}", "run it again; nothing was changed")


def _safe(text: str) -> PurePosixPath:
    path = PurePosixPath(text)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in text:
        raise _lost(f"{text!r} is not a path in a folder")
    return path


def _holds_protected(name: str, folder: int) -> bool:
    """Whether what is there is a folder with something protected below it, which goes when the folder does."""
    try:
        if not _is_folder(name, folder):
            return False
        return any(
            is_protected_name(each)
            for _, folders, files, _ in os.fwalk(name, dir_fd=folder)
            for each in folders + files
        )
    except FileNotFoundError:
        return False
    except RecursionError:  # too deep to be sure
        return True


def _is_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _make_folder(name: str, folder: int) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        if not _is_folder(name, folder):
            os.unlink(name, dir_fd=folder)
            os.mkdir(name, dir_fd=folder)


def _remove(name: str, folder: int) -> None:
    if _is_folder(name, folder):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


def _text_before(change: PathChange, top: int) -> str | None:
    if change.was == "nothing":
        return ""
    try:
        with folder_of(change.path, top) as folder:
            file = os.open(change.path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as problem:
        if problem.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise
    with os.fdopen(file, "rb") as opened:
        return _text(opened.read(_LONGEST_TEXT + 1))


def _text(content: bytes) -> str | None:
    """The text that these bytes are, None if they are none or too long to be read."""
    if len(content) > _LONGEST_TEXT or b"\0" in content:
        return None
    with contextlib.suppress(UnicodeDecodeError):
        return content.decode()
    return None


def _lines(text: str) -> list[str]:
    *lines, rest = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([rest] if rest else [])]
