"""The roadmap itself: which file it is, how it is read, and writing one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.given import path_of, unheard

if TYPE_CHECKING:
    from collections.abc import Callable

    from milepost.engine.authoring.compose import Composed
    from milepost.engine.authoring.edit_task import TaskText
    from milepost.engine.authoring.from_prose import Normalised
    from milepost.engine.authoring.sync_boxes import Synced
    from milepost.engine.planning.renamed_tasks import Renamed
    from milepost.roadmap.reading.explain import Explanation
    from milepost.roadmap.writing.templates import Template


def find_roadmap(roadmap: Path | str | None = None) -> Path:
    """The file that a call means by `roadmap`: the one that is named, or the one of this folder or above it."""
    from milepost.engine.project.project import find_roadmap as find

    return find(path_of(roadmap))


def explain_roadmap(roadmap: Path | str | None = None, *, dialect: str | None = None) -> Explanation:
    """How a roadmap is read: in which dialect, and why each line of it was taken for a task, or was not."""
    from milepost.engine.planning.make_plan import ways_of
    from milepost.engine.project.project import read_bytes
    from milepost.roadmap.reading.explain import explain as explained

    path = find_roadmap(roadmap)
    return explained(read_bytes(path), ways_of(path, dialect=dialect)[0])


def task_text(task: str, roadmap: Path | str | None = None) -> TaskText:
    """A task as it is written in the roadmap now: its lines, with those of all below it."""
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
    """Write other lines for a task into the user's roadmap; every other byte of it stays.

    With `digest` only in the place of those that were shown under it. Refused where it would be another task
    afterwards, or others would change. With `commit` that file alone is committed, too; nothing is written where it
    has other changes, or a run is not over (`database` names the server that it was submitted to).
    """
    from milepost.engine.authoring.commit_edit import edit_and_commit
    from milepost.engine.authoring.edit_task import edit_task as write

    if commit:
        return edit_and_commit(path_of(roadmap), task, text, digest, database)
    return write(path_of(roadmap), task, text, digest)


def renamed(roadmap: Path | str | None = None) -> tuple[Renamed, ...]:
    """The tasks of a roadmap that were worked on under another name."""
    from milepost.engine.project.project import state_of

    if not (state_of(find_roadmap(roadmap)) / "milepost.db").exists():
        return ()
    from milepost.engine.views.status import renamed as look_for

    return look_for(path_of(roadmap))


def sync(roadmap: Path | str | None = None, *, dry_run: bool = False) -> Synced:
    """Bring the roadmap, git and the database to agree: boxes follow the mileposts of the branch, the rest is told."""
    from milepost.engine.authoring.sync_boxes import sync as bring_to_agree

    return bring_to_agree(path_of(roadmap), dry_run=dry_run)


def new_roadmap(
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
    """A new roadmap for the project of a folder: from a template, or what a model makes of `prompt`.

    `style` is minimal, standard or detailed. It is written only where `write` says so; `force` replaces a file.
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
    return compose(wish, say or unheard)


def roadmap_templates() -> tuple[Template, ...]:
    """The templates that `new_roadmap` and `init` know."""
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
    """Have a model read a document in prose: the tasks that it asks for, each with its line. Asked once a content.

    The roadmap is written only where `write` says so; `force` replaces a file. `anyway` also has a document read whose
    tasks can be read without a model.
    """
    from milepost.engine.authoring.from_prose import NormaliseWish
    from milepost.engine.authoring.from_prose import normalise as read_with_model

    wish = NormaliseWish(source=path_of(document), write=path_of(write), model=model, force=force, anyway=anyway)
    return read_with_model(wish, say or unheard)
