"""Which of the host's paths a room shares, in what way, and the links that lead to them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

_MOST_LINKS = 40
_OWN = ("/proc", "/dev")  # a room has these itself
_SHARED_MEMORY = "/dev/shm/"  # noqa: S108


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A real path of the host, and whether it may be read, changed, or changed in an overlay."""

    path: str
    way: Literal["read", "write", "overlay"]


def shares(
    readable: Iterable[str], writable: Iterable[str], overlaid: str | None
) -> tuple[tuple[Share, ...], dict[str, str]]:
    """What to share, outer before inner, and the links to make, for these paths to lead inside where they do outside.

    What is not there is left out. As with Landlock, all below a writable folder is writable, so a path within another
    says nothing new; the exception is a writable folder in an overlaid one, which is changed for good.
    """
    links: dict[str, str] = {}
    layers = _real_paths([overlaid] if overlaid else (), links)
    changed = _real_paths(writable, links) - layers
    read = _real_paths(readable, links) - changed - layers
    everything = read | changed | layers
    wanted = [Share(path=path, way="overlay") for path in layers]
    wanted += [Share(path=path, way="write") for path in changed if _around(path, changed | layers) not in changed]
    wanted += [Share(path=path, way="read") for path in read if _around(path, everything) is None]
    outer_first = tuple(sorted(wanted, key=lambda share: share.path))
    shared = {share.path for share in outer_first}
    return outer_first, {link: text for link, text in links.items() if _around(link, shared) is None}


def _around(path: str, folders: set[str]) -> str | None:
    """The nearest of `folders` that `path` lies in, other than itself."""
    while path != "/":
        path = _above(path)
        if path in folders:
            return path
    return None


def _real_paths(paths: Iterable[str], links: dict[str, str]) -> set[str]:
    found = (_trace(path, links) for path in paths if not _is_own(path))
    return {path for path in found if path is not None}


def _trace(path: str, links: dict[str, str]) -> str | None:
    """Where an absolute path really leads, None if nowhere or to what a room has itself; notes the links it passes."""
    real, passed = "/", 0
    todo = path.split("/")[::-1]
    while todo:
        name = todo.pop()
        if name in ("", "."):
            continue
        here = _above(real) if name == ".." else f"{real.rstrip('/')}/{name}"
        text = _link(here)
        if _is_own(here) or passed > _MOST_LINKS or text is None:
            return None
        if text:
            passed += 1
            links[here] = text
            todo.extend(text.split("/")[::-1])
            real = "/" if text.startswith("/") else real
        else:
            real = here
    return real


def _link(path: str) -> str | None:
    """What the link at `path` says, empty when it is none; None when nothing is there that this user may see."""
    try:
        return os.readlink(path)  # noqa: PTH115 - pathlib costs start-up time
    except OSError as problem:
        return "" if problem.errno == errno.EINVAL else None


def _above(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _is_own(path: str) -> bool:
    within = path.startswith(tuple(f"{own}/" for own in _OWN)) and not path.startswith(_SHARED_MEMORY)
    return within or path in _OWN
