"""Commands that take more rights, or change the machine rather than the work."""

from __future__ import annotations

import re

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import options_of
from milepost.sandbox.command_risk.paths import place_of
from milepost.sandbox.command_risk.wrappers import SHELLS

_EVERYBODY = re.compile(r"[0-7]?[0-7][0-7][2367]$|([ugoa]*[ao][ugoa]*|)[+=][rxXst]*w")
_SETS_ID = re.compile(r"[246][0-7]{3}$|[ugoa]*[+=][rwxX]*s")
_DOWNLOADING = frozenset({"curl", "wget", "fetch", "aria2c", "base64", "xxd", "openssl", "gunzip", "nc"})
_READING_STDIN = SHELLS | {"python", "python3", "node", "perl", "ruby", "php", "eval", "source", "."}
_DOWNLOADED = re.compile(r"(<\(|\$\(|`)\s*(curl|wget)\b")

_NAMES = (
    "reboot shutdown halt poweroff visudo useradd userdel usermod groupdel passwd chpasswd insmod modprobe rmmod "
    "setcap iptables ip6tables nft ufw mount umount swapoff nsenter chroot setenforce killall pkill skill"
)
MACHINE = tuple(_NAMES.split())
OTHER_USERS = ("sudo", "su", "doas", "pkexec", "runuser", "gosu")


def as_another(piece: Piece) -> str | None:
    return None if piece.arguments in (("--version",), ("--help",)) else "runs as another user"


def machine(piece: Piece) -> str | None:
    return "changes the machine, not the project" if piece.arguments != ("--help",) else None


def rights(piece: Piece) -> str | None:
    """chmod."""
    options = options_of(word for word in piece.arguments if not re.match(r"-[rwxXst]+$", word))
    if not options.rest:
        return None
    mode, targets = options.rest[0], options.rest[1:]
    if any(_SETS_ID.match(part) for part in mode.split(",")):
        return "lets a program run as its owner (setuid)"
    if any(_EVERYBODY.match(part) for part in mode.split(",")):
        return "makes files writable for everybody"
    if any(place_of(target, piece) == "outside" for target in targets):
        return "changes permissions of files outside of the workspace"
    return None


def services(piece: Piece) -> str | None:
    """systemctl, service, crontab, at, sysctl, kill, fuser."""
    words = options_of(piece.arguments).rest
    match piece.name:
        case "systemctl" if words[:1] and words[0] not in ("status", "show", "list-units", "is-active", "cat"):
            return "starts or stops services of the machine"
        case "service" if words[1:2] and words[1] != "status":
            return "starts or stops services of the machine"
        case "crontab" | "at" | "batch" if "-l" not in piece.arguments:
            return "changes scheduled jobs of the machine"
        case "sysctl" if options_of(piece.arguments).has("-w", "--write") or any("=" in word for word in words):
            return "changes the machine, not the project"
        case "kill" if "-1" in piece.arguments[1:] or "1" in words:
            return "ends every process"
        case "fuser" if options_of(piece.arguments).has("-k", "--kill"):
            return "ends processes, whoever started them"
        case _:
            return None


def unseen_code(piece: Piece) -> str | None:
    """An interpreter that is fed with what was just downloaded or unpacked."""
    if piece.name not in _READING_STDIN:
        return None
    if any(_DOWNLOADED.search(word) for word in piece.arguments):
        return "runs what it downloads"
    source = piece.fed_by
    while source is not None and source.name in ("tee", "sed", "tr", "cat") and source.fed_by is not None:
        source = source.fed_by
    takes_a_file = any(not word.startswith("-") for word in piece.arguments) and "-s" not in piece.arguments
    if source is not None and source.name in _DOWNLOADING and not takes_a_file:
        return "runs a download that nobody has read"
    return None
