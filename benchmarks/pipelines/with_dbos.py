"""The pipeline on DBOS alone: a workflow a task, started one after the other; a file is in WAL mode."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from dbos import DBOS
from pipeline import STEPS, Probe, asked, result_of


@DBOS.step()
def step(task: int, name: str) -> dict[str, str | int]:
    return result_of(task, name)


@DBOS.workflow()
def pipeline(task: int) -> int:
    for name in STEPS:
        step(task, name)
    return task


@DBOS.workflow()
def long_one(place: str, number: int) -> int:
    def work() -> None:
        for count in range(number):
            step(count, "act")

    Probe(place, number).measure(work)
    return number


def main() -> None:
    what, place, number = asked()
    server = place.startswith("postgresql:")
    engine = None if server else wal_engine(place)
    url = place if server else f"sqlite:///{place}"
    DBOS(
        config={"name": "bench", "system_database_url": url, "system_database_engine": engine, "log_level": "CRITICAL"}
    )
    DBOS.launch()
    pipeline(-1)  # what is done once for each process is not a task's
    if what == "tasks":
        Probe(place, number).measure(lambda: [pipeline(task) for task in range(number)])
    else:
        long_one(place, number)
    DBOS.destroy(workflow_completion_timeout_sec=0)


def wal_engine(place: str) -> sqlalchemy.Engine:
    engine = sqlalchemy.create_engine(f"sqlite:///{place}")

    @sqlalchemy.event.listens_for(engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        for pragma in ("busy_timeout=30000", "journal_mode=wal", "synchronous=normal"):
            connection.execute(f"pragma {pragma}")

    return engine


if __name__ == "__main__":
    main()
