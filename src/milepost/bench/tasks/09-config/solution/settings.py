"""Settings: environment over file over defaults."""

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    host: str = "localhost"
    port: int = 8000
    debug: bool = False


def load(path, environ):
    """The settings of a file, where it is there, and of the environment."""
    place = Path(path)
    table = tomllib.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    unknown = sorted(set(table) - {field.name for field in fields(Settings)})
    if unknown:
        raise ValueError(f"{path}: there is no setting {unknown[0]!r}")
    return Settings(**{**table, **_given(environ)})


def _given(environ):
    given = {}
    if "APP_HOST" in environ:
        given["host"] = environ["APP_HOST"]
    if "APP_PORT" in environ:
        given["port"] = int(environ["APP_PORT"])
    if "APP_DEBUG" in environ:
        given["debug"] = environ["APP_DEBUG"].lower() in ("1", "true", "yes")
    return given
