"""Where measurements keep their rows: a fresh file each, and a fresh database each on a PostgreSQL server of ours."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    from tests.postgres import Cluster

ROOT = Path(__file__).parents[2]
FILE, SERVER = "SQLite", "PostgreSQL"
HOMES = "/usr/lib/postgresql"


class Places:
    """Gives fresh databases; `missing` says what there is none of."""

    def __init__(self, folder: Path, cluster: Cluster | None) -> None:
        self._folder, self._cluster = folder, cluster
        self._numbers = count(1)
        self.databases = (FILE, SERVER) if cluster is not None else (FILE,)
        self.missing = [] if cluster is not None else [f"{SERVER}: not measured, its initdb is not on this machine"]

    @contextmanager
    def fresh(self, database: str) -> Iterator[str]:
        """The address of a database that nobody has used; it is gone afterwards."""
        if database == FILE or self._cluster is None:
            folder = self._folder / f"file-{next(self._numbers)}"
            folder.mkdir()
            yield str(folder / "bench.db")
            shutil.rmtree(folder)
            return
        url = self._cluster.fresh()
        yield url
        with psycopg.connect(self._cluster.url("postgres"), autocommit=True) as connection:
            connection.execute(f"drop database {url.rpartition('/')[2]} with (force)".encode())


@contextmanager
def opened_places(folder: Path) -> Iterator[Places]:
    """Places below a folder, and on a private server where PostgreSQL is installed."""
    programs = _programs()
    if programs is None:
        yield Places(folder, None)
        return
    sys.path.insert(0, str(ROOT))
    from tests import postgres

    postgres.SETTINGS.update(fsync="on", full_page_writes="on", autovacuum="on", shared_buffers="128MB")
    home = folder / "postgres"
    home.mkdir()
    folder.chmod(0o755)  # the server runs as another user when we are root
    cluster = postgres.Cluster(programs, home)
    try:
        yield Places(folder, cluster)
    finally:
        cluster.stop(at_once=True)


def _programs() -> Path | None:
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve()] if on_path else sorted(Path(HOMES).glob("*/bin/initdb"))
    return found[-1].parent if found else None
