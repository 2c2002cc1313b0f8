"""Where runs are submitted to."""

from __future__ import annotations

from dataclasses import dataclass, field

from milepost.core.errors import SettingInvalid
from milepost.engine.project.settings.settings import Settings
from milepost.store.database import is_server

NAME_IT = "name it: --database postgresql://user@host:5432/name, or MILEPOST_DATABASE in the environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkServer:
    """Where runs are submitted: the database and the remote that workers share."""

    database: str = field(repr=False)
    remote: str = field(default="origin", repr=False)


def exchange_of(settings: Settings) -> WorkServer | None:
    """Where the settings submit runs to; None where they are done on this machine."""
    if not settings.run.database:
        return None
    require_server(settings.run.database)
    return WorkServer(database=settings.run.database, remote=settings.run.remote or "origin")


def require_server(database: str) -> None:
    """Raise unless an address is one of a server."""
    if not is_server(database):
        raise SettingInvalid("the database that workers share must be a PostgreSQL server", NAME_IT)
