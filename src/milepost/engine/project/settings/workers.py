"""The section [worker]: what a worker offers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from milepost.engine.project.settings.reach import SAFE
from milepost.engine.project.settings.section import SettingsSection


class WorkerSettings(SettingsSection):
    name: Annotated[str, SAFE] = Field("", description="The worker's name. Empty: the host name.")
    capacity: Annotated[int, SAFE] = Field(
        2, ge=1, le=256, description="Attempts and verifications that a worker runs at the same time."
    )
    labels: Annotated[list[str], SAFE] = Field(
        [], description="What the worker offers, such as docker; a task can ask for it."
    )
    lease_s: Annotated[float, SAFE] = Field(
        20, ge=1, le=3600, description="Seconds of silence after which other workers take over a worker's tasks."
    )
