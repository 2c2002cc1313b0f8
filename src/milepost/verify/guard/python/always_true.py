"""Assertions that hold whatever the code does."""

from __future__ import annotations

import ast

from milepost.verify.syntax.python_tree import key, last_name


def is_vacuous(test: ast.expr) -> bool:
    """Whether a condition is true whatever the code does."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements)
        case ast.JoinedStr() | ast.Lambda():
            return True
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
            return not value
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(is_vacuous, values))
        case ast.BoolOp(op=ast.And(), values=values):
            return all(map(is_vacuous, values))
        case ast.Compare(left=ast.Constant(), comparators=[ast.Constant()]):
            return True
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is() | ast.LtE() | ast.GtE()], comparators=[right]):
            return not _has_calls(left) and key(left, {}) == key(right, {})
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="object")]):
            return True
        case _:
            return False


def is_vacuous_call(call: ast.Call) -> bool:
    """Whether an assert method is given what cannot fail: assertTrue(True), assertEqual(x, x)."""
    name, arguments = last_name(call.func), call.args
    if name in ("assertTrue", "assert_", "ok_") and arguments:
        return is_vacuous(arguments[0])
    if name in ("assertEqual", "assertEquals", "assertIs", "assert_equal", "eq_") and len(arguments) >= 2:
        constants = isinstance(arguments[0], ast.Constant) and isinstance(arguments[1], ast.Constant)
        return constants or (not _has_calls(arguments[0]) and key(arguments[0], {}) == key(arguments[1], {}))
    if name in ("assertIsNotNone", "assertIsNone", "assertFalse") and arguments:
        return isinstance(arguments[0], ast.Constant)
    return False


def _has_calls(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call | ast.Await) for part in ast.walk(node))
