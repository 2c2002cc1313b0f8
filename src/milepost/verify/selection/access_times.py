"""Which files of a checkout a command opened, by the access times that the file system keeps."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.verify.command_runner import Bench

_NOT_THE_PROJECT = frozenset({".git"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The files of a folder whose access time was put to zero; none where the file system keeps no access times."""

    folder: Path
    files: tuple[str, ...] = ()
    is_kept: bool = False

    def opened(self) -> tuple[str, ...] | None:
        """Those that were read since, sorted; None where that cannot be known."""
        return tuple(sorted(name for name in self.files if self._was_read(name))) if self.is_kept else None

    def _was_read(self, name: str) -> bool:
        """A file that is gone, or that is another by now, was touched at least."""
        try:
            return os.lstat(self.folder / name).st_atime_ns > 0
        except OSError:
            return True


def watch(workspace: Workspace, bench: Bench) -> Watch:
    """Begin to watch all files of a checkout; links count for what they lead to."""
    folder = workspace.folder
    if not keeps_access_times(workspace, bench):
        return Watch(folder=folder)
    files: list[str] = []
    for path in _files(folder):
        try:
            os.utime(path, ns=(0, os.lstat(path).st_mtime_ns), follow_symlinks=False)
        except OSError:
            return Watch(folder=folder)  # one that cannot be watched would be missing without a word
        files.append(os.path.relpath(path, folder))
    return Watch(folder=folder, files=tuple(files), is_kept=True)


def keeps_access_times(workspace: Workspace, bench: Bench) -> bool:
    """Whether a file that a command reads shows it, tried with a file of our own and a command on this bench."""
    probe = workspace.scratch / f"probe-{secrets.token_hex(4)}"
    try:
        probe.write_bytes(b"read me")
        os.utime(probe, ns=(0, os.lstat(probe).st_mtime_ns))
        read = bench.run(("cat", str(probe)), workspace)
        return read.succeeded and os.lstat(probe).st_atime_ns > 0 and _same_device(workspace.folder, workspace.scratch)
    except OSError:
        return False
    finally:
        with suppress(OSError):
            probe.unlink()


def _same_device(one: Path, other: Path) -> bool:
    return one.stat().st_dev == other.stat().st_dev


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_THE_PROJECT]
        for name in files:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path
