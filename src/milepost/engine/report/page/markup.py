"""HTML that cannot be broken out of: text becomes markup here, escaped and with nothing hidden in it, or not at all."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass

from milepost.engine.report.words import visible

_EMPTY = frozenset({"meta", "link", "br", "rect", "line"})


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML that this module made."""

    text: str


Part = Markup | str | None


def element(name: str, *parts: Part | Iterable[Part], **attributes: str | int | float | bool | None) -> Markup:
    """An element. A part that is no markup is text; an attribute that is None or False is left out.

    `class_` stands for class, `data_task` for data-task.
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items() if value not in (None, False))
    if name in _EMPTY:
        return Markup(f"<{name}{given}>" if name in ("meta", "link", "br") else f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{_inside(parts)}</{name}>")


def group(*parts: Part | Iterable[Part]) -> Markup:
    """Several parts as one."""
    return Markup(_inside(parts))


def escaped(text: str) -> str:
    """Text as it may stand in HTML, between tags or in a quoted attribute."""
    return html.escape(visible(text), quote=True)


def raw_text(name: str, text: str) -> Markup:
    """A style or script element with our own text, which must not end it."""
    if "</" in text or "<!--" in text:
        raise ValueError(f"text that would end its <{name}>")
    return Markup(f"<{name}>{text}</{name}>")


def _inside(parts: Iterable[Part | Iterable[Part]]) -> str:
    return "".join(_part(part) for part in parts)


def _part(part: Part | Iterable[Part]) -> str:
    if part is None:
        return ""
    if isinstance(part, Markup):
        return part.text
    if isinstance(part, str):
        return escaped(part)
    return _inside(part)


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'
