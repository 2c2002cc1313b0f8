"""Commands that delete or overwrite files: outside of the workspace, or all of it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import NONE, options_of
from milepost.sandbox.command_risk.paths import leads_out, place_of, whole_of
from milepost.sandbox.command_risk.searches import found_by

_TOP = re.compile(r"/+$|/(etc|usr|bin|sbin|lib|boot|var|home|root|opt|srv|dev|proc|sys)/?$|(~\w*|\$\{?HOME\}?)/?$")
_RUN_BY_GIT = re.compile(r"(.*/)?\.git/(hooks(/.*)?|config)$")
_DEVICE = re.compile(r"/dev/(sd|hd|vd|nvme|mmcblk|disk|mem\b|dm-)")


def deleting(piece: Piece) -> str | None:
    """rm, rmdir, unlink, shred, rimraf."""
    options = options_of(piece.arguments, frozenset({"-n", "--iterations", "-s"}) if piece.name == "shred" else NONE)
    every_way = options.has("-r", "-R", "--recursive") or piece.name in ("rimraf", "shred", "trash")
    return _deleted(options.rest, piece, every_way)


def searching(piece: Piece) -> str | None:
    """find … -delete; what it runs is judged by itself."""
    search = found_by(piece)
    return _deleted(search.targets, piece, every_way=True) if search.deletes else None


def copying(piece: Piece) -> str | None:
    """cp, mv, install, ln, rsync: to a place outside of the workspace, or away from one."""
    taking = frozenset({"-t", "--target-directory", "-m", "-o", "-g", "-S", "-e", "--exclude", "--include", "--filter"})
    options = options_of(piece.arguments, taking)
    targets = options.value("-t", "--target-directory") or options.rest[-1:]
    if why := _written((target for target in targets if ":" not in target), piece):
        return why
    if piece.name == "mv" and any(place_of(source, piece) != "inside" for source in options.rest[:-1]):
        return "moves files from outside of the workspace, or the whole workspace"
    if (
        piece.name == "rsync"
        and options.has("--delete", "--delete-after", "--delete-excluded")
        and any(":" in one for one in targets)
    ):
        return "deletes files on another machine"
    return None


def disks(piece: Piece) -> str | None:
    """dd, tee, truncate, and programs that only ever change disks."""
    match piece.name:
        case "dd":
            targets = tuple(word.removeprefix("of=") for word in piece.arguments if word.startswith("of="))
        case "tee" | "truncate":
            targets = options_of(piece.arguments, frozenset({"-s", "--size", "-r"})).rest
        case _:
            return "changes a disk, not just files"
    return _written(targets, piece)


def writing(piece: Piece) -> str | None:
    """Output that is sent to a file."""
    return _written(piece.writes, piece)


def owners(piece: Piece) -> str | None:
    """chown and chgrp; chmod is about privileges."""
    options = options_of(piece.arguments, frozenset({"--reference", "--from"}))
    if any(place_of(target, piece) in ("outside", "unknown") for target in options.rest[1:]):
        return "changes who owns files outside of the workspace"
    return None


def of_the_machine(piece: Piece) -> bool:
    """Whether a piece destroys what no work could be about: a disk, the whole machine, a home folder."""
    if piece.name.startswith("mkfs") or piece.name in ("wipefs", "fdisk", "parted", "mkswap"):
        return True
    if piece.name in ("dd", "tee", "truncate", "cp") or piece.writes:
        return any(_DEVICE.match(word.removeprefix("of=")) for word in (*piece.arguments, *piece.writes))
    if piece.name in ("rm", "shred", "rimraf", "srm", "find", "chmod", "chown"):
        paths = (whole_of(posixpath.join(piece.cwd, word)) for word in piece.arguments if word)
        return any(_TOP.match(posixpath.normpath(path)) for path in paths)
    return False


def _written(targets: Iterable[str], piece: Piece) -> str | None:
    for target in targets:
        if _DEVICE.match(target):
            return "overwrites a disk"
        if leads_out(target, piece):
            return "writes outside of the workspace"
        if _RUN_BY_GIT.match(posixpath.join(piece.cwd, target)):
            return "changes hooks or settings that git runs"
    return None


def _deleted(targets: Iterable[str], piece: Piece, every_way: bool) -> str | None:
    for target in targets:
        place = place_of(target, piece)
        if place == "outside":
            return "deletes outside of the workspace"
        if place == "whole" and (every_way or "*" in target):
            return "deletes everything in the workspace"
        if place == "repository":
            return "deletes the history of the repository"
        if place == "unknown" and every_way:
            return "deletes a folder whose name is not known in advance"
    return None
