"""The section [worker]: what a worker offers."""

from __future__ import annotations

from pydantic import Field

from milepost.engine.project.settings.section import SettingsSection


class WorkerSettings(SettingsSection):
    name: str = Field("", description="The worker's name. Empty: the host name.")
    capacity: int = Field(
        2, ge=1, le=256, description="Attempts and verifications that a worker runs at the same time."
    )
    labels: list[str] = Field([], description="What the worker offers, such as docker; a task can ask for it.")
    lease_s: float = Field(
        20, ge=1, le=3600, description="Seconds of silence after which other workers take over a worker's tasks."
    )
