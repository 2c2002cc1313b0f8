"""Workers that start at the same moment on a new database."""

from __future__ import annotations

import time

import pytest
import sqlalchemy
from dbos import DBOS

from milepost.engine.records import dbos_setup, portable_rows


def test_one_process_at_a_time_looks_at_the_tables_and_migrates_them(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = dbos_setup.server_engine(postgres)
    free: list[bool] = []

    def ask(*_: object) -> None:
        with engine.connect() as another:
            got = sqlalchemy.func.pg_try_advisory_lock(dbos_setup.MIGRATION_LOCK)
            free.append(bool(another.scalar(sqlalchemy.select(got))))

    monkeypatch.setattr(portable_rows, "guard", ask)
    monkeypatch.setattr(DBOS, "launch", ask)
    dbos_setup.launch(engine)
    assert free == [False, False]
    ask()
    assert free == [False, False, True]


def test_who_comes_second_waits_for_the_first(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = dbos_setup.server_engine(postgres)
    first = engine.connect()
    got = sqlalchemy.func.pg_try_advisory_lock(dbos_setup.MIGRATION_LOCK)
    assert first.scalar(sqlalchemy.select(got))
    told: list[str] = []

    def pause(_: float) -> None:
        told.append("waited")
        first.close()

    monkeypatch.setattr(time, "sleep", pause)
    monkeypatch.setattr(portable_rows, "guard", lambda *_: told.append("looked"))
    monkeypatch.setattr(DBOS, "launch", lambda: told.append("launched"))
    dbos_setup.launch(engine)
    assert told == ["waited", "looked", "launched"]
