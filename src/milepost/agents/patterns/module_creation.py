"""The pattern module_creation: a new module with tests that pass."""

from __future__ import annotations

import builtins
import keyword
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from milepost.agents.confined import ConfinedFolder, Refused
from milepost.agents.patterns.python_module import Kind, PythonModule, source_files
from milepost.agents.schema import Schema, object_of, problems_of
from milepost.core.errors import PatternInputsInvalid

LONGEST_DESCRIPTION = 100

_KINDS: tuple[Kind, ...] = ("library", "cli", "utility")
_NAME = r"^[a-z][a-z0-9_]*\Z"


class ModuleCreation:
    """Writes a module, its tests, and for a command line its `__main__`."""

    @property
    def name(self) -> str:
        return "module_creation"

    @property
    def schema(self) -> Schema:
        return object_of(
            {
                "name": {"type": "string", "pattern": _NAME, "description": "the name to import it by"},
                "language": {"type": "string", "enum": ["python", "javascript", "typescript"], "default": "python"},
                "kind": {
                    "type": "string",
                    "enum": list(_KINDS),
                    "default": "library",
                    "description": "library: a package; cli: a package to run; utility: one file",
                },
                "description": {"type": "string", "minLength": 1, "description": "what it is for, in one line"},
                "functions": {"type": "string", "description": "names of functions to begin with, separated by commas"},
            },
            required=("name",),
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        return (
            *problems_of(self.schema, inputs),
            *_name_problems(inputs.get("name", "")),
            *_language_problems(inputs.get("language", "python")),
            *_description_problems(inputs.get("description", "")),
            *_function_problems(_functions(inputs)),
        )

    def execute(self, inputs: Mapping[str, str], folder: Path) -> tuple[str, ...]:
        if problems := self.validate_inputs(inputs):
            raise PatternInputsInvalid("; ".join(problems), "correct the inputs of the task")
        module = _module(inputs)
        place = ConfinedFolder(folder)
        try:
            missing = _missing(module, place)
            for path, content in missing.items():
                place.write(path, content.encode())
        except Refused as refusal:
            raise PatternInputsInvalid(str(refusal), "choose another name, or move what is there") from refusal
        return tuple(missing)


def _module(inputs: Mapping[str, str]) -> PythonModule:
    kind = next(kind for kind in _KINDS if kind == inputs.get("kind", "library"))
    name = inputs["name"]
    return PythonModule(
        name=name,
        kind=kind,
        description=inputs.get("description", f"The {kind} {name}.").strip(),
        functions=_functions(inputs),
    )


def _missing(module: PythonModule, place: ConfinedFolder) -> dict[str, str]:
    """The files that are still to be written, when none of the others is in the way."""
    wanted = source_files(module)
    present = {path for path in wanted if place.holds(path)}
    problems = [
        f"{path} is there already, with other content"
        for path in wanted
        if path in present and not _is_marker(path) and place.read(path) != wanted[path].encode()
    ]
    rival = f"{module.name}/__init__.py" if module.kind == "utility" else f"{module.name}.py"
    if place.holds(rival):
        problems.append(f"{rival} is there already and would be imported by the same name")
    if problems:
        raise Refused("; ".join(problems))
    return {path: content for path, content in wanted.items() if path not in present}


def _is_marker(path: str) -> bool:
    """Whether the file only makes a folder a package: whatever it holds serves as well."""
    return path == "tests/__init__.py"


def _functions(inputs: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in inputs.get("functions", "").split(",") if name.strip())


def _name_problems(name: str) -> tuple[str, ...]:
    if keyword.iskeyword(name):
        return (f"name {name!r} is a word of Python",)
    if name in sys.stdlib_module_names or name in ("test", "tests"):
        return (f"name {name!r} would hide a module of that name",)
    return ()


def _language_problems(language: str) -> tuple[str, ...]:
    if language in ("javascript", "typescript"):
        return (f"language {language} is not supported yet; python is",)
    return ()


def _description_problems(description: str) -> tuple[str, ...]:
    if not description.isprintable() or description.isspace():
        return ("description must be one line of printable text",)
    if len(description) > LONGEST_DESCRIPTION:
        return (f"description must be at most {LONGEST_DESCRIPTION} characters, not {len(description)}",)
    return ()


def _function_problems(functions: tuple[str, ...]) -> tuple[str, ...]:
    # A function named like a builtin would hide it from the rest of the module: `str` even breaks the annotations.
    unusable = [
        f"functions: {name!r} cannot name a function"
        for name in dict.fromkeys(functions)
        if not (name.isidentifier() and name[0].islower() and name.isascii())
        or keyword.iskeyword(name)
        or hasattr(builtins, name)
    ]
    repeated = [
        f"functions: {name!r} is given {count} times" for name, count in Counter(functions).items() if count > 1
    ]
    return (*unusable, *repeated)
