"""The front matter of a file: the small part of YAML that task files use, with the place of each value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from milepost.roadmap.reading.source import RoadmapSource

_KEY = re.compile(r"(?P<key>[A-Za-z_][\w -]{0,60}?)[ \t]*:(?:[ \t]+(?P<value>.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.+)")
_MOST_LINES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value: its words, or those of the list that it is; the line, and the columns of its text without quotes."""

    line: int
    start: int
    end: int
    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """The values by their keys in lower case, and the line at which the text below begins."""

    values: dict[str, Value]
    end: int

    def text(self, *keys: str) -> str:
        """The value of the first of these keys that has one."""
        return next((value.text for key in keys if (value := self.values.get(key)) and value.text), "")

    def texts(self, *keys: str) -> tuple[str, ...]:
        return next((value.texts for key in keys if (value := self.values.get(key)) and value.texts), ())


def front_matter_of(source: RoadmapSource) -> FrontMatter | None:
    """What stands between `---` and `---` at the top of a file; None where there is no such thing."""
    if not source.lines or source.lines[0].rstrip() != "---":
        return None
    lines = range(1, min(len(source.lines), _MOST_LINES))
    end = next((line for line in lines if source.lines[line].rstrip() in ("---", "...")), None)
    if end is None:
        return None
    values: dict[str, Value] = {}
    key = ""
    for number in range(1, end):
        line = source.lines[number]
        if found := _KEY.fullmatch(line.rstrip()):
            key = found["key"].strip().lower()
            values[key] = _value(number, found.start("value"), found["value"] or "")
        elif key and (item := _ITEM.fullmatch(line.rstrip())):
            more = _value(number, item.start("value"), item["value"]).texts
            values[key] = _with_more(values[key], more)
        elif key and line[:1] in " \t" and line.strip():
            # A long text goes on in lines that are indented, with or without `>` or `|` before it.
            values[key] = _with_more(values[key], (line.strip(),))
    return FrontMatter(values=values, end=end + 1)


def _with_more(value: Value, more: tuple[str, ...]) -> Value:
    texts = tuple(text for text in value.texts if text not in (">", "|", ">-", "|-"))
    return Value(line=value.line, start=value.start, end=value.end, texts=(*texts, *more))


def _value(line: int, start: int, written: str) -> Value:
    text = written.rstrip()
    if text[:1] in ("'", '"'):
        closing = text.find(text[0], 1)
        inner = text[1:closing] if closing > 0 else text[1:]
        return Value(line=line, start=start + 1, end=start + 1 + len(inner), texts=(inner,) if inner else ())
    text = re.split(r"\s#", text, maxsplit=1)[0].rstrip()
    if text.startswith("["):
        texts = tuple(_items(text.strip("[] ")))
        return Value(line=line, start=start, end=start + len(text), texts=texts)
    empty = text.lower() in ("", "null", "~")
    return Value(line=line, start=max(start, 0), end=max(start, 0) + len(text), texts=() if empty else (text,))


def _items(listed: str) -> Iterator[str]:
    for part in listed.split(","):
        if name := part.strip().strip("'\"").strip():
            yield name
