"""The section [budget]: what a run, a task and an attempt may cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from milepost.engine.project.settings.reach import SAFE
from milepost.engine.project.settings.section import SettingsSection


class BudgetSettings(SettingsSection):
    usd: Annotated[float | None, SAFE] = Field(
        None, gt=0, allow_inf_nan=False, description="Cost limit of a run in USD. Absent: no limit."
    )
    tokens: Annotated[int | None, SAFE] = Field(
        None, gt=0, description="Token limit of a run, input and output. Absent: no limit."
    )
    minutes: Annotated[float | None, SAFE] = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Minutes a run may work; time while it is stopped does not count. Absent: no limit.",
    )
    attempts: Annotated[int | None, SAFE] = Field(
        None, gt=0, description="Limit on the attempts of a run. Absent: no limit."
    )
    task_usd: Annotated[float | None, SAFE] = Field(
        None, gt=0, allow_inf_nan=False, description="Cost limit of one task in USD. Absent: no limit."
    )
    task_tokens: Annotated[int | None, SAFE] = Field(
        None, gt=0, description="Token limit of one task. Absent: no limit."
    )
    task_minutes: Annotated[float | None, SAFE] = Field(
        None, gt=0, allow_inf_nan=False, description="Minutes one task may be worked on. Absent: no limit."
    )
    task_attempts: Annotated[int | None, SAFE] = Field(
        None, gt=0, description="Limit on the attempts at one task. Absent: no limit."
    )
