"""A task put at the end of the roadmap and committed at once with the files that it speaks of, once for all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from milepost.core.errors import CommitRefused, EngineBusy, FileInTheWay, MachineFailed, RoadmapUnwritable
from milepost.core.task import Task
from milepost.engine.authoring.commit_edit import refuse_held, refuse_mixed
from milepost.engine.authoring.write_file import rewrite
from milepost.engine.planning.make_plan import manner_here
from milepost.engine.project.project import Project, read_bytes
from milepost.engine.records.locate import server_named
from milepost.engine.views.revisions import mileposts_of
from milepost.roadmap.editing.append import appended, free_id
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.read import read
from milepost.store.kill_points import reached
from milepost.workspace.commit_file import commit_file, refusal

HEADING, LETTERS = "Incidents", "INC"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """What is appended. `marker` is a path of one of its files, by which the task is known again; it is in `text`."""

    title: str
    text: str
    verify: tuple[str, ...]
    files: Mapping[str, str]
    marker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """The task in the roadmap; `commit` is empty where it had been committed before."""

    task: str
    commit: str = ""


def require_appendable(project: Project) -> None:
    """Raise where the roadmap takes no further task, before anything is done for one."""
    content, manner = read_bytes(project.roadmap), manner_here(project)
    appended(
        content, Task(id=free_id(content, LETTERS, manner), title="A task", status="open", line=0), HEADING, manner
    )


def append_and_commit(project: Project, new: NewTask) -> Appended:
    """Append a task that is not there yet, and commit it; what was interrupted is ended, what is refused not begun."""
    try:
        with project.lock() as lock:
            return _appended(project, new, manner_here(project), (lock.fd,))
    except EngineBusy as error:
        raise CommitRefused(error.message, "say it again when that has ended") from error


def _appended(project: Project, new: NewTask, manner: Manner, held_fds: tuple[int, ...]) -> Appended:
    path, repository = project.roadmap_in_tree, project.repository
    content = read_bytes(project.roadmap)
    committed = _committed_content(project)
    if known := _named(committed, new.marker, manner):
        return Appended(task=known)
    refuse_held(project, server_named(project, None))
    if not _named(content, new.marker, manner) or content != _with(committed, new, manner):
        refuse_mixed(project, path)
        for name, text in new.files.items():
            _put(project, name, text)
        reached("incident's files written")
        rewrite(project.roadmap, lambda found: _with(found, new, manner))
        reached("incident's task written")
    for name in (*new.files, path):
        if why := refusal(repository, name):
            raise CommitRefused(why, f"commit it yourself: git add {' '.join(new.files)} && git commit {path}")
    task = _named(read_bytes(project.roadmap), new.marker, manner)
    try:
        commit = commit_file(repository, path, f"Add task {task} to {path}\n", held_fds, tuple(new.files))
    except MachineFailed as error:
        raise CommitRefused(f"{path} is written, but not committed: {error.message}", f"git commit {path}") from error
    reached("incident's task committed")
    return Appended(task=task, commit=commit)


def _with(content: bytes, new: NewTask, manner: Manner) -> bytes:
    name = free_id(content, LETTERS, manner)
    task = Task(id=name, title=new.title, status="open", line=0, text=new.text, verify=new.verify)
    after = appended(content, task, HEADING, manner)
    if _named(after, new.marker, manner) != name:
        raise RoadmapUnwritable(f"the words of a task about {new.marker} cannot be written", "report it: this is a bug")
    return after


def _named(content: bytes, marker: str, manner: Manner) -> str:
    """The task whose text names a path; empty where none does."""
    everyone = (one for top in read(content, manner).tasks for one in top.walk())
    return next((one.id for one in everyone if marker in one.text), "")


def _committed_content(project: Project) -> bytes:
    with mileposts_of(project) as mileposts:
        return mileposts.roadmap_at(project.repository.position().commit, project.roadmap_in_tree) or b""


def _put(project: Project, name: str, text: str) -> None:
    """Write a file whole, where nothing else is, and in no folder that a link leads out of."""
    top = project.repository.top.resolve()
    place = top / name
    if place.parent.resolve() != place.parent:
        raise FileInTheWay(f"{name} would be written through a link", "remove the link")
    if place.exists():
        if place.is_symlink() or place.read_text(encoding="utf-8", errors="replace") != text:
            raise FileInTheWay(f"{name} exists already, with another content", "move it away, then say it again")
        return
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        half = place.with_name(f".{place.name}.{os.getpid()}")
        half.write_text(text, encoding="utf-8", newline="\n")
        half.replace(place)
    except OSError as error:
        raise RoadmapUnwritable(f"{name} cannot be written: {error.strerror}", "make its folder writable") from error
