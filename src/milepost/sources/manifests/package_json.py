"""One more dependency in a package.json, every other byte as it was."""

from __future__ import annotations

import json
import re

from milepost.sources.manifests.adding import CannotAdd, Dependency

Spans = dict[str, tuple[int, int]]

_DECODER = json.JSONDecoder()


def in_package_json(text: str, group: str, wanted: Dependency) -> str:
    """A package.json with the package in a group, in the order of the names where they are in order."""
    try:
        before = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CannotAdd(f"it cannot be read: {error}") from error
    listed = before.get(group, {}) if isinstance(before, dict) else None
    if not isinstance(listed, dict):
        raise CannotAdd("its dependencies are no object")
    known = listed.get(wanted.name)
    if known == wanted.version:
        return text
    if known is not None:
        wanted.replaces(f"{wanted.name} {known}")
    after = _with_dependency(text, group, wanted)
    if json.loads(after) != {**before, group: {**listed, wanted.name: wanted.version}}:
        raise CannotAdd("it cannot be edited without changing what else it says")
    return after


def _with_dependency(text: str, group: str, wanted: Dependency) -> str:
    top = text.index("{")
    value = json.dumps(wanted.version)
    entry = f"{json.dumps(wanted.name)}: {value}"
    groups = _members(text, top)
    if group not in groups:
        inner = f"{{{_line(text, 2)}{entry}{_line(text, 1)}}}"
        return _with_member(text, top, groups, f"{json.dumps(group)}: {inner}", after=len(groups), depth=1)
    brace = groups[group][0]
    spans = _members(text, brace)
    if wanted.name in spans:
        start, end = spans[wanted.name]
        return f"{text[:start]}{value}{text[end:]}"
    in_order = list(spans) == sorted(spans)
    smaller = sum(key < wanted.name for key in spans) if in_order else len(spans)
    return _with_member(text, brace, spans, entry, after=smaller, depth=2)


def _members(text: str, start: int) -> Spans:
    """Where the values of an object's members begin and end; `start` is its brace."""
    spans: Spans = {}
    at = _blank(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _blank(text, _blank(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        spans[key] = (at, end)
        at = _blank(text, end)
        at = _blank(text, at + 1) if text[at] == "," else at
    return spans


def _with_member(text: str, brace: int, spans: Spans, entry: str, *, after: int, depth: int) -> str:
    """An object with one more member behind so many others."""
    ends = [end for _, end in spans.values()]
    if not ends:
        closing = text.index("}", brace)
        return f"{text[: brace + 1]}{_line(text, depth)}{entry}{_line(text, depth - 1)}{text[closing:]}"
    newline = _line(text, depth) if "\n" in text[brace : max(ends)] else " "
    if not after:
        first = _blank(text, brace + 1)
        return f"{text[:first]}{entry},{newline}{text[first:]}"
    end = max(ends[:after])
    return f"{text[:end]},{newline}{entry}{text[end:]}"


def _line(text: str, depth: int) -> str:
    """A line end and the indentation of `depth`, as the file has them."""
    indent = re.search(r"\n([ \t]+)\"", text)
    end = "\r\n" if "\r\n" in text else "\n"
    return end + (indent[1] if indent else "  ") * depth


def _blank(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at
