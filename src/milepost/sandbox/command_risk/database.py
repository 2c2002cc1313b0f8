"""Commands that lose what is in a database."""

from __future__ import annotations

import re

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import options_of
from milepost.sandbox.command_risk.sql import sql_losing

_NAMES = (
    "psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client clickhouse cockroach sqlcmd bq snowsql pgcli mycli "
    "litecli usql turso trino cqlsh hive sqlplus"
)
CLIENTS = tuple(_NAMES.split())

_MONGO = re.compile(r"dropDatabase|\.drop\s*\(|\.(deleteMany|remove)\s*\(\s*(\{\s*\})?\s*\)")
_ATTACHED = re.compile(r"^(-[a-zA-Z]|--[\w-]+=)(?=[A-Za-z])")


def sql_client(piece: Piece) -> str | None:
    """A client of an SQL database: what it is told, in its words or on its stdin."""
    return next(filter(None, map(_told, (*piece.arguments, piece.stdin))), None)


def document_client(piece: Piece) -> str | None:
    said = " ".join((*piece.arguments, piece.stdin))
    return "drops or empties data in the database" if _MONGO.search(said) else None


def key_client(piece: Piece) -> str | None:
    said = " ".join((*piece.arguments, piece.stdin)).lower().split()
    return "empties the database" if {"flushall", "flushdb"} & set(said) else None


def administration(piece: Piece) -> str | None:
    """dropdb, mysqladmin drop, pg_restore --clean."""
    options = options_of(piece.arguments)
    match piece.name:
        case "mysqladmin":
            return "drops a database" if "drop" in options.rest else None
        case "pg_restore":
            return "drops the data in the database before it restores" if options.has("-c", "--clean") else None
        case _:
            return None if options.has("--help", "--version") else "drops data in the database"


def _told(word: str) -> str | None:
    return sql_losing(_ATTACHED.sub("", word)) if " " in word or "\n" in word else None
