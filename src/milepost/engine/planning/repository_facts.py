"""What a plan stands on, looked up: in the user's folder for `milepost plan`, at its base commit for a run."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from milepost.core.task import Task
from milepost.engine.planning.missing_programs import missing_programs
from milepost.plan.advice.problems import listed
from milepost.plan.options import Planning
from milepost.plan.repository_facts import RepositoryFacts
from milepost.sources.imports import MOST_FILES, MOST_NAMED, Texts, imports_among, is_source
from milepost.verify.judging.layout import BaseFacts
from milepost.verify.judging.split import judging
from milepost.workspace.mileposts import Mileposts
from milepost.workspace.repository import files_here

LARGEST_SOURCE = 1_000_000


def ground_here(tasks: Sequence[Task], roadmap: Path, planning: Planning, *, here: bool = True) -> RepositoryFacts:
    """What the folder of a roadmap says of its tasks; `here` says that checks run with the programs of this machine."""
    above = (folder for folder in roadmap.parents if (folder / ".git").exists())
    top = next(above, None)
    known = files_here(top) if top is not None else None
    if top is None or known is None:
        return RepositoryFacts(missing=missing_programs(tasks, roadmap.parent, ()) if here else {})
    files = frozenset((*known, *(name for name in _named(tasks) if _is_there(top, name))))
    imports, notes = _imports(tasks, planning, files, lambda paths: _texts(top, paths))
    missing = missing_programs(tasks, top, files) if here else {}
    return RepositoryFacts(files=files, imports=imports, missing=missing, notes=(*notes, *_judging(tasks, files)))


def ground_at(tasks: Sequence[Task], mileposts: Mileposts, commit: str, planning: Planning) -> RepositoryFacts:
    """What a commit says of the order of tasks: what a run needs to know, and no more, since it is recorded."""
    if not planning.imports or not _worth_reading(tasks):
        return RepositoryFacts()
    blobs = mileposts.blobs_at(commit)

    def texts(paths: Sequence[str]) -> dict[str, str]:
        found = mileposts.contents([blobs[path] for path in paths if path in blobs])
        return {path: found.get(blobs[path], b"").decode(errors="replace") for path in paths if path in blobs}

    imports, notes = _imports(tasks, planning, blobs, texts)
    return RepositoryFacts(imports=imports, notes=notes)


def _judging(tasks: Sequence[Task], files: frozenset[str]) -> tuple[str, ...]:
    """What to know of tasks that name a file which judges their own work."""
    named = [name.strip().removeprefix("./") for name in _named(tasks)]
    found = judging([name for name in named if name in files], BaseFacts(files=files))
    if not found:
        return ()
    what = "judges the work of a task that names it" if len(found) == 1 else "judge the work of tasks that name them"
    return (f"{listed(found)} {what}: a change there is shown to you before it lands",)


def _imports(
    tasks: Sequence[Task], planning: Planning, files: Collection[str], texts: Texts
) -> tuple[Mapping[str, Mapping[str, str]], tuple[str, ...]]:
    if not planning.imports or not _worth_reading(tasks):
        return {}, ()
    found = imports_among(_named(tasks), files, texts)
    note = f"imports are followed from {MOST_NAMED} files through {MOST_FILES:,}: what is beyond is not known"
    return found.found, (note,) if found.cut else ()


def _worth_reading(tasks: Sequence[Task]) -> bool:
    """Whether two open tasks name sources: one alone has nobody to wait for."""
    naming = (task for task in tasks if any(is_source(file) for file in _named([task])))
    return next(naming, None) is not None and next(naming, None) is not None


def _named(tasks: Sequence[Task]) -> tuple[str, ...]:
    parts = (part for task in tasks if task.status == "open" for part in task.walk())
    return tuple(dict.fromkeys(file for part in parts for file in part.files))


def _is_there(top: Path, name: str) -> bool:
    with suppress(OSError, ValueError):  # a name that is too long, or no name
        return ".." not in name.split("/") and (top / name).is_file()
    return False


def _texts(top: Path, paths: Sequence[str]) -> dict[str, str]:
    """The texts of files that are no links out of the folder, and not larger than sources are."""
    real = os.path.realpath(top)
    found: dict[str, str] = {}
    for path in paths:
        with suppress(OSError, ValueError):
            file = Path(os.path.realpath(top / path))
            if file.is_relative_to(real) and file.is_file() and file.stat().st_size <= LARGEST_SOURCE:
                found[path] = file.read_bytes().decode(errors="replace")
    return found
