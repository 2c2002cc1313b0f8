"""Mutants of the changed lines: the product with one small fault each, which good tests would notice."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from milepost.core.change import Change, ChangedFile
from milepost.sources.diff import added_lines
from milepost.sources.javascript_tree import line_of, parsed, text_of, walk
from milepost.verify.counterproof.edits import Edit, PythonText, is_python, read_python, spliced
from milepost.verify.counterproof.languages import language_of

if TYPE_CHECKING:
    from tree_sitter import Node

MOST = 12
MOST_LINES = 60
_RESULT = "result removed"

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.GtE: "<",
    ast.Gt: "<=",
    ast.LtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}
_JAVASCRIPT = {
    "===": "!==",
    "!==": "===",
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "%": "*",
    "**": "*",
    "&&": "||",
    "||": "&&",
    "&": "|",
    "|": "&",
}
_NEUTRAL = frozenset({"None", "null", "undefined", "0", '""', "''"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One file of the product with one fault: `what` was done in `line`."""

    path: str
    line: int
    what: str
    source: bytes


Fault = tuple[int, str, tuple[Edit, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Faults:
    """The faults that can be put into a file of each language, those left out that are called `without`."""

    python: Callable[[PythonText], Iterator[Fault]]
    javascript: Callable[[ChangedFile], Iterator[Fault]]
    without: str = ""


def mutants_of(change: Change, product: tuple[str, ...], most: int = MOST) -> tuple[Mutant, ...]:
    """Some mutants of the changed lines, always the same ones, spread over files, lines and kinds of faults."""
    found = [(file, changed_lines(file)) for file in change.files if file.path in product and file.after]
    return _spread(found, most, _Faults(python=_python, javascript=_javascript))


def mutants_in(lines: Mapping[str, frozenset[int]], sources: Mapping[str, bytes]) -> tuple[Mutant, ...]:
    """Some of these lines of files, drawn; a result is taken away only where there is no other fault to put in."""
    places = sorted((path, line) for path, of_file in lines.items() for line in of_file)
    places.sort(key=lambda place: hashlib.sha256(repr(place).encode()).digest())
    drawn = places[:MOST_LINES]
    files = [
        (ChangedFile(path=path, before=source, after=source), frozenset(line for name, line in drawn if name == path))
        for path, source in sources.items()
    ]
    faults = _Faults(python=_python, javascript=_javascript)
    return _spread(files, MOST, replace(faults, without=_RESULT)) or _spread(files, MOST, faults)


def without_statements(change: Change, product: tuple[str, ...], most: int = MOST) -> tuple[Mutant, ...]:
    """The same with whole statements taken out, and patterns that match nothing: what else is there to get wrong in a
    line of calls and text."""
    found = [(file, changed_lines(file)) for file in change.files if file.path in product and file.after]
    return _spread(found, most, _Faults(python=_python_statements, javascript=_javascript_statements))


def _spread(files: Iterable[tuple[ChangedFile, frozenset[int]]], most: int, faults: _Faults) -> tuple[Mutant, ...]:
    found = [mutant for file, lines in files for mutant in _mutants(file, lines, faults)]
    found.sort(key=lambda mutant: hashlib.sha256(f"{mutant.path} {mutant.line} {mutant.what}".encode()).digest())
    chosen: list[Mutant] = []
    while found and len(chosen) < most:
        taken = [(mutant.path, mutant.line) for mutant in chosen]
        kinds = [mutant.what for mutant in chosen]
        rarest = min(found, key=lambda each: (taken.count((each.path, each.line)), kinds.count(each.what)))
        chosen.append(rarest)
        found.remove(rarest)
    return tuple(chosen)


def changed_lines(file: ChangedFile) -> frozenset[int]:
    """The lines of a file that are not as they were, by their numbers as they are now."""
    return added_lines(file.text_before, file.text_after)


def _mutants(file: ChangedFile, lines: frozenset[int], of: _Faults) -> Iterator[Mutant]:
    language = language_of(file.path)
    if file.is_link or file.unread or file.after is None or not language:
        return
    if language == "Python":
        read = read_python(file.after)
        if read is None:
            return
        source, faults = read.text, [each for each in of.python(read) if each[0] in lines]
    else:
        source, faults = file.after, [each for each in of.javascript(file) if each[0] in lines]
    for line, what, edits in faults:
        changed = spliced(source, edits)
        if what != of.without and _is_fine(file.path, changed):
            yield Mutant(path=file.path, line=line, what=what, source=changed)


def _is_fine(path: str, source: bytes) -> bool:
    if language_of(path) == "Python":
        return is_python(source)
    return not parsed(path, source.decode("utf-8", "replace")).has_error


def _python(read: PythonText) -> Iterator[Fault]:
    prose = {id(node.value) for node in ast.walk(read.tree) if isinstance(node, ast.Expr)}
    prose |= {id(inside) for node in _unobserved(read.tree) for inside in ast.walk(node)}
    for node in ast.walk(read.tree):
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield node.lineno, "comparison flipped", (_between(read, left, right, _COMPARISONS[type(op)]),)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC and id(node) not in prose:
                yield node.lineno, "operator replaced", (_between(read, left, right, _ARITHMETIC[type(op)]),)
            case ast.Constant(value=bool(value)) if id(node) not in prose:
                yield node.lineno, "truth negated", (read.instead(node, str(not value)),)
            case ast.Constant(value=int(number)) if id(node) not in prose:
                yield node.lineno, "number changed", (read.instead(node, str(number + 1)),)
            case ast.BoolOp():
                yield node.lineno, "condition negated", read.around(node, "(not (", "))")
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield test.lineno, "condition removed", (read.instead(test, "False"),)
            case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in _NEUTRAL:
                yield node.lineno, _RESULT, (read.instead(value, "None"),)


def _python_statements(read: PythonText) -> Iterator[Fault]:
    for node in ast.walk(read.tree):
        match node:
            case ast.Expr(value=ast.Call() | ast.Await()) | ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Delete():
                yield node.lineno, "statement removed", (read.instead(node, "pass"),)


def _unobserved(tree: ast.AST) -> Iterator[ast.expr]:
    """What no test of what code does can be expected to notice: types, and whose line a warning names."""
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
                yield annotation
            case (
                ast.FunctionDef(returns=ast.expr() as annotation)
                | ast.AsyncFunctionDef(returns=ast.expr() as annotation)
            ):
                yield annotation
            case ast.keyword(arg="stacklevel", value=value):
                yield value


def _between(read: PythonText, left: ast.expr, right: ast.expr, operator: str) -> Edit:
    """Another operator between two operands; brackets around these are no part of them, and stay."""
    start, end = read.end(left), read.start(right)
    between = read.text[start:end].decode()
    closing = between[: len(between) - len(between.lstrip(") \t\r\n\\"))]
    opening = between[len(between.rstrip("( \t\r\n\\")) :]
    return Edit(start=start, end=end, text=f"{closing}{operator}{opening}")


def _javascript(file: ChangedFile) -> Iterator[Fault]:
    root = parsed(file.path, file.text_after)
    for node in walk(root) if not root.has_error else ():
        match node.type:
            case "binary_expression":
                operator = node.child_by_field_name("operator")
                if operator is not None and text_of(operator) in _JAVASCRIPT:
                    yield line_of(node), "operator replaced", (_instead(operator, _JAVASCRIPT[text_of(operator)]),)
            case "number" if text_of(node).isdecimal():
                yield line_of(node), "number changed", (_instead(node, str(int(text_of(node)) + 1)),)
            case "true" | "false":
                yield line_of(node), "truth negated", (_instead(node, "false" if node.type == "true" else "true"),)
            case "if_statement" | "while_statement" | "ternary_expression":
                test = node.child_by_field_name("condition")
                if test is not None:
                    yield line_of(test), "condition removed", (_instead(test, "(false)"),)
            case "return_statement" if node.named_children and text_of(node.named_children[0]) not in _NEUTRAL:
                yield line_of(node), _RESULT, (_instead(node.named_children[0], "undefined"),)
            case "arrow_function":
                body = node.child_by_field_name("body")
                if body is not None and body.type != "statement_block" and text_of(body) not in _NEUTRAL:
                    yield line_of(body), _RESULT, (_instead(body, "undefined"),)


def _javascript_statements(file: ChangedFile) -> Iterator[Fault]:
    root = parsed(file.path, file.text_after)
    for node in walk(root) if not root.has_error else ():
        match node.type:
            case "expression_statement" if node.named_children and node.named_children[0].type != "string":
                yield line_of(node), "statement removed", (_instead(node, ";"),)
            case "throw_statement":
                yield line_of(node), "statement removed", (_instead(node, ";"),)
            case "regex":
                flags = text_of(node).rpartition("/")[2]
                yield line_of(node), "pattern that matches nothing", (_instead(node, f"/(?!)/{flags}"),)


def _instead(node: Node, text: str) -> Edit:
    return Edit(start=node.start_byte, end=node.end_byte, text=text)
