"""One way to write SQL for two databases: what differs between them is written in braces, values are `?`."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

# {serial}: a key that counts up. {rowid}: what rows are ordered by where they came first, built into SQLite.
SQLITE = {"{serial}": "integer primary key autoincrement", "{rowid}": "", "{bytes}": "blob"}
POSTGRES = {"{serial}": "bigserial primary key", "{rowid}": "rowid bigserial,", "{bytes}": "bytea"}

LONGEST_KEY = 500  # signs; of at most four bytes each, in an index that takes 2,700

# Literals, names and comments are never looked into.
_WHOLE = r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/"""
_SIGNS = re.compile(rf"{_WHOLE} | [?%]", re.DOTALL | re.VERBOSE)
_ENDS = re.compile(rf"(?: {_WHOLE} | [^;'\"] )+", re.DOTALL | re.VERBOSE)


def statements(script: str, words: dict[str, str]) -> tuple[str, ...]:
    """The statements of a script, in the words of one database."""
    for word, meant in words.items():
        script = script.replace(word, meant)
    return tuple(text.strip() for text in _ENDS.findall(script) if text.strip())


@lru_cache(1024)
def for_psycopg(sql: str) -> str:
    """A statement with the signs of psycopg: `%s` for a value, and `%%` for a sign that is meant."""
    return _SIGNS.sub(_sign, sql)


def kept(value: object) -> object:
    """A value as both databases can keep it: in text, what is no character is written out; a truth is 0 or 1."""
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return value
    return value.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def short(key: str) -> str:
    """Text as it is fit for a key, with its beginning: a server cannot find anything by a long one."""
    if len(key) <= LONGEST_KEY:
        return key
    digest = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()
    return f"{key[: LONGEST_KEY - len(digest) - 1]} {digest}"


def _sign(found: re.Match[str]) -> str:
    text = found.group()
    return "%s" if text == "?" else text.replace("%", "%%")
