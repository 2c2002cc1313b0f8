"""What every section of milepost.toml is: a strict set of named values."""

from __future__ import annotations

from typing import Annotated, Any, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict

from milepost.engine.project.settings.reach import reach_of


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
    """Named values, each marked with what it can reach; a table of further sections is marked by those."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for name, setting in cls.model_fields.items():
            if reach_of(setting) is None and not _is_of_sections(setting.annotation):
                raise TypeError(f"{cls.__name__}.{name} does not say what it can reach: mark it SAFE or Asks")


def _is_of_sections(annotation: Any) -> bool:
    """Whether a setting is a section, or a table of sections by name."""
    kinds = (annotation, *get_args(annotation))
    return any(isinstance(kind, type) and issubclass(kind, SettingsSection) for kind in kinds)
