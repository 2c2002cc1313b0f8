"""One run opened for a look: its record, its journal, git's objects, and what must not be shown. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from milepost.core.errors import RunUnknown
from milepost.core.redact import Redactor
from milepost.engine.journal import Journal, RunRecord
from milepost.engine.project import Project
from milepost.engine.report.gather import redactor_of
from milepost.engine.state import holder_of
from milepost.engine.stream import find_run, where_kept
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """Which run is meant: of which roadmap, by its name or the newest, kept on which server."""

    roadmap: Path | None = None
    run: str | None = None
    server: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A run as others may look at it; `running` says that somebody is at it now."""

    project: Project
    record: RunRecord
    journal: Journal
    git: Git
    redact: Redactor
    running: bool

    @property
    def mileposts(self) -> Mileposts:
        return Mileposts(self.git)


@contextmanager
def viewed(whose: Whose) -> Iterator[View]:
    """A run to look at; raises where nothing was run yet."""
    project, kept = Project.find(whose.roadmap), where_kept(whose.roadmap, whose.run, whose.server)
    with Journal.look(kept.place) as journal, TemporaryDirectory() as own:
        record = find_run(journal, kept.run)
        if record is None:
            raise RunUnknown("nothing was run here yet", "milepost run")
        holder = holder_of(project.state)
        yield View(
            project=project,
            record=record,
            journal=journal,
            git=project.repository.git(Path(own)),
            redact=redactor_of(project),
            running=kept.at_workers or (holder is not None and holder.run == record.run),
        )
