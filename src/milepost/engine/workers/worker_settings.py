"""What a worker is started with: from flags, the environment and its own milepost.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from milepost.core.errors import SettingInvalid
from milepost.core.ports import Agent
from milepost.engine.project.settings.load import EVERYTHING, load
from milepost.engine.project.work_server import NAME_IT, require_server

_LABEL = re.compile(r"[a-z0-9][a-z0-9_.+-]{0,39}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hire:
    """What a worker is started with."""

    database: str = field(repr=False)
    remote: str = field(repr=False)
    capacity: int
    lease_s: float
    labels: tuple[str, ...] = ()
    name: str = ""
    settings: Path = Path()
    agents: Mapping[str, Agent] = field(default_factory=dict)


def hired(
    folder: Path,
    *,
    database: str | None,
    remote: str | None,
    capacity: int | None,
    labels: tuple[str, ...],
    name: str | None,
) -> Hire:
    """The hire that flags and the settings of a folder come to."""
    settings = load(folder, {"database": database, "remote": remote}, uses=EVERYTHING)
    if not settings.run.database:
        raise SettingInvalid("no database to take work from is set", NAME_IT)
    require_server(settings.run.database)
    if not settings.run.remote:
        raise SettingInvalid("no git remote is set", "set it: --remote GIT_URL")
    chosen = name or settings.worker.name
    if chosen and not _NAME.fullmatch(chosen):
        raise SettingInvalid(f"{chosen!r} is not a valid worker name", "use letters, digits, dots and dashes")
    offered = tuple(label.lower() for label in labels or settings.worker.labels)
    if wrong := [label for label in offered if not _LABEL.fullmatch(label)]:
        raise SettingInvalid(f"{wrong[0]!r} is not a valid label", "use one word of letters, digits, dots and dashes")
    return Hire(
        database=settings.run.database,
        remote=settings.run.remote,
        capacity=capacity or settings.worker.capacity,
        lease_s=settings.worker.lease_s,
        labels=tuple(dict.fromkeys(offered)),
        name=chosen,
        settings=folder,
    )


def keep_secret(hire: Hire) -> None:
    """Put the passwords of addresses where secrets are looked for that must not be kept or shown."""
    for name, address in (("MILEPOST_DATABASE_PASSWORD", hire.database), ("MILEPOST_REMOTE_TOKEN", hire.remote)):
        with suppress(ValueError):
            parts = urlsplit(address)
            if secret := parts.password or (parts.username if parts.scheme.startswith("http") else None):
                os.environ[name] = unquote(secret)
    if "PGPASSWORD" in os.environ:
        os.environ.setdefault("MILEPOST_DATABASE_PASSWORD", os.environ["PGPASSWORD"])
