"""Names and constants in Python's syntax tree: dotted paths, folded strings, keys that survive reformatting."""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import lru_cache

from milepost.verify.guard.python.constants import text_value

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(source: str) -> ast.Module | None:
    """The tree of a file, None where it is not Python that this interpreter can read, or nested too deeply."""
    tree = _tree(source)
    return tree if tree is not None and _depth_is_fine(tree) else None


def is_too_deep(source: str) -> bool:
    """Whether a file is Python, but nested so deeply that it is not looked at."""
    tree = _tree(source)
    return tree is not None and not _depth_is_fine(tree)


def dotted(node: ast.AST) -> str:
    """`a.b.c` for names, attributes and what is called on them; empty for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            owner = dotted(value)
            return f"{owner}.{attr}" if owner else attr
        case ast.Call(func=ast.Name(id="getattr"), args=[owner_node, name_node, *_]):
            owner, name = dotted(owner_node), folded(name_node)
            return f"{owner}.{name}" if owner and name else owner
        case ast.Call(func=func) | ast.Subscript(value=func):
            return dotted(func)
        case _:
            return ""


def last_name(node: ast.AST) -> str:
    return dotted(node).rpartition(".")[2]


def folded(node: ast.AST | None) -> str:
    """The text of a string expression made of constants only (`"py" + "test"`), empty for anything else."""
    return text_value(node)


def import_names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What each imported name stands for: `from unittest import TestCase as T` gives T → unittest.TestCase."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def resolved(path: str, names: Mapping[str, str]) -> str:
    """A dotted path with its first name replaced by what was imported under it."""
    first, dot, rest = path.partition(".")
    return f"{names.get(first, first)}{dot}{rest}"


def strings(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Every string expression that can be folded, docstrings left out, with its line."""
    nodes = list(nodes)
    prose = {id(docstring) for node in nodes if (docstring := docstring_of(node)) is not None}
    for node in nodes:
        if isinstance(node, ast.expr) and id(node) not in prose:
            text = folded(node)
            if text:
                yield text, node.lineno


def docstring_of(node: ast.AST) -> ast.expr | None:
    """The expression that is a module's, class's or function's docstring."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            return first.value
    return None


def key(node: ast.AST, values: Mapping[str, str], prose: Container[int] = ()) -> str:
    """The same text for the same meaning: a local value's name has the key of how it came to be.

    `prose` are the ids of docstrings, which mean nothing.
    """
    if isinstance(node, ast.Name):
        return values.get(node.id, node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return values.get(f"self.{node.attr}", f"self.{node.attr}")
    if isinstance(node, ast.Constant):
        return f"{type(node.value).__name__} {node.value!r}"
    values = {**values, **_bound(node)} if isinstance(node, _BINDING) else values
    words = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if name in ("ctx", "type_comment", "kind"):
            continue
        for child in value if isinstance(value, list) else (value,):
            if not isinstance(child, ast.Expr) or id(child.value) not in prose:
                words.append(key(child, values, prose) if isinstance(child, ast.AST) else repr(child))
        words.append(",")
    return digest(" ".join(words))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


_BINDING = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_DEEPEST = 400


def _bound(node: ast.AST) -> dict[str, str]:
    """The names that a comprehension or a lambda binds, by their order."""
    if isinstance(node, ast.Lambda):
        return {argument.arg: f"argument {at}" for at, argument in enumerate(node.args.args)}
    targets = [part.target for part in getattr(node, "generators", [])]
    names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return {name: f"each {at}" for at, name in enumerate(names)}


@lru_cache(maxsize=4)
def _tree(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _depth_is_fine(tree: ast.AST) -> bool:
    level, depth = [tree], 0
    while level and depth <= _DEEPEST:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return not level
