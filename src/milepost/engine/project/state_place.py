"""Where the state of a roadmap is kept: in the git directory of its working tree, where no commit or clone can reach.

Git takes no path with a part `.git` into a commit. A repository that is moved or copied keeps its state, and a
worktree that is removed takes its own along. Where there is no repository, it is in the user's own state folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from milepost.core.errors import NoRepository
from milepost.workspace.repository import Repository

OPEN_FOLDER = ".milepost"  # beside the roadmap: what people look at and write
FOLDER = "milepost"

_TOP = "top"
_LONGEST = 120


def state_path(folder: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The state directory of the roadmap in a folder; whether it is there, and may be used, is not asked."""
    folder = folder.resolve()
    try:
        repository = Repository.find(folder)
    except NoRepository:
        return user_folder(environ) / "folders" / _encoded(folder.as_posix())
    top = repository.top.resolve()
    inside = folder.relative_to(top).as_posix() if folder.is_relative_to(top) else "."
    return repository.git_dir.resolve() / FOLDER / (_TOP if inside == "." else f"in-{_encoded(inside)}")


def user_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Milepost's folder among the user's states, which outlive every repository."""
    named = environ.get("XDG_STATE_HOME", "")
    if not named.startswith("/"):  # a relative one means nothing, as its specification says
        home = environ.get("HOME") or Path("~").expanduser()
        named = f"{home}/.local/state"
    return Path(named) / FOLDER


def _encoded(path: str) -> str:
    """A path as the name of one folder, another one for each path; without `%`, which addresses decode."""
    name = quote(os.fsencode(path), safe="").replace("%", "=")
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}"
