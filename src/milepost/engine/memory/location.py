"""The home of a project's memory: the engine's own database, found from any folder of the project."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.errors import NoCommits, RoadmapMissing
from milepost.engine.memory.episodes import project_in_memory
from milepost.engine.memory.open_memory import INDEX
from milepost.engine.project.project import NAMES, Project
from milepost.engine.project.settings.load import SERVER, Uses, load
from milepost.engine.project.settings.memory import MemorySettings
from milepost.engine.project.settings.settings import Settings
from milepost.workspace.repository import Repository

NAMELESS = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHome:
    """Where a memory is kept, what its project is called there, and what the settings say of it."""

    project: Project
    name: str
    settings: Settings

    @staticmethod
    def find(folder: Path, uses: Uses = SERVER) -> MemoryHome:
        """The home of the memory of the project that a folder is in; a roadmap need not be there."""
        project = _project(folder)
        settings = load(project.roadmap.parent, uses=uses)
        named = settings.memory.project
        try:
            name = project_in_memory(project, named, project.repository.position().commit)
        except NoCommits:
            name = named.strip() or NAMELESS
        return MemoryHome(project=replace(project, server=settings.run.database), name=name, settings=settings)

    @property
    def memory(self) -> MemorySettings:
        return self.settings.memory

    @property
    def state(self) -> Path:
        return self.project.state

    @property
    def place(self) -> Path | str:
        return self.project.store

    @property
    def is_there(self) -> bool:
        """Whether anything was ever kept; a server is asked later."""
        return bool(self.project.server) or self.project.database.exists()

    @property
    def index(self) -> Path:
        """What is only a cache of what is kept: it can be deleted at any time."""
        return self.state / INDEX

    @property
    def told(self) -> str:
        """The place as it is told: of a server nothing that could be a password."""
        return "the server of [run] database" if self.project.server else str(self.project.database)

    def size_bytes(self) -> int:
        """What the files of the database take on this machine, with what the engine keeps there, and the index."""
        files = [*self.state.glob("milepost.db*"), *self.state.glob(f"{INDEX}*")]
        return sum(path.stat().st_size for path in files if path.exists())


def _project(folder: Path) -> Project:
    try:
        return Project.find(None, folder)
    except RoadmapMissing:
        repository = Repository.find(folder)
        top = repository.top.resolve()
        return Project.of(repository, top / NAMES[0])
