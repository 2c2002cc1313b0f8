"""One run opened for a look: its record, its journal, git's objects, and what must not be shown. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from milepost.core.errors import MilepostError, RunUnknown, SettingInvalid
from milepost.core.secrets.redact import Redactor
from milepost.engine.project.project import Project
from milepost.engine.project.secrets import known_secrets
from milepost.engine.project.settings.load import load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.state_lock import holder_of
from milepost.engine.records.journal import Journal, RunRecord
from milepost.engine.records.locate import find_run, where_kept
from milepost.engine.records.values_json import load as load_value
from milepost.roadmap import read
from milepost.roadmap.reading.options import Manner
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRef:
    """Which run is meant: of which roadmap, by its name or the newest, kept on which server."""

    roadmap: Path | None = None
    run: str | None = None
    server: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
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
def viewed(whose: RunRef) -> Iterator[RunView]:
    """A run to look at; raises where nothing was run yet."""
    project, kept = Project.find(whose.roadmap), where_kept(whose.roadmap, whose.run, whose.server)
    with Journal.look(kept.place) as journal, TemporaryDirectory() as own:
        record = find_run(journal, kept.run)
        if record is None:
            raise RunUnknown("no runs here yet", "start one: milepost run")
        holder = holder_of(project.state)
        yield RunView(
            project=project,
            record=record,
            journal=journal,
            git=project.repository.git(Path(own)),
            redact=redactor_of(project),
            running=kept.at_workers or (holder is not None and holder.run == record.run),
        )


T = TypeVar("T")


def redacted(value: T, redact: Redactor) -> T:
    """A value with secrets taken out of every text in it."""
    clean: Any = _redacted(value, redact)
    result: T = clean
    return result


def _redacted(value: Any, redact: Redactor) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, tuple):
        return tuple(_redacted(one, redact) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {field.name: _redacted(getattr(value, field.name), redact) for field in fields(value)}
        return replace(value, **changed)
    return value


def redactor_of(project: Project) -> Redactor:
    """Whatever knows the secrets of the environment, and those of the settings where they can be read."""
    try:
        settings = load(project.roadmap.parent)
    except SettingInvalid:
        settings = Settings()
    return Redactor(known_secrets(settings, project.repository.top))


def titles_of(git: Git, record: RunRecord) -> dict[str, str]:
    """The titles of the tasks in the roadmap that a run began with, as far as it is still there."""
    base, roadmap = str(record.order.get("base", "")), str(record.order.get("roadmap", ""))
    try:
        content = Mileposts(git).roadmap_at(base, roadmap) or b""
        return {task.id: task.title for task in read(content, load_value(Manner, record.order.get("manner", {}))).tasks}
    except MilepostError:
        return {}
