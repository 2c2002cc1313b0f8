"""How Python code uses some names: the statements that do, and the shape of the calls in them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from milepost.sources.python_modules import syntax_tree

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def shape_of(code: str) -> str:
    """The calls in code of what it imports: callee, number of arguments, names of keywords. Literals do not count."""
    tree = syntax_tree(code)
    if tree is None:
        return " ".join(code.split())
    names = imported_in(tree)
    known = names | derived(tree, names)
    others = {_dotted(node, names) for node in ast.walk(tree) if _is_use(node, known)}
    return " ".join(sorted(calls_in(code) or others))


def calls_in(code: str, lines: Collection[int] | None = None) -> frozenset[str]:
    """The calls of what code imports, each as its shape: all, or those that begin in some of the lines."""
    tree = syntax_tree(code)
    if tree is None:
        return frozenset()
    names = imported_in(tree)
    known = names | derived(tree, names)
    calls = (one for one in ast.walk(tree) if isinstance(one, ast.Call) and _root(one.func) in known)
    return frozenset(_call(one, names) for one in calls if lines is None or one.lineno in lines)


def imported_in(tree: ast.AST) -> set[str]:
    """The names that imports of a tree bind."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return {bound_by(alias) for node in imports for alias in node.names}


def bound_by(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def derived(tree: ast.AST, names: Collection[str]) -> set[str]:
    """The variables that come of these names: what is assigned, entered or annotated with them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value and uses(node.value, names):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.withitem) and uses(node.context_expr, names):
            found.update({node.optional_vars.id} if isinstance(node.optional_vars, ast.Name) else ())
        elif isinstance(node, ast.arg) and isinstance(node.annotation, ast.Name) and node.annotation.id in names:
            found.add(node.arg)
    return found


def attributes_used(nodes: Iterable[ast.AST], names: Collection[str]) -> set[str]:
    """What is taken of these names, such as `put` of `s.put(...)`."""
    found = (node for top in nodes for node in ast.walk(top) if isinstance(node, ast.Attribute))
    return {node.attr for node in found if _root(node) in names}


def statements_with(body: Iterable[ast.stmt], names: Collection[str], variables: Collection[str]) -> Iterator[ast.stmt]:
    """The statements of a body that use the names, or call something of the variables; blocks only with such lines."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        inner = [found for block in _blocks_of(node) for found in statements_with(block, names, variables)]
        if not _is_block(node):
            if uses(node, names) or calls_of(node, variables):
                yield node
        elif not isinstance(node, ast.Match) and any(uses(part, names) for part in _header_of(node)):
            yield _with_body(node, inner)
        else:
            yield from inner


def uses(node: ast.AST, names: Collection[str]) -> bool:
    return any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(node))


def calls_of(node: ast.AST, variables: Collection[str]) -> bool:
    """Whether a node calls something of a variable: to name it alone says nothing."""
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    return any(isinstance(func, ast.Attribute) and _root(func) in variables for func in calls)


def is_telling(node: ast.stmt, names: Collection[str]) -> bool:
    """Whether a statement shows how something is used: a call, a base, a decorator. A type of a parameter does not."""
    if any(isinstance(one, ast.Call) and _root(one.func) in names for one in ast.walk(node)):
        return True
    heads = [*getattr(node, "bases", ()), *getattr(node, "decorator_list", ())]
    return any(uses(head, names) for head in heads)


def _is_block(node: ast.stmt) -> bool:
    return isinstance(getattr(node, "body", None), list) or isinstance(node, ast.Match)


def _blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in _BLOCKS:
        part = getattr(node, name, None)
        for one in part if isinstance(part, list) else ():
            if isinstance(one, ast.stmt):
                yield [one]
            else:
                yield from _blocks_of(one)


def _header_of(node: ast.stmt) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name not in _BLOCKS:
            yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST))


def _with_body(node: ast.stmt, inner: list[ast.stmt]) -> ast.stmt:
    """A block with a part of its lines; dots stand for the rest."""
    copied = type(node)(**dict(ast.iter_fields(node)))
    body: list[ast.stmt] = inner or [ast.Expr(ast.Constant(...))]
    for name, value in (("body", body), ("orelse", []), ("finalbody", [])):
        if hasattr(copied, name):
            setattr(copied, name, value)
    return ast.fix_missing_locations(ast.copy_location(copied, node))


def _is_use(node: ast.AST, names: Collection[str]) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and _root(node) in names


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _call(node: ast.Call, names: Collection[str]) -> str:
    keywords = ",".join(sorted(one.arg or "**" for one in node.keywords))
    return f"{_dotted(node.func, names)}({len(node.args)};{keywords})"


def _dotted(node: ast.AST, names: Collection[str]) -> str:
    """A callee; what stands before the last name is left out where it is only a variable."""
    if isinstance(node, ast.Name):
        return node.id if node.id in names else "_"
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, names)}.{node.attr}"
    return "_"
