"""What opens the page: a key in an address, good once and for minutes, given for a token that is good for days.

An address is seen by others, in a list of processes or a browser's history. A token is signed with a secret that never
leaves the machine and outlives a restart; once the secret is another one, no token is good any more.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from milepost import runs
from milepost.core.errors import StateUnwritable

GOOD_FOR_S: Final = 300.0
TOKEN_S: Final = 30 * 86_400
SECRET: Final = "web-secret"  # noqa: S105 - the name of a file
_BYTES: Final = 32
_LENGTH: Final = 43  # of so many bytes as text


class Keys:
    """The keys that were given out and not used; one of them opens the page once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._good_until: dict[str, float] = {}

    def new(self) -> str:
        """A key that nobody can guess."""
        key = secrets.token_urlsafe(_BYTES)
        self._good_until[key] = self._clock() + GOOD_FOR_S
        return key

    def use(self, given: str) -> bool:
        """Whether a key opens the page now; it never does again."""
        known = [key for key in self._good_until if hmac.compare_digest(key.encode(), given.encode())]
        return any(self._good_until.pop(key) > self._clock() for key in known)


class Secret:
    """What tokens are signed with, as it is kept now: once its file is removed or replaced, all tokens are void."""

    def __init__(self, roadmap: Path, clock: Callable[[], float] = time.time) -> None:
        self._roadmap, self._clock = roadmap, clock
        self.value, self._folder = secret_of(roadmap), _folder(roadmap)
        self._seen = _facts(self._folder)

    def token(self) -> str:
        """A new token: until when it is good, what tells it from others, and the signature."""
        head = f"{int(self._clock()) + TOKEN_S}.{secrets.token_urlsafe(9)}"
        return f"{head}.{self._signature(head)}"

    def signed(self, token: str) -> bool:
        """Whether a token is one of ours and good now."""
        head, _, signature = token.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(head).encode()):
            return False
        return int(head.partition(".")[0]) > self._clock()

    def _signature(self, head: str) -> str:
        if (seen := _facts(self._folder)) != self._seen:
            self.value = secret_of(self._roadmap)
            self._seen = seen or _facts(self._folder)
        return hmac.digest(self.value.encode(), b"token " + head.encode(), "sha256").hex()


def secret_of(roadmap: Path) -> str:
    """The secret of the cookies of a roadmap's pages: what this user's key makes of a text in its state directory.

    The text alone is worth nothing: what runs in the sandbox in a folder of the user's can read it.
    """
    try:
        path = runs.state_folder(roadmap) / SECRET
        return runs.proof_of(_read(path) or _made(path))
    except (
        OSError,
        StateUnwritable,
    ):  # a folder that cannot be written is no reason to show nothing: only a restart asks for a new key
        return secrets.token_urlsafe(_BYTES)


def _folder(roadmap: Path) -> Path | None:
    """The state directory; None where it cannot be written."""
    try:
        return runs.state_folder(roadmap)
    except StateUnwritable:
        return None


def _facts(folder: Path | None) -> tuple[int, int] | None:
    """What tells the file of the secret from another that comes to its place; None where there is none."""
    try:
        facts = (folder / SECRET).lstat() if folder else None
    except OSError:
        return None
    return (facts.st_ino, facts.st_mtime_ns) if facts else None


def _read(path: Path) -> str:
    """The secret that is kept; nothing where there is none, or one that others could have read or put there."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        facts = os.fstat(fd)
        private = stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o077
        text = os.read(fd, _LENGTH + 1).decode("latin-1") if private else ""
    finally:
        os.close(fd)
    return text if len(text) == _LENGTH and text.isascii() and text.isprintable() else ""


def _made(path: Path) -> str:
    """A new secret, kept whole or not at all; of two that are made at once, both servers use one."""
    text, draft = secrets.token_urlsafe(_BYTES), path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode())
        with contextlib.suppress(FileNotFoundError):
            if not _read(path):
                path.unlink()
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return _read(path) or text
