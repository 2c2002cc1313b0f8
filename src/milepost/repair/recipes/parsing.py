"""Asks the project's own interpreter what it makes of source text, in the sandbox and without running it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milepost.repair.recipes.recipe import RecipeTools, RepairCase

_PARSE = """
import ast, hashlib, json, sys, warnings
warnings.simplefilter("ignore")
answers = []
for source in json.load(sys.stdin):
    try:
        tree = ast.parse(source)
        compile(tree, "source", "exec", dont_inherit=True)
        answers.append({"meaning": hashlib.sha256(ast.dump(tree).encode("utf-8", "replace")).hexdigest()})
    except SyntaxError as error:
        answers.append({"kind": type(error).__name__, "message": str(error.msg), "line": error.lineno or 0})
    except Exception as error:
        answers.append({"kind": type(error).__name__, "message": str(error), "line": 0})
json.dump(answers, sys.stdout)
"""

_IMPORTS = """
import ast, json, sys, warnings
warnings.simplefilter("ignore")

def at_import(body):
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from at_import(node.orelse)
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.ClassDef, ast.For, ast.While)):
            for name in ("body", "orelse", "finalbody"):
                yield from at_import(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from at_import(handler.body)

answers = {}
for path, source in json.load(sys.stdin).items():
    try:
        found = answers[path] = []
        for node in at_import(ast.parse(source).body):
            if isinstance(node, ast.Import):
                found += [[0, alias.name, "", node.lineno] for alias in node.names]
            else:
                found += [[node.level, node.module or "", alias.name, node.lineno] for alias in node.names]
    except Exception:
        answers[path] = []
json.dump(answers, sys.stdout)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What came of parsing: equal `meaning` is equal syntax trees, and empty means that it is no Python."""

    meaning: str = ""
    kind: str = ""
    message: str = ""
    line: int = 0

    @property
    def succeeded(self) -> bool:
        return bool(self.meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported name as it stands in the code: `level` counts the dots of a relative import."""

    level: int
    module: str
    name: str
    line: int


def parse_python(sources: list[str], case: RepairCase, tools: RecipeTools) -> list[Parsed] | None:
    """How each source parses, None where no interpreter could be asked."""
    answer = _asked(_PARSE, sources, case, tools)
    if not isinstance(answer, list) or len(answer) != len(sources):
        return None
    return [Parsed(**one) for one in answer]


def python_imports(
    sources: Mapping[str, str], case: RepairCase, tools: RecipeTools
) -> dict[str, tuple[Import, ...]] | None:
    """What each file imports while it is imported itself, None where no interpreter could be asked."""
    answer = _asked(_IMPORTS, dict(sources), case, tools)
    if not isinstance(answer, dict):
        return None
    return {
        path: tuple(Import(level=level, module=module, name=name, line=line) for level, module, name, line in found)
        for path, found in answer.items()
    }


def parses_as_script(source: str, suffix: str, case: RepairCase, tools: RecipeTools) -> bool:
    """Whether Node takes the text of a JavaScript file as such."""
    kind = ("--input-type=module",) if suffix == ".mjs" else ()
    if tools.run(("node", *kind, "--check", "-"), case.folder, stdin=source).succeeded:
        return True
    return (
        suffix == ".js"
        and tools.run(("node", "--input-type=module", "--check", "-"), case.folder, stdin=source).succeeded
    )


def _asked(script: str, question: Any, case: RepairCase, tools: RecipeTools) -> Any:
    if tools.interpreter is None:
        return None
    result = tools.run((str(tools.interpreter), "-I", "-c", script), case.folder, stdin=json.dumps(question))
    try:
        return json.loads(result.stdout) if result.succeeded else None
    except ValueError:
        return None
