"""Only portable JSON is read from the tables of DBOS, whatever a row says of itself.

DBOS chooses how to read a row by what the row says, and pickle, which it knows too, runs what it reads. Whoever can
write a row must not run code in this process: pickle is taken out of DBOS, and rows that name another format are
refused by name.
"""

from __future__ import annotations

import threading
from typing import Any, NoReturn

import sqlalchemy
from dbos import DBOSPortableJSONSerializer, _serialization

from milepost.core.errors import RowRefused

JSON = DBOSPortableJSONSerializer()
ADVICE = "milepost wrote no such row: find out who can write this database and delete the row, then: milepost resume"

_TABLES = (
    *("workflow_status", "operation_outputs", "notifications"),
    *("workflow_events", "workflow_events_history", "streams"),
)
_OWNER = {"notifications": "destination_uuid"}  # the column with the workflow's name, where it has another one
_refused = threading.Event()
_guarded: list[sqlalchemy.Engine] = []  # the database that this process reads, none or one


class _NoPickle:
    """Stands in DBOS where pickle stood."""

    def loads(self, _: bytes) -> NoReturn:
        _refused.set()
        raise RowRefused("a row of the run's database is not JSON", ADVICE)

    def dumps(self, _: object) -> NoReturn:
        _refused.set()
        raise RowRefused("a row of the run's database asks for an answer that is not JSON", ADVICE)


def forbid_pickle() -> None:
    """Take pickle out of DBOS, for this whole process."""
    vars(_serialization)["pickle"] = _NoPickle()


def guard(engine: sqlalchemy.Engine, run: str = "") -> None:
    """Let DBOS read only JSON from a database; raise where it has other rows already, of one run or of any."""
    forbid_pickle()
    _refused.clear()
    _guarded[:] = [engine]
    refuse_others(engine, run)


def refuse_others(engine: sqlalchemy.Engine, run: str = "") -> None:
    """Raise where a row, of one run or of all, says that it is anything else than portable JSON."""
    schema = None if engine.dialect.name == "sqlite" else "dbos"
    there = set(sqlalchemy.inspect(engine).get_table_names(schema=schema))
    with engine.connect() as connection:
        for table in _TABLES:
            if table in there:
                _refuse_in(connection, table, schema, run)


def refuse_noticed() -> None:
    """Raise where DBOS was kept from reading a row since it was started; its own threads tell nobody."""
    if _refused.is_set():
        for engine in _guarded:
            refuse_others(engine)
        raise RowRefused("a row of the run's database was not JSON, and is gone", "go on with: milepost resume")


def _refuse_in(connection: sqlalchemy.Connection, table: str, schema: str | None, run: str) -> None:
    owner: Any = sqlalchemy.column(_OWNER.get(table, "workflow_uuid"))
    form: Any = sqlalchemy.column("serialization")
    asked: Any = sqlalchemy.select(owner, form).select_from(sqlalchemy.table(table, schema=schema))
    asked = asked.where(form.is_not(None), form != JSON.name())
    if run:
        asked = asked.where(owner >= run, owner < f"{run}0")  # "0" follows "/": the run and its workflows
    found = connection.execute(asked.limit(1)).first()
    if found is not None:
        where = table if schema is None else f"{schema}.{table}"
        raise RowRefused(f"the row of {found[0]!r} in {where} says that it is {found[1]!r}, not JSON", ADVICE)
