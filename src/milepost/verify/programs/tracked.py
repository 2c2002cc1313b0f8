"""Programs that git brings: whoever commits writes them, so that none of them may judge.

The one door for interpreters, tools and folders of packages that are found in a user's tree or in a checkout.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

MOST_LINKS = 40
_NEUTRAL = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--literal-pathspecs")


def tracked_at(repository: Path, place: Path) -> str:
    """What git tracks at or below a place of a repository, or of the links on the way there: its path, empty for none.

    One file is enough: a single one in a folder of packages is run by all that is started from there.
    """
    top = Path(os.path.realpath(repository))
    inside = (path.relative_to(top) for path in _on_the_way(place.absolute()) if path.is_relative_to(top))
    names = [str(path) for path in dict.fromkeys(inside) if path.parts]
    if not names:
        return ""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    words = ("git", "-C", str(top), *_NEUTRAL, "ls-files", "-z", "--cached", "--", *names)
    try:
        done = subprocess.run(
            words, cwd="/", env=env | {"GIT_OPTIONAL_LOCKS": "0"}, capture_output=True, timeout=60, check=False
        )
        failed = done.returncode != 0
    except (OSError, subprocess.TimeoutExpired):
        failed = True
    if failed:  # what git cannot tell of in a repository is not believed
        return names[0] if (top / ".git").exists() else ""
    return os.fsdecode(done.stdout.split(b"\0")[0])


def is_of_checkout(program: Path, checkout: Path) -> bool:
    """Whether a program lies in a checkout itself, and is not one of the packages that the engine linked into it."""
    return Path(os.path.realpath(program)).is_relative_to(os.path.realpath(checkout))


def judging_path(path: str, repository: Path) -> str:
    """A search path without folders that a commit can fill: relative ones, and those that git tracks files in.

    Nor those that this user may not look into, as where another user's variables were kept.
    """
    kept = (entry for entry in path.split(os.pathsep) if entry.startswith("/") and not _is_closed(entry))
    return os.pathsep.join(entry for entry in kept if not tracked_at(repository, _whole(Path(entry))))


def _is_closed(folder: str) -> bool:
    try:
        Path(folder).stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return not os.access(folder, os.X_OK)


def tracked_program(repository: Path, program: Path) -> str:
    """What git tracks of a program and of the environment that it belongs to; empty for nothing."""
    return tracked_at(repository, program) or tracked_at(repository, _whole(program.parent))


def _whole(folder: Path) -> Path:
    """The environment that a folder of programs belongs to, else the folder: what is beside them runs with them."""
    above = folder.parent
    return above if above.name == "node_modules" or (above / "pyvenv.cfg").is_file() else folder


def _on_the_way(place: Path) -> Iterator[Path]:
    """The place, each link that is followed to get there, and where that is."""
    real = Path(os.path.realpath(place))
    yield real
    if real == place:  # then none of what is above it is a link
        return
    todo = [place]
    for _ in range(MOST_LINKS):
        if not todo:
            return
        path = todo.pop()
        yield _itself(path)
        for part in (path, *path.parents):
            if part.is_symlink():
                yield _itself(part)
                todo.append(part.parent / part.readlink() / path.relative_to(part))
                break


def _itself(path: Path) -> Path:
    """Where a path is, without following it where it is a link."""
    return Path(os.path.realpath(path)) if path.name == ".." else Path(os.path.realpath(path.parent), path.name)
