"""Functions of a new module, as inputs state them: a signature, one expression, and examples of what it gives.

functions   area(width: float, height: float) -> float = width * height; …
examples    area(2, 3) == 6; …          the values are JSON
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Type = Literal["text", "integer", "number", "boolean"]

TYPES: dict[str, Type] = {
    "str": "text", "string": "text", "int": "integer", "float": "number", "number": "number",
    "bool": "boolean", "boolean": "boolean",
}  # fmt: skip

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")
_FUNCTION = re.compile(r"(\w+)\s*\(([^()]*)\)\s*->\s*(\w+)\s*=(?!=)\s*(.+)", re.DOTALL)
_PARAMETER = re.compile(r"(\w+)\s*:\s*(\w+)")
_EXAMPLE = re.compile(r"(\w+)\s*\((.*)\)\s*==\s*(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function that gives the value of one expression, written in the language of its module."""

    name: str
    parameters: tuple[tuple[str, Type], ...]
    returns: Type
    expression: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What a function gives for some arguments."""

    function: str
    arguments: tuple[Any, ...]
    expected: Any


def functions_in(text: str) -> tuple[Function | str, ...]:
    """The functions that a text states; what cannot be read comes as a problem."""
    return tuple(map(_function, pieces(text)))


def examples_in(text: str) -> tuple[Example | str, ...]:
    """The examples that a text states; what cannot be read comes as a problem."""
    return tuple(map(_example, pieces(text)))


def problems_of(functions: tuple[Function | str, ...], examples: tuple[Example | str, ...]) -> tuple[str, ...]:
    """What is wrong with the statements and with how they fit together, in any language."""
    stated = [function for function in functions if isinstance(function, Function)]
    shown = [example for example in examples if isinstance(example, Example)]
    counts = Counter(function.name for function in stated)
    bare = [function.name for function in stated if not any(example.function == function.name for example in shown)]
    return (
        *(f"functions: {problem}" for problem in functions if isinstance(problem, str)),
        *(f"functions: {name!r} is given {count} times" for name, count in counts.items() if count > 1),
        *(f"examples: {problem}" for problem in examples if isinstance(problem, str)),
        *(f"examples: {problem}" for example in shown for problem in _misfits(example, stated)),
        *(f"examples: {name!r} has none; write {name}(…) == …" for name in bare),
    )


def pieces(text: str) -> Iterator[str]:
    """The parts of a text between semicolons, those in quotes aside."""
    piece, quote, escaped = "", "", False
    for sign in text:
        if sign == ";" and not quote:
            if piece.strip():
                yield piece.strip()
            piece = ""
            continue
        piece += sign
        if escaped:
            escaped = False
        elif quote:
            escaped = sign == "\\"
            quote = "" if sign == quote else quote
        elif sign in "\"'`":
            quote = sign
    if piece.strip():
        yield piece.strip()


def _function(text: str) -> Function | str:
    found = _FUNCTION.fullmatch(text)
    if found is None or "\n" in text:
        return f"{text!r:.100} cannot be read; write name(argument: type) -> type = expression"
    name, inside, returns, expression = found.groups()
    parameters = [_PARAMETER.fullmatch(part.strip()) for part in inside.split(",")] if inside.strip() else []
    typed = tuple((part[1], TYPES[part[2]]) for part in parameters if part is not None and part[2] in TYPES)
    if len(typed) < len(parameters) or returns not in TYPES:
        return f"{name}: the types are {', '.join(TYPES)}, and each argument has one"
    names = [name, *(parameter for parameter, _ in typed)]
    if unfit := [each for each in names if not _NAME.fullmatch(each)]:
        return f"{unfit[0]!r} cannot name a function or an argument"
    if len(set(names)) < len(names):
        return f"{name}: the function and its arguments need names of their own"
    return Function(name=name, parameters=typed, returns=TYPES[returns], expression=expression.strip())


def _example(text: str) -> Example | str:
    found = _EXAMPLE.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        arguments, expected = json.loads(f"[{found[2]}]"), json.loads(found[3])
        json.dumps([arguments, expected], ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # also a half of a letter, or what is no number
        return f'{text!r:.100} cannot be read; write name(1, "text") == true, the values as in JSON'
    return Example(function=found[1], arguments=tuple(arguments), expected=expected)


def _misfits(example: Example, functions: list[Function]) -> Iterator[str]:
    function = next((each for each in functions if each.name == example.function), None)
    if function is None:
        yield f"there is no function {example.function!r}"
        return
    wanted = len(function.parameters)
    if len(example.arguments) != wanted:
        yield f"{function.name} takes {wanted} arguments, not {len(example.arguments)}"
        return
    for (name, kind), value in zip(function.parameters, example.arguments, strict=True):
        if not fits(value, kind):
            yield f"{function.name}: {name} cannot be {json.dumps(value):.60}"
    if not fits(example.expected, function.returns):
        yield f"{function.name} cannot give {json.dumps(example.expected):.60}"


def fits(value: Any, kind: Type) -> bool:
    """Whether a value of JSON is of a type."""
    match kind:
        case "text":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
