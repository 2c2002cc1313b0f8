"""A new roadmap: from a person's words with a model, or from a template without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from milepost.agents.prompts import filled, quoted
from milepost.core.calls import NOTHING, Usage
from milepost.core.errors import Misuse
from milepost.core.own_files import SETTINGS_FILE
from milepost.core.task import Task
from milepost.engine.authoring.ask_model import Consultation, redactor_of
from milepost.engine.authoring.project_summary import Acquaintance, acquaintance_with
from milepost.engine.authoring.write_file import place, refuse_taken
from milepost.engine.project.settings.load import MODEL, load
from milepost.roadmap.prose.answers import NewRoadmap
from milepost.roadmap.writing.compose import Style, manuscript_of, objections
from milepost.roadmap.writing.templates import template_named
from milepost.roadmap.writing.write import write

LONGEST_WISH = 100_000

_STYLES = {
    "minimal": "Few tasks, titles alone: leave `text` and `subtasks` empty.",
    "standard": "`text` says in a few sentences what whoever does it has to know; leave `subtasks` empty.",
    "detailed": "`text` says what whoever does it has to know, with edge cases; `subtasks` are its steps.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeWish:
    """What is asked for: a roadmap from a prompt or from a template, how detailed, and where to write it, if anywhere.

    `folder` is in the project; `force` replaces a file.
    """

    folder: Path
    prompt: str = ""
    template: str = ""
    style: str = "standard"
    write: Path | None = None
    model: str | None = None
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A new roadmap: its text, its tasks, who wrote it, and what that took. `left_out` is what could not be kept."""

    text: str
    tasks: tuple[Task, ...]
    model: str = ""
    template: str = ""
    left_out: tuple[str, ...] = ()
    usage: Usage = NOTHING
    price_known: bool = True
    written: Path | None = None


def compose(wish: ComposeWish, say: Callable[[str], None]) -> Composed:
    """Make a roadmap, and write it where that is asked for; nothing is written where it cannot be made."""
    style = _style(wish.style)
    if bool(wish.prompt.strip()) == bool(wish.template):
        what = (
            "a prompt and a template cannot be combined"
            if wish.template
            else "neither a prompt nor a template is given"
        )
        raise Misuse(
            what, 'use --prompt "what you want to build", or --template NAME (milepost roadmap templates lists them)'
        )
    if wish.write is not None:
        refuse_taken(wish.write, force=wish.force)
    top = _top(wish.folder)
    project = acquaintance_with(top)
    made = _from_template(wish, style, project) if wish.template else _from_prompt(wish, style, project, top, say)
    if wish.write is None:
        return made
    place(made.text, wish.write, force=wish.force)
    return replace(made, written=wish.write)


def _from_template(wish: ComposeWish, style: Style, project: Acquaintance) -> Composed:
    manuscript, left_out = manuscript_of(template_named(wish.template).filled(project.places), style)
    return Composed(text=write(manuscript), tasks=manuscript.tasks, template=wish.template, left_out=left_out)


def _from_prompt(
    wish: ComposeWish, style: Style, project: Acquaintance, top: Path, say: Callable[[str], None]
) -> Composed:
    if len(wish.prompt) > LONGEST_WISH:
        raise Misuse(f"the prompt has {len(wish.prompt)} characters", f"shorten it: at most {LONGEST_WISH} are sent")
    settings = load(top, {"model": wish.model}, uses=MODEL)
    asked = Consultation(settings, top, subject="the prompt", say=say)
    redact = redactor_of(settings)
    prompt = filled(
        "compose",
        style=_STYLES[style],
        wish=quoted(redact(wish.prompt), limit=LONGEST_WISH),
        facts=redact(project.facts()),
    )
    manuscript, left_out = manuscript_of(asked.ask(prompt, NewRoadmap, objections), style)
    return Composed(
        text=write(manuscript),
        tasks=manuscript.tasks,
        model=settings.model.name,
        left_out=left_out,
        usage=asked.usage,
        price_known=asked.price_known,
    )


def _style(given: str) -> Style:
    for style in get_args(Style):
        if style == given:
            found: Style = style
            return found
    raise Misuse(f"there is no style {given!r}", f"use one of {', '.join(get_args(Style))}")


def _top(folder: Path) -> Path:
    """The project that a folder is in: the nearest one with settings, else the repository's top, else itself."""
    folder = folder.absolute()
    for one in (folder, *folder.parents):
        if (one / SETTINGS_FILE).exists() or (one / ".git").exists():
            return one
    return folder
