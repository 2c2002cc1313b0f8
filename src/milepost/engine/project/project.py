"""A project: a repository, the roadmap in it, and the state directory of the roadmap."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from milepost.core.errors import RoadmapMissing, RoadmapUnreadable
from milepost.core.folder_roadmap import bound, is_bound, is_page
from milepost.engine.project.known_roadmaps import DATABASE, have_boxes, were_run
from milepost.engine.project.open_folder import ignore
from milepost.engine.project.state_directory import make_state, open_state
from milepost.engine.project.state_lock import StateLock
from milepost.engine.project.state_place import OPEN_FOLDER
from milepost.sandbox.read_plain import read_plain
from milepost.workspace.repository import Repository

NAMES = ("ROADMAP.md", "roadmap.md", "Roadmap.md", "docs/ROADMAP.md", "docs/roadmap.md")
# What is taken where nobody wrote a roadmap: the lists of other tools, and lists that go by another name.
OTHERS = (
    *("TODO.md", "todo.md", "PLAN.md", "plan.md", "TASKS.md", "tasks.md", "todo.txt", "TODO.txt"),
    *(".taskmaster/tasks/tasks.json", "backlog/tasks"),
)
# Where front matter ends at the latest.
_HEAD = 4096
_MOST_NAMED = 4


def find_roadmap(given: Path | None = None, start: Path | None = None) -> Path:
    """The roadmap that was named, or the one of this folder or the nearest folder above it.

    Where none has the usual name, the only one that was run there goes before the lists of other tools.
    """
    start = (start or Path.cwd()).absolute()
    if given is not None and not (start / given).is_dir():
        folders: list[Path] = []
        found = _first([start / given])
    else:
        folders = _above(start) if given is None else [start / given]
        itself = [] if given is None else [start / given, start / given / "tasks"]
        found = _first(_named(folders, NAMES)) or _only_one_run(folders)
        found = found or _first([*_named(folders, OTHERS), *itself])
    if found is None:
        raise _missing(given, start, folders)
    return found.resolve()


def _above(start: Path) -> list[Path]:
    """The folder and those above it in its repository."""
    top = next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)
    return [folder for folder in (start, *start.parents) if folder.is_relative_to(top)]


def _named(folders: Sequence[Path], names: Sequence[str]) -> list[Path]:
    return [folder / name for folder in folders for name in names]


def _first(candidates: Iterable[Path]) -> Path | None:
    return next((path for path in candidates if path.is_file() or _is_folder_of_tasks(path)), None)


def _only_one_run(folders: Sequence[Path]) -> Path | None:
    """The roadmap that was run in the nearest folder where any was; None where it was not the only one."""
    known = next(filter(None, map(_run_in, folders)), [])
    return known[0] if len(known) == 1 else None


def _run_in(folder: Path) -> list[Path]:
    places = [place for place in (folder, folder / "docs") if place.is_dir()]
    return [path for place in places for path in were_run(open_state(place), place)]


def _missing(given: Path | None, start: Path, folders: Sequence[Path]) -> RoadmapMissing:
    """What to say where no roadmap was found, with those that could be meant."""
    what = "there is no ROADMAP.md here"
    if given is not None:
        what = f"there is no roadmap {'in the folder ' if folders else ''}{str(given)!r}"
    run = next(filter(None, map(_run_in, folders)), [])
    boxed = [] if run else [path for folder in folders[:1] for path in have_boxes(folder)]
    if not run and not boxed:
        return RoadmapMissing(what, "write a checklist in ROADMAP.md (`milepost init` makes one), or name the file")
    names = [shlex.quote(os.path.relpath(path, start)) for path in run or boxed]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    why = "were run" if run else ("has boxes" if len(names) == 1 else "have boxes")
    name = "name it" if len(names) == 1 else "name one of them"
    return RoadmapMissing(what, f"{', '.join(names[:_MOST_NAMED])}{more} {why}: {name}, as in milepost plan {names[0]}")


def read_bytes(path: Path) -> bytes:
    """The bytes of a roadmap; of a folder, those of its pages."""
    try:
        if path.is_dir():
            return bound({page.name: read_plain(page) for page in pages_of(path)})
        content = read_plain(path)
    except OSError as error:
        raise RoadmapUnreadable(
            f"{str(path)!r} cannot be read: {error.strerror}", "make the file readable, then try again"
        ) from error
    if is_bound(content):
        raise RoadmapUnreadable(
            f"{str(path)!r} starts with a control character and is not a text file",
            "save it as Markdown, encoded in UTF-8",
        )
    return content


def state_of(roadmap: Path) -> Path:
    """The state directory of a roadmap, which is ours where it is there; raises where it is not."""
    return open_state(roadmap.parent)


def pages_of(roadmap: Path) -> list[Path]:
    """The files that a roadmap consists of: itself, or the pages of a folder."""
    if not roadmap.is_dir():
        return [roadmap]
    return sorted(path for path in roadmap.iterdir() if is_page(path.name) and path.is_file())


def _is_folder_of_tasks(path: Path) -> bool:
    """Whether a folder holds a task a file, each with front matter."""
    if not path.is_dir() or (path / ".git").exists():
        return False
    with suppress(OSError):
        for page in pages_of(path):
            with page.open("rb") as file:
                head = file.read(_HEAD)
            if head.startswith((b"---\n", b"---\r")) and b"\nstatus:" in head:
                return True
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Where a roadmap is worked on; `server` is the address of a database that other machines share, if any.

    `checkouts_key` is what its checkouts are named after.
    """

    repository: Repository
    roadmap: Path
    state: Path
    checkouts_key: Path
    server: str = field(default="", repr=False)

    @staticmethod
    def find(given: Path | None = None, start: Path | None = None) -> Project:
        """The project of a roadmap. Its repository is looked for first: without one nothing else helps."""
        folder = (start or Path.cwd()).absolute()
        if given is not None:
            named = folder / given
            folder = named if named.is_dir() else named.parent
        repository = Repository.find(folder)
        roadmap = find_roadmap(given, start)
        if not roadmap.is_relative_to(repository.top.resolve()):
            raise RoadmapMissing(
                f"{str(roadmap)!r} is not in the repository {str(repository.top)!r}",
                "move the roadmap into the repository",
            )
        return Project.of(repository, roadmap)

    @staticmethod
    def of(repository: Repository, roadmap: Path) -> Project:
        """The project of a roadmap in a repository; the roadmap need not be there."""
        key = roadmap.parent / OPEN_FOLDER
        return Project(repository=repository, roadmap=roadmap, state=state_of(roadmap), checkouts_key=key)

    def lock(self, run: str = "") -> StateLock:
        """The lock of the state directory, to be entered; the directory is made."""
        make_state(self.state)
        ignore(self.roadmap.parent)
        return StateLock(self.state, run)

    @property
    def roadmap_in_tree(self) -> str:
        """The roadmap's path as git knows it."""
        return self.roadmap.relative_to(self.repository.top.resolve()).as_posix()

    @property
    def database(self) -> Path:
        return self.state / DATABASE

    @property
    def store(self) -> Path | str:
        """Where rows are kept: in the state directory, or on the server that is shared."""
        return self.server or self.database
