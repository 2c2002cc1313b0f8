"""Which dialect a roadmap is written in: the one that the settings name, else the surest that finds a task."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from milepost.core.task import Problem
from milepost.roadmap.dialects import boxes
from milepost.roadmap.reading.drafts import DialectReading
from milepost.roadmap.reading.markdown import DEEPEST_LEVEL, parse
from milepost.roadmap.reading.options import Dialect, Manner
from milepost.roadmap.reading.source import RoadmapSource

if TYPE_CHECKING:
    from milepost.roadmap.dialects.outline import Outline

Reader = Callable[[RoadmapSource, Manner], DialectReading]

_BOX = re.compile(r"\[[ xX]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A dialect, why it is this one, and what it makes of the roadmap."""

    dialect: Dialect
    why: str
    reading: DialectReading


def choose(source: RoadmapSource, manner: Manner) -> Chosen:
    """The dialect that a roadmap is read in."""
    if manner.dialect != "auto":
        reading = READERS[manner.dialect](source, manner)
        return Chosen(dialect=manner.dialect, why="the settings name it", reading=reading)
    if (by_form := _by_form(source, manner)) is not None:
        return by_form
    if any(_BOX.search(line) for line in source.lines):
        boxed = boxes.read(source)
        if boxed.drafts:
            from milepost.roadmap.dialects.left_out import left_out

            boxed = replace(boxed, problems=(*boxed.problems, *left_out(source, boxed)))
            return Chosen(dialect="boxes", why="it has boxes", reading=boxed)
    return _by_rule_of_thumb(source, manner)


def _by_form(source: RoadmapSource, manner: Manner) -> Chosen | None:
    """A form that cannot be taken for anything else: a folder, JSON, a name such as todo.txt."""
    if source.lines[0].startswith("\x1c"):
        return Chosen(dialect="backlog", why="it is a folder", reading=READERS["backlog"](source, manner))
    if _starts_with_a_brace(source):
        from milepost.roadmap.dialects import task_master

        if task_master.looks_so(source):
            return Chosen(
                dialect="task-master",
                why="it is JSON with a list of tasks",
                reading=task_master.read(source, manner.tag),
            )
    if manner.name.lower().endswith(".txt"):
        from milepost.roadmap.dialects import todo_txt

        if todo_txt.is_named_so(manner.name):
            return Chosen(dialect="todo.txt", why="its name says so", reading=todo_txt.read(source))
    return None


def _starts_with_a_brace(source: RoadmapSource) -> bool:
    return next((line.lstrip() for line in source.lines if line.strip()), "").startswith("{")


def _by_rule_of_thumb(source: RoadmapSource, manner: Manner) -> Chosen:
    """The way that most tasks are written in; and what stands below headings that announce plans."""
    from milepost.roadmap.dialects import todo_txt
    from milepost.roadmap.dialects.outline import outline_of

    if todo_txt.looks_so(source):
        why = "most of its lines begin like those of a todo.txt"
        return Chosen(dialect="todo.txt", why=why, reading=todo_txt.read(source))
    document = parse(source)
    chosen = _most_used(outline_of(document, source), manner)
    if not document.too_deep:
        return chosen
    message = f"nested more than {DEEPEST_LEVEL} levels deep: what is there is left out"
    problem = Problem(line=document.too_deep[0] + 1, message=message)
    return replace(chosen, reading=replace(chosen.reading, problems=(problem,)))


def _most_used(outline: Outline, manner: Manner) -> Chosen:
    from milepost.roadmap.dialects.bullets import read_bullets
    from milepost.roadmap.dialects.status_signs import read_signed
    from milepost.roadmap.dialects.table import read_tables

    tables = read_tables(outline)
    signed, kinds = read_signed(outline, emoji=True)
    listed = read_bullets(outline, manner.name)
    if tables.drafts and _count(tables) >= _count(signed):
        reading = _with_lists(tables, listed, outline)
        return Chosen(dialect="table", why="it has tables that show the status", reading=reading)
    if signed.drafts:
        emoji = kinds["emoji"] > 0
        why = "emoji show the status" if emoji else "words such as TODO and DONE show the status"
        return Chosen(dialect="emoji" if emoji else "words", why=why, reading=_with_lists(signed, listed, outline))
    why = "it has lists below headings that announce plans" if listed.drafts else "nothing in it looks like one"
    return Chosen(dialect="bullets" if listed.drafts else "boxes", why=why, reading=listed)


def _count(reading: DialectReading) -> int:
    return sum(1 for top in reading.drafts for _ in top.walk())


def _with_lists(reading: DialectReading, listed: DialectReading, outline: Outline) -> DialectReading:
    """A reading with the plain lists below headings that announce plans, where it took nothing itself."""
    taken = {draft.line for draft in reading.drafts}
    places = {draft.place for top in reading.drafts for draft in top.walk()}
    lines = {
        line
        for section in outline.sections
        if section.heading is not None and section.heading.line in taken
        for line in range(section.heading.line, section.end)
    }
    own = {remark.line for remark in reading.remarks}
    more = tuple(
        draft
        for draft in listed.drafts
        if draft.line not in lines and draft.place not in places and draft.line + 1 not in own
    )
    drafts = sorted((*reading.drafts, *more), key=lambda draft: draft.line)
    added = {draft.line + 1 for draft in more}
    remarks = [
        remark for remark in listed.remarks if remark.line in added or (not remark.taken and remark.line not in own)
    ]
    told = sorted((*reading.remarks, *remarks), key=lambda remark: remark.line)
    return replace(reading, drafts=tuple(drafts), remarks=tuple(told))


def _read_boxes(source: RoadmapSource, manner: Manner) -> DialectReading:
    return boxes.read(source)


def _read_emoji(source: RoadmapSource, manner: Manner) -> DialectReading:
    from milepost.roadmap.dialects.outline import outline_of
    from milepost.roadmap.dialects.status_signs import read_signed

    return read_signed(outline_of(parse(source), source), emoji=True)[0]


def _read_words(source: RoadmapSource, manner: Manner) -> DialectReading:
    from milepost.roadmap.dialects.outline import outline_of
    from milepost.roadmap.dialects.status_signs import read_signed

    return read_signed(outline_of(parse(source), source), emoji=False)[0]


def _read_tables(source: RoadmapSource, manner: Manner) -> DialectReading:
    from milepost.roadmap.dialects.outline import outline_of
    from milepost.roadmap.dialects.table import read_tables

    return read_tables(outline_of(parse(source), source))


def _read_bullets(source: RoadmapSource, manner: Manner) -> DialectReading:
    from milepost.roadmap.dialects.bullets import read_bullets
    from milepost.roadmap.dialects.outline import outline_of

    return read_bullets(outline_of(parse(source), source), manner.name)


def _read_todo_txt(source: RoadmapSource, manner: Manner) -> DialectReading:
    from milepost.roadmap.dialects import todo_txt

    return todo_txt.read(source)


def _read_backlog(source: RoadmapSource, manner: Manner) -> DialectReading:
    from milepost.roadmap.dialects import backlog

    return backlog.read(source)


def _read_task_master(source: RoadmapSource, manner: Manner) -> DialectReading:
    from milepost.roadmap.dialects import task_master

    return task_master.read(source, manner.tag)


# The modules are imported when they are needed: a roadmap with boxes is read at once.
READERS: Mapping[Dialect, Reader] = {
    "boxes": _read_boxes,
    "task-master": _read_task_master,
    "backlog": _read_backlog,
    "todo.txt": _read_todo_txt,
    "table": _read_tables,
    "emoji": _read_emoji,
    "words": _read_words,
    "bullets": _read_bullets,
}
