"""How Python code that was added uses what it imports from the project or its own libraries."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from milepost.memory.lessons.distil import call_shapes, sanitise
from milepost.memory.lessons.distil.added_lines import added_numbers
from milepost.memory.lessons.distil.own_names import is_own_python
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.uses import Use
from milepost.memory.lessons.experience import FileChange
from milepost.sources.python_modules import syntax_tree

LONGEST_CODE = 240
MOST_STATEMENTS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Imported:
    symbol: str
    name: str
    line: str


def uses_in(change: FileChange) -> Iterator[Use]:
    """The symbols that added lines of a file use, each with its import and those lines."""
    tree = syntax_tree(change.after or "")
    added = added_numbers(change.before, change.after)
    if tree is None or not added:
        return
    for imported in _imports(tree):
        if used := _use(tree, imported, added):
            yield used


def _imports(tree: ast.AST) -> Iterator[_Imported]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            own = [alias for alias in node.names if is_own_python(module) and alias.name != "*"]
        elif isinstance(node, ast.Import):
            module = ""
            own = [alias for alias in node.names if is_own_python(alias.name)]
        else:
            continue
        for alias in own:
            symbol = f"{module}.{alias.name}" if module.strip(".") else f"{module}{alias.name}"
            yield _Imported(symbol=symbol, name=call_shapes.bound_by(alias), line=_import_line(node, alias))


def _import_line(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    alone = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)
    return ast.unparse(alone)


def _use(tree: ast.Module, imported: _Imported, added: Collection[int]) -> Use | None:
    names = {imported.name}
    variables = call_shapes.derived(tree, names)
    all_uses = call_shapes.statements_with(tree.body, names, variables)
    telling = (one for one in all_uses if call_shapes.is_telling(one, names | variables))
    found = [one for one in telling if _is_added(one, added)]
    if not any(call_shapes.uses(one, names) for one in found):
        return None
    taken = tuple(sorted(call_shapes.attributes_used(found, names | variables)))
    try:
        code = _fitting(imported.line, found)
    except (CannotQuote, RecursionError) as refused:
        why = refused.why if isinstance(refused, CannotQuote) else "cannot be read as code"
        return Use(symbol=imported.symbol, name=imported.name, refused=why)
    return Use(symbol=imported.symbol, name=imported.name, taken=taken[:MOST_STATEMENTS], code=code) if code else None


def _is_added(node: ast.stmt, added: Collection[int]) -> bool:
    return any(number in added for number in range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _fitting(line: str, found: Iterable[ast.stmt]) -> str:
    """The import with as many of the statements as fit, cleaned; empty where not one does."""
    kept: list[str] = []
    for text in dict.fromkeys(sanitise.python(ast.unparse(one)) for one in found):
        together = sanitise.python("\n".join((line, *kept, text)))
        if len(together) <= LONGEST_CODE and len(kept) < MOST_STATEMENTS:
            kept.append(text)
    return sanitise.python("\n".join((line, *kept))) if kept else ""
