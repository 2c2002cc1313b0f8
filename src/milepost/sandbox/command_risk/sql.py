"""SQL that loses data: what is dropped, emptied, or changed everywhere."""

from __future__ import annotations

import re

LONGEST = 200_000

_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_LITERALS = re.compile(r"'(?:[^']|'')*'")
_OBJECTS = "table|database|schema|view|materialized|column|index|sequence|user|role|type|tablespace|keyspace|collection"
_DROP = re.compile(rf"\bdrop\s+(?:{_OBJECTS})\b")
_ALTER_DROP = re.compile(r"\balter\s+table\b.*\bdrop\s+(?!default\b|not\s+null\b|constraint\b|identity\b|expression\b)")
_TRUNCATE = re.compile(r"^\s*truncate\b")
_DELETE = re.compile(r"\bdelete\s+from\b(?P<rest>.*)")
_UPDATE = re.compile(r"^\s*update\s+(?:only\s+)?[\w.\"`\[\]]+(?:\s+(?:as\s+)?\w+)?\s+set\b(?P<rest>.*)")
_WHERE = re.compile(r"\bwhere\b\s*(?P<rule>.*)")
_ALWAYS_TRUE = re.compile(r"(?:1\s*=\s*1|true|1)\s*(?:returning\b.*)?$")


def sql_losing(text: str) -> str | None:
    """What a text of SQL would lose, in words; None for text that loses nothing, or is no SQL."""
    plain = _LITERALS.sub("''", _COMMENTS.sub(" ", text[:LONGEST])).lower()
    for statement in plain.split(";"):
        if why := _statement(" ".join(statement.split())):
            return why
    return None


def _statement(text: str) -> str | None:
    if _DROP.search(text):
        return "drops data in the database"
    if _ALTER_DROP.search(text):
        return "drops a column with its data"
    if _TRUNCATE.search(text):
        return "empties a table"
    if (found := _DELETE.search(text)) and _everywhere(found["rest"]):
        return "deletes every row of a table"
    if (found := _UPDATE.search(text)) and _everywhere(found["rest"]):
        return "changes every row of a table"
    return None


def _everywhere(rest: str) -> bool:
    where = _WHERE.search(rest)
    return where is None or _ALWAYS_TRUE.match(where["rule"]) is not None
