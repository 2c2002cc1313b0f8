"""The unit of systemd that continues runs after a restart of the machine, as text and as commands. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

NAME = "milepost.service"
MADE_BY = "# Written by `milepost service install`; removed by `milepost service uninstall`."
KEYS_FILE = "service.env"

_KEPT = ("PATH", "XDG_STATE_HOME", "XDG_CACHE_HOME", "MILEPOST_CHECKOUTS")


def unit_text(program: Sequence[str], environ: Mapping[str, str]) -> str:
    """The unit: it runs `milepost service run` when its user's session begins, and ends the runs with it in order.

    It has the paths of the environment that it is installed from. Keys are not in it: they are read from a file.
    """
    kept = "".join(f"Environment={quoted(f'{name}={environ[name]}')}\n" for name in _KEPT if environ.get(name))
    return (
        f"{MADE_BY}\n"
        "[Unit]\n"
        "Description=Milepost: continue runs that a restart of the machine interrupted\n"
        "\n"
        "[Service]\n"
        "Type=exec\n"
        f"{kept}"
        f"EnvironmentFile=-%E/milepost/{KEYS_FILE}\n"
        f"ExecStart={' '.join(quoted(word).replace('$', '$$') for word in (*program, 'service', 'run'))}\n"
        "KillMode=mixed\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def quoted(word: str) -> str:
    """A word as systemd reads it back unchanged."""
    word = word.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return word if re.fullmatch(r"[\w./=:@+,%$-]+", word) else f'"{word}"'


def unit_file(environ: Mapping[str, str]) -> Path:
    """Where a user's own units are."""
    named = environ.get("XDG_CONFIG_HOME", "")
    config = Path(named) if named.startswith("/") else Path(environ.get("HOME") or "~").expanduser() / ".config"
    return config / "systemd" / "user" / NAME


def probe_command() -> list[str]:
    """Succeeds where systemd runs for this user."""
    return ["systemctl", "--user", "show-environment"]


def enable_commands() -> list[list[str]]:
    return [["systemctl", "--user", "daemon-reload"], ["systemctl", "--user", "enable", NAME]]


def disable_commands() -> tuple[list[str], list[str]]:
    """Before the unit's file is removed, and after."""
    return ["systemctl", "--user", "disable", NAME], ["systemctl", "--user", "daemon-reload"]


def enabled_command() -> list[str]:
    return ["systemctl", "--user", "is-enabled", "--quiet", NAME]


def linger_command() -> list[str]:
    """Says whether the user's units start with the machine, without a login."""
    return ["loginctl", "show-user", "--property=Linger", "--value"]


def cron_line(program: Sequence[str], environ: Mapping[str, str]) -> str:
    """What does the same as the unit where cron runs."""
    kept = "".join(f"{name}={shlex.quote(environ[name])} " for name in _KEPT if environ.get(name))
    return f"@reboot {kept}{shlex.join((*program, 'service', 'run'))}".replace("%", "\\%")
