"""Bringing single files back as they were somewhere, into the user's tree; committing them is left to the user."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import Misuse, PlaceUnknown, RestoreRefused
from milepost.engine.project.project import Project
from milepost.engine.views.revisions import Revision, find_place, mileposts_of
from milepost.workspace.mileposts import Mileposts
from milepost.workspace.repository import Repository
from milepost.workspace.restore_file import in_the_way, write_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The files that were written, and the place that they are from."""

    place: str
    commit: str
    files: tuple[str, ...]


def restore(roadmap: Path | None, files: Sequence[str | Path], *, source: str) -> Restored:
    """Write files, or all files below a folder, as a place has them; refuses where a change of the user's would go."""
    if not files:
        raise Misuse("name the files to restore", "milepost diff TASK --stat lists what a task changed")
    project = Project.find(roadmap)
    repository = project.repository
    with mileposts_of(project) as mileposts:
        place = find_place(project, mileposts, source)
        asked = [_in_tree(repository, file) for file in files]
        found = tuple(dict.fromkeys(path for name in asked for path in _files_at(mileposts, place, name)))
    if taken := in_the_way(repository, found):
        path, why = taken[0]
        more = f", and {len(taken) - 1} more" if len(taken) > 1 else ""
        raise RestoreRefused(
            f"{path} {why}{more}: restoring it would overwrite that", "nothing was changed: commit or move it first"
        )
    if repository.uses_filters(place.commit):
        raise RestoreRefused(
            "this repository uses git filters such as LFS, which only your own git may run",
            f"git restore --source={place.commit[:12]} -- {shlex.join(found)}",
        )
    write_files(repository, place.commit, found)
    return Restored(place=place.name, commit=place.commit, files=found)


def _in_tree(repository: Repository, file: str | Path) -> str:
    """The path that git knows a file by, as it was typed in the current folder; links are not followed."""
    typed = Path(os.path.abspath(file))  # noqa: PTH100
    for top in (repository.top, repository.top.resolve()):
        here = typed if typed.is_relative_to(top) else typed.parent.resolve() / typed.name
        if here.is_relative_to(top):
            return here.relative_to(top).as_posix()
    raise Misuse(f"{str(file)!r} is not in the repository {str(repository.top)!r}", "name files in the repository")


def _files_at(mileposts: Mileposts, place: Revision, path: str) -> tuple[str, ...]:
    found = mileposts.files_below(place.commit, path)
    if not found:
        raise PlaceUnknown(
            f"{path} is not in {place.name} ({place.commit[:7]})",
            f"see what it changed: milepost diff {place.name} --stat",
        )
    return found
