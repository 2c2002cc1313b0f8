"""The cache of installed packages: each entry made once, by one, and whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.machine_failure import machine_failure
from milepost.core.under_way import under_way

UNUSED_DAYS = 30
_DAY_S = 86_400.0
_LOOK_AGAIN_S = 0.1


@dataclass(frozen=True, slots=True)
class Failed:
    """Why an entry could not be made; a lasting reason is not tried against again in this process."""

    reason: str
    lasting: bool = True


class Entries:
    """Entries below one folder, shared by threads and by engines.

    An entry lies in a folder that is new each time it is made, and counts from the moment that a file names it. What
    a maker that was killed left behind is nobody's, even while its last processes still write there.
    """

    def __init__(self, root: Path, *, patience_s: float = 1800.0) -> None:
        self._root = root
        self._patience_s = patience_s
        self._failed: dict[str, Failed] = {}
        self._guard = threading.Lock()

    def has(self, key: str) -> bool:
        """Whether an entry is there already."""
        return self._complete(key) is not None

    def get(self, key: str, make: Callable[[Path], Failed | None], what: str) -> Path | Failed:
        """The folder of an entry, made by `make` in the empty folder it is given unless it is there already.

        `what` says what is done, to whoever hears what takes its time.
        """
        try:
            if (found := self._complete(key)) is not None:
                return found
            self._root.mkdir(parents=True, exist_ok=True)
            with self._held(key, what=what) as held:
                if not held:
                    return Failed("another process took too long with the same installation", lasting=False)
                if (known := self._complete(key) or self._before(key)) is not None:
                    return known
                with under_way(what):
                    return self._make(key, make)
        except OSError as error:
            if failure := machine_failure(error, f"cannot store packages below {str(self._root)!r}"):
                raise failure from error
            return Failed(f"cannot store packages below {str(self._root)!r}: {error}", lasting=False)

    def _make(self, key: str, make: Callable[[Path], Failed | None]) -> Path | Failed:
        self._clear(key)
        self._forget_unused()
        folder = self._root / f"{key}.{secrets.token_hex(4)}"
        folder.mkdir()
        failed = make(folder)
        if failed is not None:
            shutil.rmtree(folder, ignore_errors=True)
            if failed.lasting:
                with self._guard:
                    self._failed[key] = failed
            return failed
        written = self._root / f"{folder.name}.new"
        written.write_text(json.dumps({"folder": folder.name}))
        written.replace(self._pointer(key))
        return folder

    def _complete(self, key: str) -> Path | None:
        try:
            folder = self._root / str(json.loads(self._pointer(key).read_text())["folder"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not folder.is_dir():
            return None
        with suppress(OSError):
            os.utime(self._pointer(key))
        return folder

    def _before(self, key: str) -> Failed | None:
        with self._guard:
            return self._failed.get(key)

    def _clear(self, key: str) -> None:
        for left in self._root.glob(f"{key}.*"):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            elif left != self._lock(key):
                left.unlink(missing_ok=True)

    def _forget_unused(self) -> None:
        """Remove entries that nobody asked for in a long time; the lock of one that is being made is not waited for."""
        for pointer in self._root.glob("*.json"):
            with suppress(OSError):
                if time.time() - pointer.stat().st_mtime > UNUSED_DAYS * _DAY_S:
                    with self._held(pointer.stem, patience_s=0) as held:
                        if held:
                            self._clear(pointer.stem)

    @contextmanager
    def _held(self, key: str, *, what: str = "", patience_s: float | None = None) -> Iterator[bool]:
        deadline = time.monotonic() + (self._patience_s if patience_s is None else patience_s)
        descriptor = os.open(self._lock(key), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            held = _lock(descriptor)
            with under_way(f"waiting for another process: {what}") if what and not held else nullcontext():
                while not held and time.monotonic() < deadline:
                    time.sleep(_LOOK_AGAIN_S)
                    held = _lock(descriptor)
            yield held
        finally:
            os.close(descriptor)

    def _pointer(self, key: str) -> Path:
        return self._root / f"{key}.json"

    def _lock(self, key: str) -> Path:
        return self._root / f"{key}.lock"


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
