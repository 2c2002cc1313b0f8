"""What models answer with when they read prose or write a roadmap; templates have the second shape as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST_TASKS = 300

Title = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=4_000)]


def _is_one_line(given: str) -> str:
    if not given.isprintable():
        raise ValueError("must be one line of signs that can be seen")
    return given


Path = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_is_one_line)]
Command = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_is_one_line)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)


class FoundItem(_Value):
    """A task that a document asks for."""

    title: Title = Field(description="What is to be done, as one short line that begins with a verb.")
    description: Text = Field("", description="What the document says about it beyond the title. Empty: nothing.")
    status: Literal["open", "done"] = Field("open", description="done only where the document says that it is done.")
    source_line: int = Field(ge=1, description="The number of the line that asks for it.")
    source_words: str = Field(
        min_length=1, max_length=400, description="Words of that line, quoted exactly: all of it, or its first ten."
    )
    files: list[Path] = Field([], max_length=50, description="Files that the document names for it.")
    verify: list[Command] = Field(
        [], max_length=20, description="Commands that the document itself states as a check of it."
    )
    depends_on: list[int | str] = Field(
        [], max_length=50, description="Items that must be done before: their numbers in this list, counted from 1."
    )


class FoundItems(_Value):
    """All tasks of a document, in its order."""

    items: list[FoundItem] = Field(max_length=MOST_TASKS)


class NewTask(_Value):
    """A task of a new roadmap."""

    title: Title = Field(description="What is to be done, as one short line that begins with a verb.")
    text: Text = Field("", description="What whoever does it has to know. Markdown, without checkboxes.")
    files: list[Path] = Field([], max_length=50, description="Files that it makes or changes, from the project's top.")
    verify: list[Command] = Field(
        [], max_length=20, description="Commands that succeed when it is done and fail before, one each."
    )
    depends_on: list[str] = Field([], max_length=50, description="Titles of earlier tasks that it needs.")
    subtasks: list[Title] = Field([], max_length=30, description="Steps of it, where it has several.")


class NewSection(_Value):
    title: str = Field("", max_length=200, description="Empty where the phase has only one section.")
    tasks: list[NewTask] = Field(min_length=1, max_length=100)


class NewPhase(_Value):
    name: Title = Field(description="Without a number.")
    goal: str = Field("", max_length=500, description="What is there at its end, in a sentence.")
    sections: list[NewSection] = Field(min_length=1, max_length=30)


class NewRoadmap(_Value):
    """A roadmap to be written."""

    title: Title
    phases: list[NewPhase] = Field(min_length=1, max_length=30)

    def tasks(self) -> Iterator[NewTask]:
        """All tasks, in order."""
        for phase in self.phases:
            for section in phase.sections:
                yield from section.tasks
