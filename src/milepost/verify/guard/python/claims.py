"""What a piece of Python test code claims: its assertions, each under the conditions that it is reached by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from milepost.verify.guard.python.always_true import is_vacuous, is_vacuous_call
from milepost.verify.syntax.python_tree import Function, digest, dotted, key, last_name

_CLAIMING = re.compile(r"_*(assert|expect|verify|check|ensure|should|must|fail)", re.IGNORECASE)
_RAISES = frozenset({"raises", "warns", "deprecated_call", "assertRaises", "assertRaisesRegex", "assertWarns"})
_SWALLOWED = frozenset({"AssertionError", "Exception", "BaseException", "Failed"})
_ENDINGS = frozenset({"pytest.skip", "pytest.exit", "self.skipTest", "os._exit", "sys.exit", "exit", "quit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What stands between the start of a test and an assertion; a loop over written-out cases names them."""

    text: str
    cases: frozenset[str] | None = None

    def allows(self, other: Condition) -> bool:
        """Whether code under `other` is reached at least as often as under this one."""
        if self.cases is not None and other.cases is not None:
            return self.cases <= other.cases
        return self == other


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`text` has the local values as they came to be, `plain` only their names."""

    text: str
    line: int
    conditions: tuple[Condition, ...] = ()
    vacuous: bool = False
    plain: str = ""

    def holds_in(self, other: Claim) -> bool:
        """Whether the other claims the same, under no condition that this one lacks."""
        return self.text == other.text and self._is_reached_in(other)

    def is_written_in(self, other: Claim) -> bool:
        """The same by its words, whatever became of the values it speaks of."""
        return self.plain == other.plain and self._is_reached_in(other)

    def _is_reached_in(self, other: Claim) -> bool:
        return all(any(mine.allows(theirs) for mine in self.conditions) for theirs in other.conditions)


def claims_of(
    body: Iterable[ast.stmt],
    values: Mapping[str, str],
    claiming: frozenset[str] = frozenset(),
    conditions: tuple[Condition, ...] = (),
) -> tuple[Claim, ...]:
    """The claims of a block; `values` are literals from outside it, `claiming` names functions that assert."""
    walk = _Walk(dict(values), claiming)
    walk.block(body, conditions)
    return tuple(walk.claims)


def cases_of(node: ast.expr, values: Mapping[str, str], literals: Mapping[str, ast.expr]) -> frozenset[str] | None:
    """The written-out elements of a list, tuple, set or dictionary, directly or by a module's constant."""
    if isinstance(node, ast.Name) and node.id in literals:
        node = literals[node.id]
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("items", "keys", "values")
    ):
        return cases_of(node.func.value, values, literals)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return frozenset(key(_unnamed(element), values) for element in node.elts)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return frozenset((key(name, values) if name else "**") + key(value, values) for name, value in pairs)
    return None


def _unnamed(case: ast.expr) -> ast.expr:
    """A case without the name that it is given: `pytest.param(1, 2, id="x")` is `(1, 2)`."""
    if not isinstance(case, ast.Call) or dotted(case.func) != "pytest.param" or not case.args:
        return case
    if any(keyword.arg != "id" for keyword in case.keywords) or any(isinstance(arg, ast.Starred) for arg in case.args):
        return case
    return case.args[0] if len(case.args) == 1 else ast.Tuple(elts=case.args, ctx=ast.Load())


def is_claiming_name(name: str) -> bool:
    return _CLAIMING.match(name) is not None or name in _RAISES


class _Walk:
    """Goes through statements in order, knowing at each how the local values came to be."""

    def __init__(self, values: dict[str, str], claiming: frozenset[str]) -> None:
        self.values = values
        self.claims: list[Claim] = []
        self._claiming = claiming
        self._literals: dict[str, ast.expr] = {}

    def block(self, body: Iterable[ast.stmt], conditions: tuple[Condition, ...]) -> None:
        for statement in body:
            self._statement(statement, conditions)
            conditions = (*conditions, *self._left_early(statement))

    def _statement(self, node: ast.stmt, conditions: tuple[Condition, ...]) -> None:
        match node:
            case ast.Assert(test=test):
                self._assertion(test, node.lineno, conditions)
            case ast.Expr(value=ast.Await(value=ast.Call() as call)) | ast.Expr(value=ast.Call() as call):
                self._call(call, conditions)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.values[name] = digest(f"{self.values.get(name, name)}{type(op).__name__}{self._key(value)}")
            case ast.If(test=test, body=body, orelse=orelse):
                self._branches(test, body, orelse, conditions)
            case ast.For() | ast.AsyncFor():
                self._loop(node, conditions)
            case ast.While(test=test, body=body, orelse=orelse):
                always = isinstance(test, ast.Constant) and bool(test.value)
                self.block(body, conditions if always else (*conditions, Condition(text=f"while {self._key(test)}")))
                self.block(orelse, conditions)
            case ast.With() | ast.AsyncWith():
                self._with(node, conditions)
            case ast.Try() | ast.TryStar():
                self._try(node, conditions)
            case ast.FunctionDef(name=name, body=body) | ast.AsyncFunctionDef(name=name, body=body):
                self.values[name] = digest("".join(self._key(statement) for statement in body))
                inner = _Walk(dict(self.values), self._claiming)
                inner.block(body, conditions)
                self.claims += inner.claims
            case ast.Match(subject=subject, cases=cases):
                for case in cases:
                    text = f"match {self._key(subject)} {key(case.pattern, {})}"
                    self.block(case.body, (*conditions, Condition(text=text)))
            case _:
                pass

    def _assertion(self, test: ast.expr, line: int, conditions: tuple[Condition, ...]) -> None:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                self._assertion(part, line, conditions)
            return
        self._claim(test, line, conditions, vacuous=is_vacuous(test))

    def _call(self, call: ast.Call, conditions: tuple[Condition, ...]) -> None:
        name = last_name(call.func)
        if is_claiming_name(name) or name in self._claiming:
            plain = ast.Call(func=call.func, args=call.args, keywords=[k for k in call.keywords if k.arg != "msg"])
            self._claim(plain, call.lineno, conditions, vacuous=is_vacuous_call(call))

    def _with(self, node: ast.With | ast.AsyncWith, conditions: tuple[Condition, ...]) -> None:
        for item in node.items:
            call = item.context_expr
            name = last_name(call)
            if isinstance(call, ast.Call) and name in _RAISES:
                body = digest("".join(self._key(statement) for statement in node.body))
                for keywords in ([k for k in call.keywords if k.arg not in ("match", "msg")], call.keywords):
                    plain = ast.Call(func=call.func, args=call.args, keywords=keywords)
                    self._claim(plain, node.lineno, conditions, body=body)
                    if not call.keywords:
                        break
            elif name == "suppress":
                conditions = (*conditions, Condition(text=f"suppress {self._key(call)}"))
            if item.optional_vars is not None:
                self._bind(item.optional_vars, call, sign="with")
        self.block(node.body, conditions)

    def _try(self, node: ast.Try | ast.TryStar, conditions: tuple[Condition, ...]) -> None:
        swallows = any(map(_swallows, node.handlers)) or any(isinstance(end, ast.Return) for end in node.finalbody)
        inside = (*conditions, Condition(text="errors are swallowed")) if swallows else conditions
        self.block(node.body, inside)
        for handler in node.handlers:
            self.block(
                handler.body, (*conditions, Condition(text=f"except {key(handler.type, {}) if handler.type else ''}"))
            )
        self.block(node.orelse, inside)
        self.block(node.finalbody, conditions)

    def _branches(
        self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], conditions: tuple[Condition, ...]
    ) -> None:
        before, text = dict(self.values), self._key(test)
        taken = isinstance(test, ast.Constant) and bool(test.value)
        self.block(body, conditions if taken else (*conditions, Condition(text=f"if {text}")))
        after, self.values = self.values, before
        self.block(orelse, (*conditions, Condition(text=f"unless {text}")))
        for name in after.keys() | self.values.keys():
            ways = sorted({after.get(name, ""), self.values.get(name, "")})
            self.values[name] = ways[0] if len(ways) == 1 else digest(" or ".join(ways))

    def _loop(self, node: ast.For | ast.AsyncFor, conditions: tuple[Condition, ...]) -> None:
        text = self._key(node.iter)
        cases = cases_of(node.iter, self.values, self._literals)
        for at, name in enumerate(name for name in ast.walk(node.target) if isinstance(name, ast.Name)):
            self.values[name.id] = f"each {at}"
        self.block(
            node.body,
            (*conditions, Condition(text="for each case" if cases is not None else f"for {text}", cases=cases)),
        )
        self.block(node.orelse, conditions)

    def _bind(self, target: ast.expr, value: ast.expr, sign: str = "") -> None:
        text = digest(sign + self._key(value)) if sign else self._key(value)
        match target:
            case ast.Name(id=name):
                self.values[name] = text
                self._literals[name] = value
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                self.values[f"self.{attr}"] = text
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for at, element in enumerate(elements):
                    if isinstance(element, ast.Name):
                        self.values[element.id] = f"{text}[{at}]"

    def _left_early(self, node: ast.stmt) -> tuple[Condition, ...]:
        """What a statement that may end the test means for all that follows it."""
        if _ends(node):
            return (Condition(text="never reached"),)
        if isinstance(node, ast.If) and any(map(_ends, node.body)) and not _claims_something(node.body):
            return (Condition(text=f"unless {self._key(node.test)}"),)
        return ()

    def _claim(
        self, node: ast.expr, line: int, conditions: tuple[Condition, ...], vacuous: bool = False, body: str = ""
    ) -> None:
        text, plain = f"{self._key(node)} {body}", f"{key(node, {})} {body}"
        self.claims.append(Claim(text=text, line=line, conditions=conditions, vacuous=vacuous, plain=plain))

    def _key(self, node: ast.AST) -> str:
        return key(node, self.values)


def _ends(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return | ast.Continue | ast.Break | ast.Raise):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and dotted(node.value.func) in _ENDINGS


def _claims_something(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Assert | ast.Raise) for statement in body for node in ast.walk(statement))


def _swallows(handler: ast.ExceptHandler) -> bool:
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    broad = any(each is None or last_name(each) in _SWALLOWED for each in types)
    ends_badly = any(
        isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and last_name(node.func) == "fail")
        for statement in handler.body
        for node in ast.walk(statement)
    )
    return broad and not ends_badly


def claiming_functions(functions: Mapping[str, Function]) -> frozenset[str]:
    """Which functions assert something, themselves or by calling one that does."""
    found: frozenset[str] = frozenset()
    while True:
        more = frozenset(name for name, node in functions.items() if claims_of(node.body, {}, found))
        if more == found:
            return found
        found = more
