"""The section [watch]: what is looked at besides the target itself, who is told, and what may be done."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from milepost.engine.project.settings.reach import SAFE, Asks, one_of
from milepost.engine.project.settings.section import SettingsSection


def _are_patterns(given: dict[str, str]) -> dict[str, str]:
    for pattern in given.values():
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
    return given


class WatchSettings(SettingsSection):
    heal: Annotated[
        Literal["off", "suggest", "auto"], Asks("heals releases by itself", unless=one_of("off", "suggest"))
    ] = Field("suggest", description="off: only alerts. suggest: also say what would be done. auto: do it.")
    incident_task: Annotated[
        Literal["off", "ask", "add"], Asks("commits tasks to the roadmap by itself", unless=one_of("off", "ask"))
    ] = Field(
        "ask",
        description="What was not healed, or only by a rollback. ask: tell the command that makes it a task of the "
        "roadmap. add: with heal = auto, add and commit the task. off: neither.",
    )
    interval_s: Annotated[float, SAFE] = Field(1.0, ge=0.2, le=3600, description="Seconds between two looks.")
    urls: Annotated[list[str], Asks("sends requests to these addresses")] = Field(
        [], description="Pages to look at as well, such as https://shop.example/."
    )
    metrics: Annotated[dict[str, str], Asks("reads metrics at these addresses")] = Field(
        {}, description="Metrics to keep as well: the name, and the address that shows it in the format of Prometheus."
    )
    logs: Annotated[dict[str, str], AfterValidator(_are_patterns), Asks("reads these files")] = Field(
        {}, description="Files, each with a regular expression: the lines that match are counted as they are written."
    )
    dependencies: Annotated[list[str], Asks("connects to these addresses")] = Field(
        [], description="What the application depends on, as HOST:PORT. While one is down nothing is restarted for it."
    )
    memory_mb: Annotated[float | None, SAFE] = Field(
        None, gt=0, description="The most memory that an instance should take. Absent: memory is not judged."
    )
    slo: Annotated[float | None, SAFE] = Field(
        None,
        gt=0.5,
        lt=1,
        description="The share of requests that has to succeed, such as 0.999. Absent: no burn rates.",
    )
    webhook: Annotated[str, Asks("sends alerts to this address")] = Field(
        "", description="Alerts are posted there as JSON. Empty: nowhere."
    )
    command: Annotated[list[str], Asks("starts this command, outside of the sandbox")] = Field(
        [], description="A command that gets alerts as JSON on its standard input. Empty: none."
    )
