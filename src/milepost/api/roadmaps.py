"""The roadmap file: find it, explain how it is read, edit it, write a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.arguments import ignore, path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from milepost.engine.authoring.compose import Composed
    from milepost.engine.authoring.edit_task import TaskText
    from milepost.engine.authoring.from_prose import Normalised
    from milepost.engine.authoring.sync_boxes import Synced
    from milepost.engine.planning.renamed_tasks import Renamed
    from milepost.roadmap.reading.explain import Explanation
    from milepost.roadmap.writing.templates import Template


def find(roadmap: Path | str | None = None) -> Path:
    """The file that a call means by `roadmap`: the one that is named, else that of this folder or of one above it."""
    from milepost.engine.project.project import find_roadmap

    return find_roadmap(path_of(roadmap))


def explain(roadmap: Path | str | None = None, *, dialect: str | None = None) -> Explanation:
    """How a roadmap is read: its dialect, and for each line why it is a task or not."""
    from milepost.engine.planning.make_plan import ways_of
    from milepost.engine.project.project import read_bytes
    from milepost.roadmap.reading.explain import explain as explained

    path = find(roadmap)
    return explained(read_bytes(path), ways_of(path, dialect=dialect)[0])


def task_text(task: str, roadmap: Path | str | None = None) -> TaskText:
    """A task as it is written in the roadmap now: its lines and those of its subtasks."""
    from milepost.engine.authoring.edit_task import task_text as look

    return look(path_of(roadmap), task)


def edit_task(
    task: str,
    text: str,
    roadmap: Path | str | None = None,
    *,
    digest: str = "",
    commit: bool = False,
    database: str | None = None,
) -> TaskText:
    """Replace the lines of a task in the user's roadmap; every other byte stays.

    With `digest` only if the lines still have this digest. Refused if it would become another task, or if other tasks
    would change. `commit` also commits the file by itself; nothing is written if the file has other changes, or while
    a run is not finished (`database` names the server that it was submitted to).
    """
    from milepost.engine.authoring.commit_edit import edit_and_commit
    from milepost.engine.authoring.edit_task import edit_task as write

    if commit:
        return edit_and_commit(path_of(roadmap), task, text, digest, database)
    return write(path_of(roadmap), task, text, digest)


def renamed_tasks(roadmap: Path | str | None = None) -> tuple[Renamed, ...]:
    """The tasks of a roadmap that earlier runs know by another id."""
    from milepost.engine.project.project import state_of

    if not (state_of(find(roadmap)) / "milepost.db").exists():
        return ()
    from milepost.engine.views.log import renamed

    return renamed(path_of(roadmap))


def sync(roadmap: Path | str | None = None, *, dry_run: bool = False) -> Synced:
    """Tick the boxes of the roadmap as the mileposts of the branch say, and report all other mismatches."""
    from milepost.engine.authoring.sync_boxes import sync as sync_boxes

    return sync_boxes(path_of(roadmap), dry_run=dry_run)


def new(
    folder: Path | str | None = None,
    *,
    prompt: str = "",
    template: str = "",
    style: str = "standard",
    write: Path | str | None = None,
    model: str | None = None,
    force: bool = False,
    say: Callable[[str], None] | None = None,
) -> Composed:
    """A new roadmap for the project of a folder, from a template or written by a model from `prompt`.

    `style` is minimal, standard or detailed. It is written to `write`, if given; `force` replaces a file.
    """
    from milepost.engine.authoring.compose import ComposeWish, compose

    wish = ComposeWish(
        folder=Path(folder or "."),
        prompt=prompt,
        template=template,
        style=style,
        write=path_of(write),
        model=model,
        force=force,
    )
    return compose(wish, say or ignore)


def templates() -> tuple[Template, ...]:
    """The templates that `new` and `milepost.init` know."""
    from milepost.roadmap.writing.templates import template_named, template_names

    return tuple(template_named(name) for name in template_names())


def normalise(
    document: Path | str | None = None,
    *,
    write: Path | str | None = None,
    model: str | None = None,
    force: bool = False,
    anyway: bool = False,
    say: Callable[[str], None] | None = None,
) -> Normalised:
    """Have a model find the tasks in a document in prose, each with its line. The same content is asked only once.

    The roadmap is written to `write`, if given; `force` replaces a file. `anyway` also reads a document whose tasks can
    be read without a model.
    """
    from milepost.engine.authoring.from_prose import NormaliseWish
    from milepost.engine.authoring.from_prose import normalise as read_with_model

    wish = NormaliseWish(source=path_of(document), write=path_of(write), model=model, force=force, anyway=anyway)
    return read_with_model(wish, say or ignore)


def sample() -> str:
    """The roadmap of the sample repository, as it is before `milepost.demo`."""
    from milepost.demo import SAMPLE

    return (SAMPLE / "ROADMAP.md").read_text(encoding="utf-8")
