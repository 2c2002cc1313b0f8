"""JavaScript and TypeScript: how the same source is written in each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milepost.agents.patterns.new_module.functions import Type
from milepost.agents.patterns.new_module.module import Module

TYPES: dict[Type, str] = {"text": "string", "integer": "number", "number": "number", "boolean": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How the source is written: with types in it, or with comments that tell them; and how its files end."""

    typed: bool
    suffix: str

    def function(self, about: str, name: str, parameters: Mapping[str, str], returns: str, body: str) -> str:
        """An exported function."""
        if self.typed:
            taken = ", ".join(f"{each}: {kind}" for each, kind in parameters.items())
            return f"/** {about} */\nexport function {name}({taken}): {returns} {{\n{body}}}\n"
        told = "".join(f" * @param {{{kind}}} {each}\n" for each, kind in parameters.items())
        head = f"/**\n * {about}\n *\n{told} * @returns {{{returns}}}\n */\n"
        return f"{head}export function {name}({', '.join(parameters)}) {{\n{body}}}\n"

    def shape(self, name: str, fields: str) -> str:
        """The type of an object."""
        return f"export type {name} = {fields};\n" if self.typed else f"/** @typedef {{{fields}}} {name} */\n"

    def cast(self, value: str, kind: str) -> str:
        return f"{value} as {kind}" if self.typed else f"/** @type {{{kind}}} */ ({value})"


def imports(module: Module, dialect: Dialect, folder: str) -> str:
    """The statement that imports all of a module from a folder."""
    names = ", ".join(sorted(("version", *(function.name for function in module.functions))))
    return f'import {{ {names} }} from "{folder}/{module.name}{dialect.suffix}";\n'


def literal(value: Any) -> str:
    """A value of JSON as JavaScript has it."""
    return json.dumps(value, ensure_ascii=False)
