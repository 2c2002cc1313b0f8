"""Tags as JSON and back, for the cache and for the process that reads them."""

from __future__ import annotations

import json
from typing import Any, get_args

from milepost.sources.tags import Definition, Kind, Tags

_KINDS = frozenset(get_args(Kind))


def to_json(tags: Tags) -> str:
    """Tags as one line."""
    defined = [[one.name, one.kind, one.line, one.last_line, one.signature] for one in tags.definitions]
    plain = [defined, [list(use) for use in tags.uses], list(tags.variables), tags.unreadable]
    return json.dumps(plain, separators=(",", ":"))


def from_json(text: str | bytes) -> Tags:
    """The tags in a line; raises ValueError on what is none."""
    try:
        defined, uses, variables, unreadable = json.loads(text)
        return Tags(
            definitions=tuple(_definition(*one) for one in defined),
            uses=tuple((str(name), int(times)) for name, times in uses),
            variables=tuple(map(str, variables)),
            unreadable=bool(unreadable),
        )
    except TypeError as error:
        raise ValueError(str(error)) from error


def _definition(name: str, kind: Any, line: int, last_line: int, signature: str) -> Definition:
    if kind not in _KINDS:
        raise ValueError(f"{kind!r} is no kind of definition")
    return Definition(name=str(name), kind=kind, line=int(line), last_line=int(last_line), signature=str(signature))
