"""The section [memory]: what is remembered, and with whom it is shared."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from milepost.engine.project.settings.reach import SAFE, Asks
from milepost.engine.project.settings.section import SettingsSection


class MemorySettings(SettingsSection):
    mode: Annotated[Literal["on", "off", "read-only"], SAFE] = Field(
        "on",
        description="on: attempts are recorded, and get the lessons of earlier ones. read-only: they get lessons and "
        "are recorded for forecasts, but no new lessons are learnt; the next sync shares them. off: neither, and "
        "nothing is written.",
    )
    holdout: Annotated[float, SAFE] = Field(
        0.2,
        ge=0,
        le=0.9,
        allow_inf_nan=False,
        description="Share of attempts from which a matching lesson is withheld, to measure its effect.",
    )
    project: Annotated[str, Asks("reads and writes the memory of this project, where the memory is shared")] = Field(
        "",
        description="The project's name in the memory. Empty: the repository's first commit, which is the "
        "same in every clone, plus the roadmap's folder.",
    )
    primary: Annotated[str, Asks("sends what runs remember to this address, and takes lessons from there")] = Field(
        "",
        repr=False,
        description="A memory shared by machines, people and projects: libsql://…, http(s)://…, postgresql://… or a "
        "file path. Empty: the memory stays on this machine.",
    )
    primary_token_from: Annotated[str, Asks("sends this variable of your environment to the shared memory")] = Field(
        "", description="Name of your environment variable with the token for the primary. Empty: no token is needed."
    )
    semantic: Annotated[bool, SAFE] = Field(
        False, description="Whether lessons are also found by meaning; requires milepost[semantic]."
    )
    distil_with: Annotated[str, Asks("tells this model of each task, with your key for it")] = Field(
        "",
        description="The model that is asked once after each task for up to three more lessons, as provider:model. "
        "Empty: lessons are made without a model.",
    )
