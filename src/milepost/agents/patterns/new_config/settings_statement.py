"""Settings of a program, as inputs state them: a name, a type with its range or choices, and a value to begin with.

port: integer (1..65535) = 8080; level: debug|info|error = info; host: string = localhost
"""

from __future__ import annotations

import json
import keyword
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from milepost.agents.patterns.new_module.functions import TYPES, Type, fits, pieces

SettingType = Type | Literal["choice"]

_SETTING = re.compile(r"(\w+)\s*:\s*([\w|-]+)\s*(?:\(\s*(\S*?)\s*\.\.\s*(\S*?)\s*\)\s*)?=\s*(.+)", re.DOTALL)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CHOICE = re.compile(r"[a-z][a-z0-9_-]*")
_SPELT = {**TYPES, "integer": "integer", "text": "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting; `low` and `high` bound a number, `choices` are all that a choice can be."""

    name: str
    type: SettingType
    default: Any
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The setting as JSON Schema has it."""
        kinds = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean", "choice": "string"}
        bounds = {"minimum": self.low, "maximum": self.high}
        return {
            "type": kinds[self.type],
            **({"enum": list(self.choices)} if self.choices else {}),
            **{key: bound for key, bound in bounds.items() if bound is not None},
            "default": self.default,
        }

    @property
    def told(self) -> str:
        """What the setting can be, for people."""
        match self.type:
            case "choice":
                return " or ".join(self.choices)
            case "text":
                return "a text"
            case "boolean":
                return "true or false"
            case "integer" | "number":
                noun = "a whole number" if self.type == "integer" else "a number"
                low = "" if self.low is None else f" from {self.low:g}"
                high = "" if self.high is None else f" up to {self.high:g}"
                return f"{noun}{low}{high}"
            case _ as never:
                assert_never(never)


def settings_in(text: str) -> tuple[Setting | str, ...]:
    """The settings that a text states; what cannot be read comes as a problem."""
    return tuple(map(_setting, pieces(text)))


def setting_problems(settings: tuple[Setting | str, ...]) -> tuple[str, ...]:
    """What is wrong with the statements."""
    counts = Counter(setting.name for setting in settings if isinstance(setting, Setting))
    return (
        *(f"settings: {problem}" for problem in settings if isinstance(problem, str)),
        *(f"settings: {name!r} is given {count} times" for name, count in counts.items() if count > 1),
        *(() if settings else ("settings: none is given",)),
    )


def _setting(text: str) -> Setting | str:
    found = _SETTING.fullmatch(text)
    if found is None or "\n" in text:
        return f"{text!r:.100} cannot be read; write name: type (low..high) = value, or name: one|other = one"
    name, kind, low, high, value = found.groups()
    if not _NAME.fullmatch(name) or keyword.iskeyword(name) or keyword.issoftkeyword(name):
        return f"{name!r} is not a valid name of a setting"
    choices = tuple(kind.split("|")) if "|" in kind else ()
    if choices:
        return _choice(name, choices, value.strip(), bounded=low is not None)
    if kind not in _SPELT:
        return f"{name}: there is no type {kind!r}; there are {', '.join(_SPELT)}, and choices as one|other"
    return _plain(name, _SPELT[kind], (low, high), value.strip())


def _choice(name: str, choices: tuple[str, ...], value: str, *, bounded: bool) -> Setting | str:
    value = value.strip("\"'")
    members = [re.sub(r"-", "_", choice) for choice in choices]
    if bad := [each for each in choices if not _CHOICE.fullmatch(each) or keyword.iskeyword(each)]:
        return f"{name}: {bad[0]!r} cannot be a choice"
    if len(set(members)) < len(members):
        return f"{name}: two choices are alike"
    if bounded:
        return f"{name}: choices have no range"
    if value not in choices:
        return f"{name}: {value!r} is not one of {', '.join(choices)}"
    return Setting(name=name, type="choice", default=value, choices=choices)


def _plain(name: str, kind: Type, bounds: tuple[str | None, str | None], value: str) -> Setting | str:
    try:
        default = json.loads(value)
    except (ValueError, RecursionError):
        default = value.strip("'") if kind == "text" else None
    if kind == "text" and not isinstance(default, str):
        default = value
    if not fits(default, kind) or (isinstance(default, str) and not default.isprintable()):
        return f"{name}: {value!r:.60} is not of that type"
    numbers = [_number(bound) if bound else None for bound in bounds]
    given = [bound for bound in bounds if bound]
    if given and kind not in ("integer", "number"):
        return f"{name}: only numbers have a range"
    if any(bound and number is None for bound, number in zip(bounds, numbers, strict=True)):
        return f"{name}: a range is two numbers, such as (1..10)"
    low, high = numbers
    if (low is not None and default < low) or (high is not None and default > high):
        return f"{name}: {value} is out of its range"
    return Setting(name=name, type=kind, default=default, low=low, high=high)


def _number(text: str) -> int | float | None:
    if re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text, re.ASCII) else None
