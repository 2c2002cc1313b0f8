"""A module that is to be written: what its files are made from, in any language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from milepost.agents.patterns.new_module.functions import Example, Function

Kind = Literal["library", "cli", "api", "utility"]
Language = Literal["python", "javascript", "typescript"]
KINDS: tuple[Kind, ...] = ("library", "cli", "api", "utility")
LANGUAGES: tuple[Language, ...] = ("python", "javascript", "typescript")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """`root` is the folder that modules lie in, with its slash; empty for the top of the project."""

    name: str
    kind: Kind
    description: str
    functions: tuple[Function, ...] = ()
    examples: tuple[Example, ...] = ()
    license: str = ""
    root: str = ""

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").replace("-", " ").capitalize()

    def examples_of(self, function: Function) -> tuple[Example, ...]:
        return tuple(example for example in self.examples if example.function == function.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How a module is used, for its README: its code, and commands by what they do."""

    language: Language
    code: str
    commands: Mapping[str, str]


def readme(module: Module, usage: Usage) -> str:
    """The page about a module."""
    fence = "```"
    commands = "".join(f"{what}:\n\n    {command}\n\n" for what, command in usage.commands.items())
    requests = "".join(f"- {line}\n" for line in _requests(module)) if module.kind == "api" else ""
    licence = f"Licence: {module.license}, see LICENSE.\n" if module.license else ""
    parts = (
        f"# {module.title}\n\n{_plain(module.description)}\n",
        f"{fence}{usage.language}\n{usage.code.rstrip()}\n{fence}\n",
        requests,
        commands.rstrip() + "\n",
        licence,
    )
    return "\n".join(part for part in parts if part)


def body_of(function: Function, arguments: tuple[Any, ...]) -> str:
    """The JSON that a service is sent for a call of a function."""
    names = (name for name, _ in function.parameters)
    return json.dumps(dict(zip(names, arguments, strict=True)), ensure_ascii=False)


def words_of(arguments: tuple[Any, ...]) -> list[str]:
    """The words that a command line is given for the arguments of a call."""
    return [value if isinstance(value, str) else json.dumps(value) for value in arguments]


def _requests(module: Module) -> list[str]:
    asked = [
        f"`POST /{function.name}` with `{body_of(function, example.arguments)}` gives "
        f"`{json.dumps({'result': example.expected}, ensure_ascii=False)}`"
        for function in module.functions
        for example in module.examples_of(function)[:1]
    ]
    return ["`GET /health` gives the version", *asked]


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|" else sign for sign in text)
