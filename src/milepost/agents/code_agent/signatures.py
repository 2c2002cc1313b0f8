"""What code can call, as a model is told of it: names with their parameters, and a line about each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def signature(function: Callable[..., Any]) -> str:
    """A function as one would write its head: `read_file(path: str, limit: int = 10) -> str`."""
    wanted = inspect.signature(function)
    result = wanted.return_annotation
    given = ", ".join(_parameter(each) for each in wanted.parameters.values() if each.name != "self")
    is_told = result not in (None, "None", wanted.empty)
    return f"{function.__name__}({given})" + (f" -> {_written(result)}" if is_told else "")


def listed(functions: Iterable[Callable[..., Any]]) -> str:
    """Functions as a list in Markdown, each with the first line that is said about it."""
    return "\n".join(f"- `{signature(each)}`{_told(each)}" for each in functions)


def used_in(code: str, functions: Mapping[str, Callable[..., Any]]) -> list[str]:
    """The signatures of the functions that code seems to call."""
    called = set(re.findall(r"\b([a-z_]+)\s*\(", code))
    return [signature(function) for name, function in functions.items() if name in called]


def _parameter(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    kind = "" if parameter.annotation is parameter.empty else f": {_written(parameter.annotation)}"
    return f"{parameter.name}{kind}{default}"


def _written(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _told(function: Callable[..., Any]) -> str:
    """The first line that is said about a function, where anything is."""
    lines = (inspect.getdoc(function) or "").splitlines()
    return f": {lines[0]}" if lines else ""
