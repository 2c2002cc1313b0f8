"""What the local level refuses in Python source, before any of it runs."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection
from dataclasses import dataclass

from milepost.core.commands import Termination

# What the interpreter has of its own and what reaches nothing outside it: no os, no pathlib, no sys.
HARMLESS_MODULES = frozenset(
    {
        *("asyncio", "base64", "binascii", "bisect", "collections", "copy", "csv", "dataclasses", "datetime"),
        *("decimal", "functools", "hashlib", "itertools", "json", "math", "random", "re", "time", "tomllib"),
        *("typing", "unicodedata"),
    }
)
LONGEST_CODE = 1_000_000
# They would run source that was not looked at.
_RUN_SOURCE = frozenset({"eval", "exec"})
USE_ISOLATED = "use trust level 'isolated'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """Why code is not run."""

    error: str
    termination: Termination = "not_started"


def objection(code: str, modules: Collection[str]) -> Objection | None:
    """Why this code is not run with only these modules to import; None when nothing speaks against it."""
    if len(code) > LONGEST_CODE:
        return Objection(error=f"ValueError: the code is longer than {LONGEST_CODE} characters")
    try:
        tree = _parse(code)
    except SyntaxError as problem:
        where = f" (line {problem.lineno})" if problem.lineno else ""
        return Objection(error=f"SyntaxError: {problem.msg}{where}", termination="exited")
    except (ValueError, MemoryError, RecursionError) as problem:
        return Objection(error=f"SyntaxError: the code cannot be read: {str(problem) or 'it is nested too deeply'}")
    for node in ast.walk(tree):
        if what := _refused(node, modules):
            return Objection(error=f"{what} at trust level 'local': {USE_ISOLATED} (line {node.lineno})")  # type: ignore[attr-defined]
    return None


def _parse(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _refused(node: ast.AST, modules: Collection[str]) -> str | None:
    match node:
        case ast.Import(names=names):
            absent = [name.name for name in names if not _is_allowed(name.name, modules)]
            return f"ImportError: the module {absent[0]!r} cannot be imported" if absent else None
        case ast.ImportFrom(level=level) if level > 0:
            return "ImportError: there is no package to import from"
        case ast.ImportFrom(module=str(module)) if not _is_allowed(module, modules):
            return f"ImportError: the module {module!r} cannot be imported"
        case ast.ImportFrom(module=module, names=names) if any(name.name == "*" for name in names):
            return f"NotSupported: 'from {module} import *' is not there"
        case ast.Name(id=name) if name in _RUN_SOURCE:
            return f"NotSupported: {name!r} is not there"
        case _:
            return None


def _is_allowed(module: str, modules: Collection[str]) -> bool:
    return module in modules or module.partition(".")[0] in modules
