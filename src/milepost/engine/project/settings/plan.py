"""The sections [plan], [roadmap] and [context]: how a roadmap is read, ordered and shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from milepost.engine.project.settings.reach import SAFE
from milepost.engine.project.settings.section import SettingsSection
from milepost.plan.options import Grouping, Sequence, Unit
from milepost.roadmap.reading.options import Dialect


class RoadmapSettings(SettingsSection):
    dialect: Annotated[Dialect, SAFE] = Field(
        "auto",
        description="The format of the roadmap: how it marks tasks and which are done. auto: detected; `milepost plan "
        "--explain` shows the result.",
    )
    tick_parents: Annotated[bool, SAFE] = Field(
        True, description="Whether a parent box is ticked when all boxes below it are."
    )


class PlanSettings(SettingsSection):
    order: Annotated[Sequence, SAFE] = Field(
        "free",
        description="free: a task waits only for its dependencies. outline: also for the tasks before it, unless both "
        "are marked [P].",
    )
    group: Annotated[Grouping, SAFE] = Field(
        "none",
        description="Which small tasks are done in one attempt. section: those of the same section. smart: those of "
        "the same section that share a file, a name or most words of their titles.",
    )
    unit: Annotated[Unit, SAFE] = Field(
        "task",
        description="task: a task and its subtasks are one attempt. subtask: each innermost box is its own attempt.",
    )
    imports: Annotated[bool, SAFE] = Field(
        True, description="Whether a task waits for tasks that change modules its files import (Python, JavaScript)."
    )


class ContextSettings(SettingsSection):
    tokens: Annotated[int, SAFE] = Field(
        50_000,
        ge=0,
        le=1_000_000,
        description="Tokens of repository context given to a model with its task: mentioned files, related symbols, "
        "facts about the project. At most half of the model's window, and 4000 for agent programs. 0: none.",
    )
