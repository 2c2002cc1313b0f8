"""A command → the danger in it: every piece that it would run is judged by its own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from milepost.sandbox.command_risk import containers, database, files, git, packages, privileges, secrets
from milepost.sandbox.command_risk.downloads import Downloads
from milepost.sandbox.command_risk.kinds import Danger, DangerKind, Piece, Unreadable
from milepost.sandbox.command_risk.options import options_of
from milepost.sandbox.command_risk.python_code import pieces_of_code
from milepost.sandbox.command_risk.risky_programs import danger_of_verb
from milepost.sandbox.command_risk.shell import pieces_of
from milepost.sandbox.command_risk.wrappers import inner_pieces

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
    ("privileges", privileges.services, ("systemctl", "service", "crontab", "at", "batch", "sysctl", "kill", "fuser")),
    ("packages", packages.from_elsewhere, packages.INSTALLERS),
    ("privileges", privileges.rights, ("chmod",)),
)
_RULES: Mapping[str, tuple[tuple[DangerKind, Rule], ...]] = {
    name: tuple((kind, rule) for kind, rule, names in _BY_RULE if name in names)
    for name in {name for _, _, names in _BY_RULE for name in names}
}
_OF_ALL: tuple[tuple[DangerKind, Rule], ...] = (
    ("privileges", privileges.unseen_code),
    ("secrets", secrets.reading),
    ("secrets", secrets.sending),
    ("filesystem", files.writing),
)
_OF_ITS_OWN = frozenset({"filesystem", "privileges", "packages", "secrets"})  # a container has its own files and rights
_PYTHON = re.compile(r"(python|pypy)[\d.]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A piece and the danger in it; one that `wraps` only starts other pieces, which are judged by themselves."""

    piece: Piece
    danger: Danger | None
    wraps: bool = False


def danger_of(argv: Sequence[str], inside: Sequence[str] = ()) -> Danger | None:
    """The first danger in a command that runs at the top of a workspace; None when there is none.

    `inside` are the absolute folders that it may change freely, the workspace first.
    """
    return next((one.danger for one in judged(argv, inside) if one.danger is not None), None)


def judged(argv: Sequence[str], inside: Sequence[str] = ()) -> Iterator[Judged]:
    """Every piece that a command would run, those inside of others first."""
    piece = Piece(words=tuple(argv), inside=tuple(folder.rstrip("/") for folder in inside))
    try:
        if is_text(argv):
            yield from _all_of(pieces_of(argv[0], piece), 0)
        else:
            yield from _judge(piece, 0)
    except (Unreadable, RecursionError):
        danger = Danger(kind="privileges", why="is too long or too nested to be checked", what=shown(piece))
        yield Judged(piece=piece, danger=danger)


def is_text(argv: Sequence[str]) -> bool:
    """Whether a command is no program with its words, but one text for a shell."""
    return len(argv) == 1 and re.search(r"\s", argv[0]) is not None


def shown(piece: Piece) -> str:
    """A piece as people read it; of a word that is cut nothing is left, so that it can be redacted afterwards."""
    text = " ".join(" ".join(piece.words).split())
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN].rpartition(" ")[0] + " …"


def _all_of(pieces: Sequence[Piece], depth: int) -> Iterator[Judged]:
    downloads = Downloads()
    for piece in pieces:
        if why := downloads.run_by(piece):
            yield Judged(piece=piece, danger=Danger(kind="privileges", why=why, what=shown(piece)))
        yield from _judge(piece, depth)


def _judge(piece: Piece, depth: int) -> Iterator[Judged]:
    if depth > DEEPEST:
        raise Unreadable
    inner = (*inner_pieces(piece), *_code(piece))
    yield from _all_of(inner, depth + 1)
    found = (danger for danger in _dangers(piece) if not (piece.elsewhere and danger.kind in _OF_ITS_OWN))
    yield Judged(piece=piece, danger=next(found, None), wraps=bool(inner))


def _dangers(piece: Piece) -> Iterator[Danger]:
    """The dangers of a piece itself, the gravest kinds first."""
    name = "mkfs" if piece.name.startswith("mkfs.") else piece.name
    what = f"> {' '.join(piece.writes)}"[:LONGEST_SHOWN] if piece.writes else shown(piece)
    for kind, rule in (*_OF_ALL, *_RULES.get(name, ())):
        if why := rule(piece):
            yield Danger(kind=kind, why=why, what=what)
    if found := danger_of_verb(piece):
        yield replace(found, what=what)


def _code(piece: Piece) -> tuple[Piece, ...]:
    if not _PYTHON.match(piece.name):
        return ()
    options = options_of(piece.arguments, frozenset({"-c", "-m", "-W", "-X"}), leading=True)
    given = options.value("-c") or ((piece.stdin,) if options.rest in ((), ("-",)) else ())
    return pieces_of_code(given[0], piece) if given else ()
