"""A command → the danger in it: every piece that it would run is judged by its own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from milepost.sandbox.danger import containers, database, files, git, privileges
from milepost.sandbox.danger.kinds import Danger, DangerKind, Piece, Unreadable
from milepost.sandbox.danger.options import options_of
from milepost.sandbox.danger.python_code import pieces_of_code
from milepost.sandbox.danger.shell import pieces_of
from milepost.sandbox.danger.verbs import danger_of_verb
from milepost.sandbox.danger.wrappers import inner_pieces

DEEPEST = 8
LONGEST_SHOWN = 200

Rule = Callable[[Piece], str | None]
_BY_RULE: tuple[tuple[DangerKind, Rule, tuple[str, ...]], ...] = (
    ("filesystem", files.deleting, ("rm", "rmdir", "unlink", "shred", "rimraf", "trash", "srm")),
    ("filesystem", files.copying, ("cp", "mv", "install", "ln", "rsync")),
    ("filesystem", files.disks, ("dd", "tee", "truncate", "wipefs", "fdisk", "parted", "mkswap", "mkfs")),
    ("filesystem", files.owners, ("chown", "chgrp")),
    ("filesystem", files.searching, ("find",)),
    ("git", git.losing, ("git",)),
    ("database", database.sql_client, database.CLIENTS),
    ("database", database.document_client, ("mongosh", "mongo")),
    ("database", database.key_client, ("redis-cli", "valkey-cli", "keydb-cli")),
    ("database", database.administration, ("dropdb", "dropuser", "mysqladmin", "pg_restore")),
    ("containers", containers.given_the_machine, ("docker", "podman", "nerdctl")),
    ("privileges", privileges.machine, privileges.MACHINE),
    ("privileges", privileges.as_another, privileges.OTHER_USERS),
    ("privileges", privileges.services, ("systemctl", "service", "crontab", "sysctl", "kill")),
    ("privileges", privileges.rights, ("chmod",)),
)
_RULES: Mapping[str, tuple[DangerKind, Rule]] = {name: (kind, rule) for kind, rule, names in _BY_RULE for name in names}
_NO_RULE: tuple[DangerKind, Rule] = ("privileges", lambda _: None)
_OF_ITS_OWN = frozenset({"filesystem", "privileges", "packages"})  # a container has files and rights of its own
_PYTHON = re.compile(r"(python|pypy)[\d.]*$")


def danger_of(argv: Sequence[str], inside: Sequence[str] = ()) -> Danger | None:
    """The first danger in a command that runs at the top of a workspace; None when there is none.

    `inside` are the absolute folders that it may change freely, the workspace first.
    """
    piece = Piece(words=tuple(argv), inside=tuple(folder.rstrip("/") for folder in inside))
    try:
        if len(argv) == 1 and re.search(r"\s", argv[0]):
            return _first(pieces_of(argv[0], piece), 0)
        return _judge(piece, 0)
    except (Unreadable, RecursionError):
        return Danger(kind="privileges", why="is too long or too nested to be judged", what=_shown(piece))


def _first(pieces: Sequence[Piece], depth: int) -> Danger | None:
    return next(filter(None, (_judge(piece, depth) for piece in pieces)), None)


def _judge(piece: Piece, depth: int) -> Danger | None:
    if depth > DEEPEST:
        raise Unreadable
    inner = _first((*inner_pieces(piece), *_code(piece)), depth + 1)
    found = inner or _itself(piece)
    return None if found is not None and piece.elsewhere and found.kind in _OF_ITS_OWN else found


def _itself(piece: Piece) -> Danger | None:
    if why := files.writing(piece):
        return Danger(kind="filesystem", why=why, what=f"> {' '.join(piece.writes)}"[:LONGEST_SHOWN])
    kind, rule = _RULES.get(piece.name.partition(".")[0] if piece.name.startswith("mkfs.") else piece.name, _NO_RULE)
    if why := rule(piece):
        return Danger(kind=kind, why=why, what=_shown(piece))
    if why := privileges.unseen_code(piece):
        return Danger(kind="privileges", why=why, what=_shown(piece))
    found = danger_of_verb(piece)
    return replace(found, what=_shown(piece)) if found is not None else None


def _code(piece: Piece) -> tuple[Piece, ...]:
    if not _PYTHON.match(piece.name):
        return ()
    options = options_of(piece.arguments, frozenset({"-c", "-m", "-W", "-X"}), leading=True)
    given = options.value("-c") or ((piece.stdin,) if options.rest in ((), ("-",)) else ())
    return pieces_of_code(given[0], piece) if given else ()


def _shown(piece: Piece) -> str:
    text = " ".join(" ".join(piece.words).split())
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
