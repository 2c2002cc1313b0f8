"""The app that a project builds: where its files are, or the address of who serves it already."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import urlsplit

import milepost

USUAL: Final = ("dist", "build/web", "public", "site")


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """An app to show: in one of the folders, the first that has a page; or at an address of its own, without any."""

    url: str
    folders: tuple[Path, ...]

    def folder(self) -> Path | None:
        """Where it is now; a run may build it at any time."""
        return next((folder for folder in self.folders if (folder / "index.html").is_file()), None)

    def address(self) -> str | None:
        """What to show in a frame now, None while there is nothing."""
        return self.url if not self.folders or self.folder() else None


def app_named(given: str | None, project: Path, own_url: str) -> App:
    """The app that a person means: a folder, an address of this machine, or the usual places of a project."""
    if given is None:
        return App(url=own_url, folders=tuple(project / name for name in USUAL))
    if "://" in given:
        return App(url=_of_this_machine(given), folders=())
    folder = Path(given).absolute()
    if folder.exists() and not folder.is_dir():
        raise milepost.Misuse(f"{given!r} is not a folder", "name the one that the app is built into")
    return App(url=own_url, folders=(folder,))


def opened(folder: Path, parts: tuple[str, ...]) -> BinaryIO | None:
    """A file of a folder, None where there is none: nothing hidden, and no link that leads out of it.

    Where a path led is asked once it is open, so that nobody can change it in between.
    """
    if any(part.startswith(".") or "\0" in part for part in parts):
        return None
    try:
        fd = os.open(folder.joinpath(*parts), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    led_to, top = Path(f"/proc/self/fd/{fd}").readlink(), folder.resolve()
    inside = led_to.is_relative_to(top) and not _hidden(led_to.relative_to(top))
    if inside and stat.S_ISREG(os.fstat(fd).st_mode):
        return os.fdopen(fd, "rb")
    os.close(fd)
    return None


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _of_this_machine(url: str) -> str:
    """An address by the name localhost: by the page's own, what is shown would be sent the page's cookie."""
    try:
        parts = urlsplit(url)
        known = parts.scheme == "http" and parts.hostname == "localhost" and not (parts.username or parts.password)
        port = parts.port
    except ValueError:
        known, port = False, None
    if not known or not url.isprintable() or any(sign in url for sign in " ;,'\"<>"):
        raise milepost.Misuse(
            f"{url!r} is not an address that the page can show",
            "give it by the name localhost: http://localhost:5173",
        )
    return f"http://localhost:{port or 80}{parts.path or '/'}"
