"""JSON and TOML: keys and strings that both sides added, proven by what the texts mean."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from typing import Any

from milepost.workspace.reconcile.file_kind import Kind, Proposed, one_a_line, repeated
from milepost.workspace.reconcile.list_entries import Lines, ListEntry, ListReading
from milepost.workspace.reconcile.lists import requirement_name

_JSON_PAIR = re.compile(r"\s*(\"(?:[^\"\\]|\\.)*\")\s*:\s*(\S.*?)(,?)\s*")
_JSON_ITEM = re.compile(r"\s*(\"(?:[^\"\\]|\\.)*\")(,?)\s*")
_TOML_PAIR = re.compile(r"\s*([A-Za-z0-9_.\"'-]+)\s*=\s*\S.*")
_TOML_ITEM = re.compile(r"\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*')(?:,\s+#[^\"']*|,?\s*)")
_TOML_HEADER = re.compile(r"\[\[?[^\[\]]+\]\]?\s*(?:#.*)?")
_MISSING = object()


def _json_pairs(lines: Lines) -> tuple[ListEntry, ...] | None:
    def entry(line: str) -> ListEntry | None:
        found = _JSON_PAIR.fullmatch(line)
        if found is None or _loaded(json.loads, found[2]) is _MISSING:
            return None
        return ListEntry(key=found[1], lines=(_with_comma(line, found[3]),))

    return _separated(lines, entry)


def _json_items(lines: Lines) -> tuple[ListEntry, ...] | None:
    def entry(line: str) -> ListEntry | None:
        found = _JSON_ITEM.fullmatch(line)
        return None if found is None else ListEntry(key=found[1], lines=(_with_comma(line, found[2]),))

    return _separated(lines, entry)


def _toml_pairs(lines: Lines) -> tuple[ListEntry, ...] | None:
    def entry(line: str) -> ListEntry | None:
        found = _TOML_PAIR.fullmatch(line)
        return (
            None
            if found is None or _loaded(tomllib.loads, line) is _MISSING
            else ListEntry(key=found[1], lines=(line,))
        )

    return one_a_line(lines, entry, _is_comment)


def _toml_items(lines: Lines) -> tuple[ListEntry, ...] | None:
    def entry(line: str) -> ListEntry | None:
        found = _TOML_ITEM.fullmatch(line)
        if found is None:
            return None
        rest = line[found.end(1) :]
        return ListEntry(key=found[1], lines=(_with_comma(line, "," if rest.startswith(",") else ""),))

    return _separated(lines, entry)


def _toml_tables(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Whole tables, each with all that is below its header."""
    starts = [number for number, line in enumerate(lines) if _TOML_HEADER.fullmatch(line)]
    if any(line.strip() and not _is_comment(line) for line in lines[: starts[0] if starts else len(lines)]):
        return None
    blocks = [lines[start:end] for start, end in zip([0, *starts[1:]], [*starts[1:], len(lines)], strict=True)]
    headers = [lines[start].partition("#")[0].strip() for start in starts]
    keys = [
        "\n".join(block).strip() if header.startswith("[[") else header
        for header, block in zip(headers, blocks, strict=False)
    ]
    return tuple(ListEntry(key=key, lines=block, opens=True) for key, block in zip(keys, blocks, strict=False))


def _separated(lines: Lines, entry_of: Callable[[str], ListEntry | None]) -> tuple[ListEntry, ...] | None:
    """Entries with commas between them: only the last may be without its own."""
    filled = [line for line in lines if line.strip()]
    found = one_a_line(tuple(filled), entry_of)
    if found is None or len(filled) != len(lines):
        return None
    bare = [entry.lines[-1] != line for entry, line in zip(found, filled, strict=True)]
    return None if any(bare[:-1]) else found


def _with_comma(line: str, comma: str) -> str:
    return line if comma else f"{line.rstrip()},"


def _holds(loads: Callable[[str], Any], proposed: Proposed) -> bool:
    texts = (proposed.result, proposed.base or "{}", proposed.ours, proposed.theirs)
    if loads is tomllib.loads:
        texts = (proposed.result, proposed.base, proposed.ours, proposed.theirs)
    result, base, ours, theirs = (_loaded(loads, text) for text in texts)
    return _MISSING not in (result, base, ours, theirs) and agrees(result, base, ours, theirs)


def agrees(result: Any, base: Any, ours: Any, theirs: Any) -> bool:
    """Whether a value is what both sides made of the base, and nothing else."""
    if ours == theirs or base == theirs:
        return bool(result == ours)
    if base == ours:
        return bool(result == theirs)
    if isinstance(ours, dict) and isinstance(theirs, dict) and isinstance(result, dict):
        was = base if isinstance(base, dict) else {}
        names = {*result, *was, *ours, *theirs}
        return all(agrees(*(side.get(name, _MISSING) for side in (result, was, ours, theirs))) for name in names)
    if isinstance(ours, list) and isinstance(theirs, list) and isinstance(result, list):
        return _agree_as_lists(result, base if isinstance(base, list) else [], ours, theirs)
    return False


def _agree_as_lists(result: list[Any], base: list[Any], ours: list[Any], theirs: list[Any]) -> bool:
    found, was, mine, others = (list(map(repr, side)) for side in (result, base, ours, theirs))
    kept = not (Counter(was) - Counter(mine) or Counter(was) - Counter(others))
    named = [repeated(filter(None, map(requirement_name, map(str, side)))) for side in (result, ours, theirs)]
    return (
        kept
        and Counter(found) == Counter(mine) | Counter(others)
        and _is_within(mine, found)
        and _is_within(others, found)
        and not named[0] - named[1] - named[2]
    )


def _is_within(part: list[str], whole: list[str]) -> bool:
    """Whether all of a list is in another in the same order."""
    rest = iter(whole)
    return all(item in rest for item in part)


def _loaded(loads: Callable[[str], Any], text: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return _MISSING


def _json_once(text: str) -> Any:
    """JSON in which no key is twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is there twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _plain(entry: ListEntry) -> str:
    return entry.key.strip("\"'")


def _folded(entry: ListEntry) -> str:
    return entry.key.strip("\"'").casefold()


_ORDERS = (_plain, _folded)
JSON = Kind(
    readings=(
        ListReading(name="pairs", read=_json_pairs, orders=_ORDERS, commas=True),
        ListReading(name="items", read=_json_items, orders=_ORDERS, commas=True),
    ),
    holds=lambda proposed: _holds(_json_once, proposed),
)
TOML = Kind(
    readings=(
        ListReading(name="pairs", read=_toml_pairs, orders=_ORDERS),
        ListReading(name="items", read=_toml_items, orders=_ORDERS, commas=True),
        ListReading(name="tables", read=_toml_tables),
    ),
    holds=lambda proposed: _holds(tomllib.loads, proposed),
)
