"""Templates: text with places in double braces that inputs are put into.

{{ name }}               the value of the input `name`
{{ name | pascal }}      … changed: lower, upper, snake, kebab, camel, pascal, title, json
{{ "{{" }}               the text between the quotes, as it is
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_PLACE = re.compile(r"\{\{(?!\{)(.*?)\}\}")
_INSIDE = re.compile(r"\s*(?:\"(?P<literal>[^\"]*)\"|(?P<name>[A-Za-z_][\w-]*)\s*(?:\|\s*(?P<change>\w+))?)\s*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatePlace:
    """A place in a template: `text` as it is, or an input and how its value is changed."""

    text: str = ""
    name: str = ""
    change: str = ""


def places_in(template: str) -> Iterator[TemplatePlace | str]:
    """The places of a template; one that cannot be read comes as the words it is made of."""
    for found in _PLACE.finditer(template):
        yield _place(found[1]) or found[0]


def filled(template: str, values: Mapping[str, Any]) -> str:
    """The template with the values in its places, all of which can be read and have one."""

    def value_at(found: re.Match[str]) -> str:
        place = _place(found[1])
        if place is None:
            raise ValueError(f"{found[0]!r} cannot be read")
        return _put(place, values) if place.name else place.text

    return _PLACE.sub(value_at, template)


def template_problems(template: str, known: Mapping[str, bool]) -> tuple[str, ...]:
    """Why a template cannot be filled; `known` says of each input whether it always has a value."""
    problems: list[str] = []
    for place in places_in(template):
        if isinstance(place, str):
            problems.append(f"{place!r} cannot be read")
        elif place.name and place.name not in known:
            problems.append(f"there is no input {place.name!r}")
        elif place.name and not known[place.name]:
            problems.append(f"the input {place.name!r} must be required or have a default")
        elif place.change and place.change not in CHANGES:
            problems.append(f"{place.change!r} is not a change; there are {', '.join(CHANGES)}")
    return tuple(dict.fromkeys(problems))


def _place(inside: str) -> TemplatePlace | None:
    found = _INSIDE.fullmatch(inside)
    if found is None:
        return None
    return TemplatePlace(text=found["literal"] or "", name=found["name"] or "", change=found["change"] or "")


def _put(place: TemplatePlace, values: Mapping[str, Any]) -> str:
    value = values[place.name]
    if place.change == "json":
        return json.dumps(value, ensure_ascii=False)
    text = ", ".join(value) if isinstance(value, list) else value if isinstance(value, str) else json.dumps(value)
    return CHANGES[place.change](text) if place.change else text


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def pascal(text: str) -> str:
    """`stop_watch` as StopWatch."""
    return "".join(map(str.capitalize, _words(text)))


def camel(text: str) -> str:
    """`stop_watch` as stopWatch."""
    return pascal(text)[:1].lower() + pascal(text)[1:]


CHANGES: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "snake": lambda text: "_".join(_words(text)),
    "kebab": lambda text: "-".join(_words(text)),
    "camel": camel,
    "pascal": pascal,
    "title": lambda text: " ".join(map(str.capitalize, _words(text))),
    "json": json.dumps,
}
