"""The extras that `milepost --version` names."""

from __future__ import annotations

from milepost.cli.show.version import installed_extras

REQUIRED = [
    "rich<16,>=14",
    "starlette<2,>=1.10; extra == 'web'",
    "uvicorn<1,>=0.54; extra == 'web'",
    'pydantic-ai-slim[anthropic,openai]==2.62.0; extra == "models"',
    "milepost[models,web]; extra == 'all'",
]


def test_an_extra_is_named_when_all_of_its_packages_are_there() -> None:
    assert installed_extras(REQUIRED, {"milepost", "starlette", "uvicorn"}.__contains__) == ["web"]
    assert installed_extras(REQUIRED, {"milepost", "starlette", "pydantic-ai-slim"}.__contains__) == ["models"]
    assert installed_extras(REQUIRED, lambda _: False) == []
