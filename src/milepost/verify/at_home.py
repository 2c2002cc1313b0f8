"""What a program finds around it where a user starts it: a home that is lived in, the variables of a login, a terminal.

Proofs run where none of that is. Work must do the same in both places.
"""

from __future__ import annotations

from pathlib import Path

_KEPT = (".profile", ".bashrc", ".bash_history", ".gitconfig")
_FOLDERS = {"CACHE": ".cache", "CONFIG": ".config", "DATA": ".local/share", "STATE": ".local/state"}
_LOGIN = {
    "SHLVL": "1",
    "HOSTNAME": "desk",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "HISTSIZE": "1000",
    "HISTFILESIZE": "2000",
    "LS_COLORS": "di=01;34:ln=01;36",
    "MAILCHECK": "60",
    "XDG_SESSION_ID": "2",
    "XDG_SESSION_TYPE": "tty",
    "XDG_SESSION_CLASS": "user",
    "XDG_SEAT": "seat0",
    "XDG_VTNR": "1",
    "SSH_TTY": "/dev/pts/0",
    "SSH_CLIENT": "10.0.0.7 50122 22",
    "SSH_CONNECTION": "10.0.0.7 50122 10.0.0.2 22",
}


def login(cwd: Path) -> dict[str, str]:
    """The variables of somebody who works in a folder."""
    return {**_LOGIN, "PWD": str(cwd), "OLDPWD": str(cwd.parent)}


def home_in(room: Path) -> dict[str, str]:
    """The variables of a home of its own in a folder."""
    home = room / "home"
    settle_in(home)
    return {"HOME": str(home), **{f"XDG_{name}_HOME": str(home / place) for name, place in _FOLDERS.items()}}


def settle_in(home: Path) -> None:
    """Leave in a home what is found where somebody lives; nothing that is there is changed."""
    home.mkdir(parents=True, exist_ok=True)
    for name in _KEPT:
        if not (home / name).is_symlink():
            (home / name).touch()
