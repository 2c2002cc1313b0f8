"""The environment of a guest, built from nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from milepost.sandbox.confined import PathRefused, PlainFolder

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PASSED_ON = frozenset({"PATH", "LANG", "TZ", "TERM", "USER", "LOGNAME"})


def environment(
    *, host: Mapping[str, str], user: str, scratch: Path, given: Mapping[str, str], toolchains: Mapping[str, str]
) -> dict[str, str]:
    """All variables a guest sees: a few of the host's, folders of its own, and what the command gives it."""
    home = scratch / "home"
    defaults = {"PATH": DEFAULT_PATH, "LANG": "C.UTF-8", "TERM": "dumb", "USER": user, "LOGNAME": user}
    passed_on = {name: value for name, value in host.items() if name in _PASSED_ON or name.startswith("LC_")}
    own = {
        "HOME": str(home),
        "TMPDIR": str(scratch / "tmp"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "SHELL": "/bin/sh",
    }
    return {**defaults, **passed_on, **own, **toolchains, **given}


def prepare_scratch(scratch: Path, lent: Mapping[str, str] | None = None) -> None:
    """Make the folders that the environment names, and in the home the files that are `lent`, where it has none.

    An earlier guest owned what is inside: a link it left there would lead the next one astray, so it is removed.
    """
    for folder in (scratch / "home", scratch / "tmp"):
        if folder.is_symlink():
            folder.unlink()
        folder.mkdir(parents=True, exist_ok=True)
    home = PlainFolder(scratch / "home")
    for name, text in (lent or {}).items():
        with suppress(PathRefused):
            if home.mode(name) is None:
                home.write(name, text.encode())
