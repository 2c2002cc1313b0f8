"""What a name and an expression of Python may be, in what a pattern writes."""

from __future__ import annotations

import ast
import builtins
import keyword
import sys

from milepost.agents.patterns.new_module.functions import Function


def module_name_problems(name: str) -> tuple[str, ...]:
    """Why a module cannot have this name."""
    if not name.isidentifier() and name:
        return (f"name {name!r} cannot be imported by Python",)
    if keyword.iskeyword(name):
        return (f"name {name!r} is a Python keyword",)
    if name in sys.stdlib_module_names or name in ("test", "tests", "examples"):
        return (f"name {name!r} would hide a module of that name",)
    if name in ("conftest", "setup") or name.startswith("test_"):
        return (f"name {name!r} means something else to Python tools",)
    return ()


def unusable(name: str) -> bool:
    """Whether a function or an argument cannot be named so: hiding a builtin breaks the rest of the module."""
    return keyword.iskeyword(name) or keyword.issoftkeyword(name) or hasattr(builtins, name)


def function_problems(function: Function) -> tuple[str, ...]:
    """Why a function cannot be written in Python."""
    names = (function.name, *(name for name, _ in function.parameters))
    bad = tuple(f"functions: {name!r} cannot name a function or an argument" for name in names if unusable(name))
    try:
        tree = ast.parse(function.expression, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (*bad, f"functions: {function.name}: {function.expression!r:.100} is not a Python expression")
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in used if isinstance(node.ctx, ast.Store)} | {name for name, _ in function.parameters}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    strange = dict.fromkeys(node.id for node in used if node.id not in bound and not hasattr(builtins, node.id))
    idle = [name for name, _ in function.parameters if name not in {node.id for node in used}]
    return (
        *bad,
        *(f"functions: {function.name}: {name!r} is neither an argument nor a builtin" for name in strange),
        *(f"functions: {function.name}: the argument {name!r} is not used" for name in idle),
    )
