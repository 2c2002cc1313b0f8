"""The section [budget]: what a run, a task and an attempt may cost."""

from __future__ import annotations

from pydantic import Field

from milepost.engine.project.settings.section import SettingsSection


class BudgetSettings(SettingsSection):
    usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Cost limit of a run in USD. Absent: no limit."
    )
    tokens: int | None = Field(None, gt=0, description="Token limit of a run, input and output. Absent: no limit.")
    minutes: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Minutes a run may work; time while it is stopped does not count. Absent: no limit.",
    )
    attempts: int | None = Field(None, gt=0, description="Limit on the attempts of a run. Absent: no limit.")
    task_usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Cost limit of one task in USD. Absent: no limit."
    )
    task_tokens: int | None = Field(None, gt=0, description="Token limit of one task. Absent: no limit.")
    task_minutes: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Minutes one task may be worked on. Absent: no limit."
    )
    task_attempts: int | None = Field(None, gt=0, description="Limit on the attempts at one task. Absent: no limit.")
