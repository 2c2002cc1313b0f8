"""Who made a state directory: a mark in it that only a user's own key can make, and that is good for this one alone.

A state directory that came with an archive of a whole repository has none that is good here: what it says of runs and
their agents is somebody else's word, also with a mark that was seen elsewhere.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from milepost.core.errors import StateRefused
from milepost.engine.project.state_place import user_folder

MARK = "made-by"
VOUCHED = "agents-by-hand"
KEY_VARIABLE = "MILEPOST_STATE_KEY"

_SHORTEST_KEY = 32
_MOST_VOUCHED = 100  # proofs of 64 signs


def sign(state: Path, place: Path) -> None:
    """Mark a state directory as made, or agreed to, by this user, to be at a place; whole or not at all."""
    name = secrets.token_hex(16)
    proofs = [_proof(_key(make=True), f"state {name} {told}") for told in _identities(state, place, alone=True)]
    _put(state / MARK, json.dumps({"id": name, "proofs": proofs}))


def require_mark(state: Path) -> None:
    """Raise where a state directory was neither made nor agreed to by this user on this machine."""
    if not is_ours(state):
        raise StateRefused(
            f"the state in {str(state)!r} was not made by you on this machine, or is a copy",
            "if you trust what its runs say, agree to it once with: milepost adopt; if not, move it away. Where your "
            f"home does not last, as in CI, set {KEY_VARIABLE} to a secret of yours",
        )


def require_key() -> None:
    """Raise where no state directory could be marked; the key is made where there is none."""
    _key(make=True)


def is_ours(state: Path) -> bool:
    """Whether a state directory is a real folder with a mark that this user's key made for it."""
    key = _key(make=False)
    try:
        told = json.loads(_read(state / MARK))
        name, proofs = str(told["id"]), [str(proof) for proof in told["proofs"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if not key or not stat.S_ISDIR(state.lstat().st_mode):
        return False
    good = [_proof(key, f"state {name} {each}") for each in _identities(state, state, alone=_is_given(os.environ))]
    return any(hmac.compare_digest(proof.encode(), one.encode()) for proof in proofs for one in good)


def vouch(state: Path, names: Iterable[str]) -> None:
    """Note agents that a person gave by hand, or agreed to: what a run is resumed with may name these."""
    key = _key(make=True)
    known = _vouched(state)
    if new := [proof for name in names if (proof := _proof(key, f"agent {_id(state)} {name}")) not in known]:
        _put(state / VOUCHED, json.dumps([*known, *new][-_MOST_VOUCHED:]))


def is_vouched(state: Path, name: str) -> bool:
    """Whether this user gave an agent by hand, or agreed to it, for a run of this state."""
    key = _key(make=False)
    vouched = _vouched(state)
    good = _proof(key, f"agent {_id(state)} {name}") if vouched else ""
    return bool(key) and any(hmac.compare_digest(proof.encode(), good.encode()) for proof in vouched)


def proof_of(text: str) -> str:
    """What only this user's key makes of a text: who can read a state directory cannot make it."""
    return _proof(_key(make=True), f"text {text}")


def _identities(state: Path, place: Path, *, alone: bool) -> tuple[str, ...]:
    """What tells one state directory from all others. A folder that is moved stays the same one on its disk, and one
    that stays has its place when the disk gets another number; no archive chooses which folder it becomes.

    A place `alone` tells enough only where folders do not last, and who has the key says so by giving it.
    """
    facts, real = state.stat(), os.path.realpath(place)
    both = (f"disk {facts.st_dev} folder {facts.st_ino}", f"folder {facts.st_ino} at {real}")
    return (*both, f"at {real}") if alone else both


def _id(state: Path) -> str:
    """The id in the mark of a state directory that is ours: another one for each that was made or agreed to."""
    try:
        return str(json.loads(_read(state / MARK))["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _vouched(state: Path) -> list[str]:
    try:
        return [str(proof) for proof in json.loads(_read(state / VOUCHED))]
    except (OSError, ValueError, TypeError):
        return []


def _put(path: Path, text: str) -> None:
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        half.write_text(text)
        half.replace(path)
    except OSError:
        half.unlink(missing_ok=True)
        raise


def _proof(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode("utf-8", "surrogateescape"), "sha256").hex()


def _is_given(environ: Mapping[str, str]) -> bool:
    return bool(environ.get(KEY_VARIABLE, ""))


def _key(*, make: bool, environ: Mapping[str, str] = os.environ) -> bytes:
    """What this user's marks are made with; empty where there is none and it is not to be made."""
    if given := environ.get(KEY_VARIABLE, ""):
        if len(given) < _SHORTEST_KEY:
            raise StateRefused(
                f"{KEY_VARIABLE} has fewer than {_SHORTEST_KEY} characters",
                "set it to a long secret, such as what this prints: openssl rand -hex 32",
            )
        return given.encode()
    path = user_folder(environ) / "key"
    try:
        if make:
            _make(path)
        return _read(path, private=True)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not make:
            return b""
        raise StateRefused(
            f"{str(path)!r}, which tells your own state from others, cannot be used: {error.strerror or error}",
            f"make it yours alone and readable (chmod 600), set XDG_STATE_HOME to a folder that you can write, or set "
            f"{KEY_VARIABLE} to a secret of yours",
        ) from error


def _make(path: Path) -> None:
    """Make the key where there is none; of two processes that do so at once, both use one."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"key.{secrets.token_hex(4)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(secrets.token_hex(_SHORTEST_KEY).encode())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _read(path: Path, *, private: bool = False) -> bytes:
    """A small file that is no link; a `private` one must be its owner's alone."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(0, "it is no plain file")
        if private and (facts.st_uid != os.geteuid() or facts.st_mode & 0o077):
            raise OSError(0, "others can read it or own it")
        return file.read(8192)
