"""The state of the version before, which was in `.milepost/` beside the roadmap: taken over with nothing lost.

Nothing shows who made it, so a person agrees to it once, with `milepost adopt`. Everything is moved into a folder
beside the place where the state belongs, which gets its name last: a takeover that was killed goes on with the next
`adopt`, and nobody sees half of it. The engine's own git directory stays behind: it is made anew, and what stands in
its place may be a commit's.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from milepost.core.errors import EngineBusy, NoRepository, StateRefused, StateUnwritable
from milepost.engine.project.state_lock import ORPHANS_WAIT_S, busy, read_holder
from milepost.engine.project.state_mark import require_key, sign
from milepost.workspace.repository import Repository

TAKEN = (
    *(f"{name}{end}" for name in ("milepost.db", "recall.db") for end in ("", "-wal", "-shm")),
    *("logs", "audit.jsonl", "submitted", "cleaned", "web-secret", "detached.json", "cache", "normalised", "together"),
)
LEFT = ("git", "stop", "stop-now", "lock", ".gitignore")  # what is of no use any more, in the order of its removal

_PAUSE_S = 0.02


def require_none(old: Path, state: Path) -> None:
    """Raise where a state of the version before is left, or half of one: a person has to agree to it first."""
    if _is_left(old, state):
        _refuse_foreign(old)
        raise StateRefused(
            f"{str(old)!r} has the runs of an earlier version, and nothing shows that you made them",
            f"if you did, keep them with: milepost adopt; {_aside(old)}",
        )


def take_over(old: Path, state: Path) -> None:
    """Move the state of the version before, which a person agreed to, to where it belongs; nothing where there is none.

    Refuses what somebody else may have put there.
    """
    if not _is_left(old, state):
        return
    _refuse_foreign(old)
    require_key()
    half = _half(state)
    try:
        with _alone(old):
            if os.path.lexists(state):  # somebody else was quicker
                return
            half.mkdir(parents=True, exist_ok=True)
            for name in TAKEN:
                _move(old / name, half / name)
            sign(half, state)
            half.rename(state)
            _clear(old)
    except OSError as error:
        raise StateUnwritable(
            f"the state in {str(old)!r} cannot be moved to {str(state)!r}: {error.strerror or error}",
            "make both writable, or free some space",
        ) from error


def _is_left(old: Path, state: Path) -> bool:
    return os.path.lexists(_half(state)) or any(os.path.lexists(old / name) for name in TAKEN)


def _half(state: Path) -> Path:
    """Where a state is gathered before it gets its name."""
    return state.with_name(f"{state.name}.taking")


def _aside(old: Path) -> str:
    return f"if you do not know where it comes from, move it away: mv {old} {old}.unknown"


def _refuse_foreign(old: Path) -> None:
    """Raise where anything that would be taken may be another's: tracked by git, a link, or of another user."""
    aside = _aside(old)
    if not os.path.lexists(old):
        return
    if not stat.S_ISDIR(old.lstat().st_mode):
        raise StateRefused(f"{str(old)!r} is not a plain folder, and is not taken for the state of this project", aside)
    if tracked := _tracked(old):
        raise StateRefused(
            f"git tracks {tracked!r}, and what comes with a repository is not taken for the state of this project",
            f"remove it from git (git rm -r --cached -- {tracked}), and {aside}",
        )
    for path in _all_of(old):
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode) or not (stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode)):
            raise StateRefused(f"{str(path)!r} is a link or no plain file, and is not taken for the project's", aside)
        if facts.st_uid != os.geteuid():
            raise StateRefused(f"{str(path)!r} belongs to another user, and is not taken for your state", aside)


def _all_of(old: Path) -> Iterator[Path]:
    """The folder itself, and all in it that would be taken."""
    yield old
    for name in (*TAKEN, "lock"):
        if os.path.lexists(old / name):
            yield old / name
            for folder, folders, files in os.walk(old / name):
                yield from (Path(folder, each) for each in (*folders, *files))


def _tracked(old: Path) -> str:
    """What git tracks of all that would be taken; empty without any."""
    try:
        repository = Repository.find(old.parent)
    except NoRepository:
        return ""
    place = old.parent.resolve().relative_to(repository.top.resolve()) / old.name
    for path in repository.tracked(place.as_posix()):
        below = path.split("/")[len(place.parts) :]
        if not below or below[0].lower() in (*TAKEN, "lock"):
            return path
    return ""


@contextmanager
def _alone(old: Path) -> Iterator[None]:
    """Hold the lock of the version before: no engine of it runs, and nobody else takes over."""
    old.mkdir(exist_ok=True)
    fd = os.open(old / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        until = time.monotonic() + ORPHANS_WAIT_S
        while not _locked(fd):
            holder = read_holder(fd)
            if holder is not None and holder.alive:
                raise busy(holder)
            if time.monotonic() > until:
                raise EngineBusy(f"{str(old / 'lock')!r} is held", f"find out by whom: fuser {old / 'lock'}")
            time.sleep(_PAUSE_S)
        os.ftruncate(fd, 0)  # whoever waits for it now waits for us, not for who wrote here
        yield
    finally:
        os.close(fd)


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _move(source: Path, target: Path) -> None:
    """Move a file or folder, whole or not at all, also to another disk; what is there already stays."""
    if not os.path.lexists(source) or os.path.lexists(target):
        return
    try:
        source.rename(target)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.unlink(missing_ok=True)
    if source.is_dir():
        shutil.copytree(source, part, symlinks=True)
    else:
        shutil.copy2(source, part, follow_symlinks=False)
    part.rename(target)
    if source.is_dir():
        shutil.rmtree(source)
    else:
        source.unlink()


def _clear(old: Path) -> None:
    """Remove what is of no use any more; what people put there stays, and stays ignored by git."""
    with suppress(OSError):
        kept = {path.name for path in old.iterdir()} - set(LEFT)
        for name in LEFT[: -1 if kept else None]:
            path = old / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        if not kept:
            old.rmdir()
