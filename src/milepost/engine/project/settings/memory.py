"""The section [memory]: what is remembered, and with whom it is shared."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from milepost.engine.project.settings.section import SettingsSection


class MemorySettings(SettingsSection):
    mode: Literal["on", "off", "read-only"] = Field(
        "on",
        description="on: attempts are recorded, and get the lessons of earlier ones. read-only: they get lessons and "
        "are recorded for forecasts, but no new lessons are learnt; the next sync shares them. off: neither, and "
        "nothing is written.",
    )
    holdout: float = Field(
        0.2,
        ge=0,
        le=0.9,
        allow_inf_nan=False,
        description="Share of attempts from which a matching lesson is withheld, to measure its effect.",
    )
    project: str = Field(
        "",
        description="The project's name in the memory. Empty: the repository's first commit, which is the "
        "same in every clone, plus the roadmap's folder.",
    )
    primary: str = Field(
        "",
        repr=False,
        description="A memory shared by machines, people and projects: libsql://…, http(s)://…, postgresql://… or a "
        "file path. Nothing is sent there before you run `milepost memory sync` once. Empty: the memory stays on this "
        "machine.",
    )
    primary_token_from: str = Field(
        "", description="Name of your environment variable with the token for the primary. Empty: no token is needed."
    )
    semantic: bool = Field(False, description="Whether lessons are also found by meaning; requires milepost[semantic].")
    distil_with: str = Field(
        "",
        description="The model that is asked once after each task for up to three more lessons, as provider:model. "
        "Empty: lessons are made without a model.",
    )
