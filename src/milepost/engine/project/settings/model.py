"""The section [model]: which language model is asked, and how."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from milepost.engine.project.settings.reach import SAFE, Asks
from milepost.engine.project.settings.section import Address, SettingsSection


class ModelSettings(SettingsSection):
    name: Annotated[str, SAFE] = Field("", description="The model for the agents `tool` and `code`, as provider:model.")
    base_url: Annotated[Address, Asks("sends your key and your code to this address")] = Field(
        "", description="Address of the API. Empty: the provider's own."
    )
    max_tokens: Annotated[int, SAFE] = Field(8192, ge=1, le=1_000_000, description="Maximum tokens of one answer.")
    window_tokens: Annotated[int, SAFE] = Field(
        200_000,
        ge=4_000,
        description="Maximum tokens of one request, counted as two bytes each. Beyond that the middle of the "
        "conversation is shortened.",
    )
    timeout_s: Annotated[float, SAFE] = Field(
        300, gt=0, allow_inf_nan=False, description="Seconds an answer may take before the request is repeated."
    )
    patience_s: Annotated[float, SAFE] = Field(
        300,
        ge=0,
        allow_inf_nan=False,
        description="Seconds to keep retrying an API that does not answer, before the task waits.",
    )
    stream: Annotated[bool, SAFE] = Field(
        True,
        description="Whether answers are streamed, so that a stalled one is noticed. Turn off for servers that cannot "
        "stream.",
    )
    stall_s: Annotated[float, SAFE] = Field(
        120,
        gt=0,
        allow_inf_nan=False,
        description="Seconds without a new piece of a streamed answer before the request is repeated.",
    )
    fallback: Annotated[list[str], SAFE] = Field(
        [],
        description="Models to use, in this order, when the first one rejects the request or does not answer within "
        "patience_s. base_url and the prices below apply only to the first. Empty: none.",
    )
    input_usd_per_mtok: Annotated[float | None, SAFE] = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="USD per million input tokens. Absent: the price in genai-prices.",
    )
    output_usd_per_mtok: Annotated[float | None, SAFE] = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="USD per million output tokens. Absent: the price in genai-prices.",
    )
