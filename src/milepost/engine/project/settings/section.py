"""What every section of milepost.toml is: a strict set of named values."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict


def _is_an_address(given: str) -> str:
    try:
        address = urlsplit(given)
        usable = not given or (address.scheme in ("http", "https") and address.hostname and address.port != 0)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("is not a web address such as http://127.0.0.1:8080/v1")
    return given


Address = Annotated[str, AfterValidator(_is_an_address)]


class SettingsSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
