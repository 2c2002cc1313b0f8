"""A project: a repository, the roadmap in it, and the state directory beside the roadmap."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from milepost.core.errors import RoadmapMissing, RoadmapUnreadable
from milepost.workspace.repository import Repository

NAMES = ("ROADMAP.md", "roadmap.md", "Roadmap.md", "docs/ROADMAP.md", "docs/roadmap.md")
STATE = ".milepost"


def find_roadmap(given: Path | None = None, start: Path | None = None) -> Path:
    """The roadmap that was named, or the one of this folder or the nearest folder above it."""
    start = (start or Path.cwd()).absolute()
    if given is not None:
        candidates = [start / given / name for name in NAMES] if (start / given).is_dir() else [start / given]
    else:
        top = next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)
        above = [folder for folder in (start, *start.parents) if folder.is_relative_to(top)]
        candidates = [folder / name for folder in above for name in NAMES]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        what = f"there is no roadmap {str(given)!r}" if given is not None else "there is no ROADMAP.md here"
        raise RoadmapMissing(what, "write a checklist in ROADMAP.md (`milepost init` makes one), or name the file")
    return found.resolve()


def read_bytes(path: Path) -> bytes:
    """The bytes of a roadmap."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise RoadmapUnreadable(
            f"{str(path)!r} cannot be read: {error.strerror}", "make the file readable, then try again"
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Where a roadmap is worked on; `server` is the address of a database that other machines share, if any."""

    repository: Repository
    roadmap: Path
    state: Path
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
                "a roadmap lives in its repository",
            )
        return Project(repository=repository, roadmap=roadmap, state=roadmap.parent / STATE)

    @property
    def roadmap_in_tree(self) -> str:
        """The roadmap's path as git knows it."""
        return self.roadmap.relative_to(self.repository.top.resolve()).as_posix()

    @property
    def database(self) -> Path:
        return self.state / "milepost.db"

    @property
    def store(self) -> Path | str:
        """Where rows are kept: in the state directory, or on the server that is shared."""
        return self.server or self.database
