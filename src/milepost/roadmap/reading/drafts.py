"""Tasks before they have ids: what a dialect reads out of a roadmap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from milepost.core.task import Priority, Problem, Remark
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.task_lines import Details


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A task as it is written: what its title line says, what stands below it, and its place in the outline.

    `line` counts from 0. `box` is None where nothing in the roadmap could say that it is done; `explicit` is the id
    that its author gave it, `wording` the words that another one is made of, where they are more than the title;
    `place` are the words that it stands below; `guess` is set where a rule of thumb took it, `skipped` where its author
    says that nothing is to be done about it, which counts as done. `span` are its first line and the one after its
    last, where they are more than its own.
    """

    line: int
    title: str
    ticked: bool
    box: Box | None
    explicit: str = ""
    wording: str = ""
    phase: str = ""
    section: str = ""
    place: tuple[str, ...] = ()
    text: str = ""
    details: Details = field(default_factory=Details)
    context: str = ""
    priority: Priority = ""
    parallel: bool = False
    guess: bool = False
    skipped: bool = False
    page: str = ""
    span: tuple[int, int] | None = None
    subtasks: tuple[Draft, ...] = ()

    def walk(self) -> Iterator[Draft]:
        """This draft and all below it, in the order of the file."""
        yield self
        for subtask in self.subtasks:
            yield from subtask.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectReading:
    """What a dialect makes of a roadmap: its drafts in the order of the file, what is odd, and why each line counts."""

    drafts: tuple[Draft, ...]
    problems: tuple[Problem, ...] = ()
    remarks: tuple[Remark, ...] = ()
