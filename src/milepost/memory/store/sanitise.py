"""What the memory is told, made fit to be kept: secrets taken out of every text, and each part within its bounds."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, TypeVar

from milepost.core.errors import EpisodeInvalid
from milepost.core.memories import Assessment, EpisodeEnd, EpisodeStart, EpisodeStep, Exhibit, Lesson
from milepost.core.secrets.redact import MASK, Redactor, secrets_of
from milepost.memory.store.bounds import (
    ENTRIES,
    EXHIBIT_BYTES,
    LINE_BYTES,
    NAME_CHARACTERS,
    OBSERVATION_BYTES,
    PARAMETERS_BYTES,
    TEXT_CHARACTERS,
    cut,
    cut_characters,
    fewer,
)

T = TypeVar("T")
Redact = Callable[[str], str]

SHAPES: Redact = Redactor()  # knows no secret by its value, only what looks like one

DEEPEST = 8
WIDEST = 100
LARGEST = 2**53

_NAMES = ("project", "run", "task", "agent", "tool", "owner", "language", "framework", "domain", "name")
_LISTS = ("files", "changed", "tags", "terms", "symbols")


class Sanitiser:
    """Makes values of the memory fit to be kept, by one way to take secrets out of text."""

    def __init__(self, redact: Redact = SHAPES) -> None:
        self._redact = redact

    def start(self, start: EpisodeStart) -> EpisodeStart:
        """An episode's start; one whose id cannot be kept as it is is refused."""
        self.require_id(start.id)
        text = cut_characters(self.text(start.text), TEXT_CHARACTERS)
        return replace(self._all(replace(start, text="")), id=start.id, text=text)

    def step(self, step: EpisodeStep) -> EpisodeStep:
        """A step with its parameters, whatever they are."""
        fit = self._all(replace(step, observation="", parameters={}))
        observation = cut(self.text(step.observation), OBSERVATION_BYTES)
        return replace(fit, observation=observation, parameters=self._parameters(step.parameters))

    def end(self, end: EpisodeEnd, room: int) -> EpisodeEnd:
        """An episode's end, with exhibits as far as there is room for them."""
        fit, exhibits = self._all(replace(end, reason="", exhibits=())), []
        for exhibit in end.exhibits[:WIDEST]:
            text = cut(self.text(exhibit.text), max(0, min(EXHIBIT_BYTES, room)))
            room -= len(text.encode("utf-8", "backslashreplace"))
            exhibits.append(Exhibit(name=self._name(exhibit.name), kind=exhibit.kind, text=text))
        reason = cut(self.text(end.reason), OBSERVATION_BYTES)
        return replace(fit, reason=reason, exhibits=tuple(exhibits))

    def assessment(self, assessment: Assessment) -> Assessment:
        return self._all(assessment)

    def lesson(self, lesson: Lesson) -> Lesson:
        """A lesson; its id is what it was made as."""
        self.require_id(lesson.id)
        return replace(self._all(lesson), id=lesson.id)

    def line(self, text: str) -> str:
        """A text of a line or a few."""
        return cut(self.text(text), LINE_BYTES)

    def text(self, text: str) -> str:
        """A text of any length, without secrets."""
        return self._redact(str(text).replace("\0", "\\x00"))

    def require_id(self, name: str) -> None:
        """An id is kept as it is or not at all: what is found by it would not be found otherwise."""
        if not name or len(name) > NAME_CHARACTERS or self.text(name) != name:
            raise EpisodeInvalid(
                f"{cut_characters(self.text(name), 60)!r} is not a valid id",
                f"use at most {NAME_CHARACTERS} characters, and no secret",
            )

    def _name(self, text: str) -> str:
        return cut_characters(self.text(text), NAME_CHARACTERS)

    def _all(self, value: T) -> T:
        """A frozen value with every text, number and list in it as it is kept."""
        if not dataclasses.is_dataclass(value):
            return value
        whole: Any = value
        told = {
            field.name: self._field(field.name, field.type, getattr(value, field.name))
            for field in dataclasses.fields(whole)
        }
        fit: T = replace(whole, **told)
        return fit

    def _field(self, name: str, declared: Any, content: Any) -> Any:
        if isinstance(content, Enum):
            return content
        if declared in ("int", "float"):
            return int(_number(content)) if declared == "int" else float(_number(content))
        if isinstance(content, str):
            return self._name(content) if name in _NAMES else self.line(content)
        if isinstance(content, tuple) and all(isinstance(one, str) for one in content):
            texts = [self.text(one) for one in content]
            return fewer(texts, NAME_CHARACTERS if name in _LISTS else LINE_BYTES)
        if isinstance(content, tuple):
            return tuple(map(self._all, content[:ENTRIES]))
        return self._all(content)

    def _parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters as JSON has them; those for which there is no more room are named, with what they would take."""
        kept: dict[str, Any] = {}
        room = PARAMETERS_BYTES
        plain: dict[str, Any] = self._plain(parameters, 0)
        for key, value in plain.items():
            size = len(json.dumps(value)) + len(key)
            fit = value if size <= room else f"… {size:,} bytes cut …"
            room -= len(json.dumps(fit)) + len(key)
            if room < 0:
                kept["…"] = f"{len(plain) - len(kept):,} more"
                break
            kept[key] = fit
        return kept

    def _plain(self, value: Any, depth: int) -> Any:
        """A value as JSON can have it, redacted: also what is kept under a name that says that it is secret."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, float | int):
            number = _number(value)
            return number if self.text(str(number)) == str(number) else MASK
        if depth < DEEPEST and isinstance(value, Mapping):
            return self._mapping(value, depth)
        if depth < DEEPEST and isinstance(value, list | tuple | set | frozenset):
            entries = list(value)
            plain = [self._plain(one, depth + 1) for one in entries[:WIDEST]]
            return [*plain, f"… {len(entries) - WIDEST:,} more"] if len(entries) > WIDEST else plain
        return self.line(value if isinstance(value, str) else repr(value))

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for key, content in list(value.items())[:WIDEST]:
            secret = isinstance(content, str) and secrets_of({str(key): content})
            plain[self._name(str(key))] = MASK if secret else self._plain(content, depth + 1)
        if len(value) > WIDEST:
            plain["…"] = f"{len(value) - WIDEST:,} more"
        return plain


def _number(value: float) -> float:
    """A number that both databases and JSON can keep."""
    if value != value or abs(value) == math.inf:  # not by math.isfinite, for which whole numbers can be too large
        return 0
    return max(-LARGEST, min(LARGEST, value))
