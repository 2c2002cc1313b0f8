"""One more dependency in a package.json, every other byte as it was."""

from __future__ import annotations

import json
import re

_DECODER = json.JSONDecoder()


def in_package_json(text: str, name: str, version: str, *, dev: bool = False) -> str | None:
    """A package.json with one more dependency, where npm would put it."""
    group = "devDependencies" if dev else "dependencies"
    try:
        before = json.loads(text)
        if not isinstance(before, dict) or name in before.get("dependencies", {}) or name in before.get(group, {}):
            return None
        spans = _members(text, text.index("{"))
        entry = f"{json.dumps(name)}: {json.dumps(version)}"
        if group in spans:
            after = _with_member(text, spans[group][0], entry, name)
        else:
            after = _with_member(
                text, text.index("{"), f"{json.dumps(group)}: {{{_line(text, 2)}{entry}{_line(text, 1)}}}"
            )
        wanted = {**before, group: {**before.get(group, {}), name: version}}
        return after if json.loads(after) == wanted else None
    except (ValueError, TypeError, RecursionError):
        return None


def _members(text: str, start: int) -> dict[str, tuple[int, int]]:
    """Where the values of an object's members begin and end; `start` is its brace."""
    spans: dict[str, tuple[int, int]] = {}
    at = _blank(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _blank(text, _blank(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        spans[key] = (at, end)
        at = _blank(text, end)
        at = _blank(text, at + 1) if text[at] == "," else at
    return spans


def _with_member(text: str, brace: int, entry: str, name: str = "") -> str:
    """An object with one more member: after the last whose key sorts before `name`, or at its end without one."""
    spans = _members(text, brace)
    if not spans:
        closing = text.index("}", brace)
        depth = 2 if name else 1
        return f"{text[: brace + 1]}{_line(text, depth)}{entry}{_line(text, depth - 1)}{text[closing:]}"
    before = [key for key in spans if key < name] if name else list(spans)
    newline = _line(text, 2 if name else 1) if "\n" in text[brace : max(end for _, end in spans.values())] else " "
    if not before:
        first = _blank(text, brace + 1)
        return f"{text[:first]}{entry},{newline}{text[first:]}"
    end = max(spans[key][1] for key in before)
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
