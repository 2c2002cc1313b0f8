"""A Python test file read for what can be compared: its tests, what each claims, and what it is held back by."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from milepost.verify.guard.python.claims import Claim, Condition, cases_of, claiming_functions, claims_of
from milepost.verify.guard.python.whole_file import (
    SKIPS,
    class_marks,
    imported_by,
    marks,
    module_skips,
    overridden_in,
    rebound_in,
    skipping,
    uncollected_in,
)
from milepost.verify.syntax.python_tree import Function, dotted, key, last_name

SETUPS = frozenset(
    {"setUp", "setUpClass", "asyncSetUp", "setUpModule", "setup", "setup_method", "setup_class", "setup_module"}
    | {"setup_function", "tearDown", "tearDownClass", "teardown_method"}
)
_PATCHERS = ("monkeypatch.setattr", "monkeypatch.setitem", "monkeypatch.delattr", "mocker.patch", "mock.patch", "patch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One function of a test file. `parameters` holds the cases of each parametrisation.

    `gives` are the literals it hands to others, `given` the arguments that have a value of their own, so
    that no fixture fills them; one that is not `is_plain` needs to be awaited or iterated to run at all.
    """

    __test__ = False

    name: str
    line: int
    is_test: bool
    claims: tuple[Claim, ...]
    skips: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    patches: int = 0
    parameters: tuple[frozenset[str], ...] = ()
    opaque_parameters: tuple[str, ...] = ()
    gives: frozenset[str] = frozenset()
    at_each_test: bool = False
    given: frozenset[str] = frozenset()
    is_plain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """All of one file. `skips` hold for the whole of it; `rebound` are imported things it puts something else for.

    `overridden` are parts of unittest's own test case that a class replaces.
    """

    tests: Mapping[str, Test]
    bases: Mapping[str, frozenset[str]] = field(default_factory=dict)
    skips: Mapping[str, int] = field(default_factory=dict)
    uncollected: Mapping[str, int] = field(default_factory=dict)
    rebound: Mapping[str, int] = field(default_factory=dict)
    overridden: Mapping[str, int] = field(default_factory=dict)


def suite_of(tree: ast.Module) -> Suite:
    """What a test file holds."""
    places = list(_functions(tree.body))
    plain = {place.node.name: place.node for place in places if not place.node.name.startswith("test")}
    claiming = claiming_functions(plain)
    literals = dict(_literals(tree.body))
    imported = frozenset(imported_by(tree.body))
    tests: dict[str, Test] = {}
    for place in places:
        test = _test(place, claiming, literals, imported)
        tests[test.name] = test
    tests[""] = _module(tree, claiming)
    return Suite(
        tests=tests,
        bases={
            node.name: frozenset(map(dotted, node.bases)) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
        },
        skips=dict(module_skips(tree)),
        uncollected=dict(uncollected_in(tree)),
        rebound=dict(rebound_in(tree, imported)),
        overridden=dict(overridden_in(tree)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    node: Function
    owner: ast.ClassDef | None
    prefix: str
    conditions: tuple[Condition, ...]
    skips: frozenset[str]
    wrappers: frozenset[str]


def _functions(
    body: list[ast.stmt],
    owner: ast.ClassDef | None = None,
    prefix: str = "",
    conditions: tuple[Condition, ...] = (),
    skips: frozenset[str] = frozenset(),
    wrappers: frozenset[str] = frozenset(),
) -> Iterator[_Place]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield _Place(
                    node=node, owner=owner, prefix=prefix, conditions=conditions, skips=skips, wrappers=wrappers
                )
            case ast.ClassDef(name=name, body=inner):
                held = skips | marks(node.decorator_list) | class_marks(inner)
                around = wrappers | frozenset(filter(None, map(_wrapper, node.decorator_list)))
                yield from _functions(inner, node, f"{prefix}{name}.", conditions, held, around)
            case ast.If(test=test, body=inner, orelse=orelse):
                more = Condition(text=f"defined if {key(test, {})}")
                yield from _functions(inner, owner, prefix, (*conditions, more), skips, wrappers)
                other = Condition(text=f"defined unless {key(test, {})}")
                yield from _functions(orelse, owner, prefix, (*conditions, other), skips, wrappers)
            case ast.Try(body=inner, orelse=orelse):
                yield from _functions([*inner, *orelse], owner, prefix, conditions, skips, wrappers)
            case ast.With(body=inner):
                yield from _functions(inner, owner, prefix, conditions, skips, wrappers)


def _test(place: _Place, claiming: frozenset[str], literals: Mapping[str, ast.expr], imported: frozenset[str]) -> Test:
    node, name = place.node, place.node.name
    values = {constant: key(value, {}) for constant, value in literals.items()}
    if place.owner is not None:
        values |= {f"self.{attr}": key(value, {}) for attr, value in _attributes(place.owner)}
    claims = claims_of(node.body, values, claiming, place.conditions)
    is_test = name.startswith("test") and _collects(place.owner)
    if is_test and not claims:
        claims = tuple(_smoke(node, place.conditions))
    decorators = node.decorator_list
    parametrised = [d for d in decorators if isinstance(d, ast.Call) and dotted(d.func).endswith("parametrize")]
    cases = [(d, cases_of(_argument(d, 1, "argvalues"), {}, literals)) for d in parametrised]
    return Test(
        name=place.prefix + name,
        line=node.lineno,
        is_test=is_test,
        claims=claims,
        skips=place.skips | marks(decorators) | frozenset(skipping(node)),
        wrappers=place.wrappers | frozenset(filter(None, map(_wrapper, decorators))),
        patches=sum(_patches(part, imported) for part in ast.walk(node)),
        parameters=tuple(found for _, found in cases if found is not None),
        opaque_parameters=tuple(sorted(key(_argument(d, 1, "argvalues"), {}) for d, found in cases if found is None)),
        gives=frozenset(_given(node)) if not is_test else frozenset(),
        at_each_test=name in SETUPS or any(_is_autouse(d) for d in decorators),
        given=frozenset(argument.arg for argument in _with_defaults(node.args)),
        is_plain=isinstance(node, ast.FunctionDef) and not any(isinstance(part, ast.Yield) for part in ast.walk(node)),
    )


def _module(tree: ast.Module, claiming: frozenset[str]) -> Test:
    """What a file asserts when it is run or imported, outside of all functions."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    body = [node for node in tree.body if not isinstance(node, definitions)]
    return Test(name="the file itself", line=0, is_test=True, claims=claims_of(body, {}, claiming))


def _collects(owner: ast.ClassDef | None) -> bool:
    """Whether tests are collected from a class: by its name, or by what it inherits from."""
    return owner is None or owner.name.startswith("Test") or bool(owner.bases)


def _wrapper(decorator: ast.expr) -> str:
    """The name of a decorator that could do anything to a test; pytest's marks and the usual libraries' cannot."""
    path = dotted(decorator)
    known = path.startswith(
        ("pytest.", "unittest.", "mark.", "hypothesis.", "given", "settings", "example", "parametri")
    )
    usual = ("staticmethod", "classmethod", "property", "override", "freeze_time", "time_machine.travel", "fixture")
    return "" if known or path in usual or last_name(decorator) in SKIPS else path


def _patches(node: ast.AST, imported: frozenset[str]) -> bool:
    """Whether something that is not the test's own is replaced: by a patcher, or by plain assignment."""
    if isinstance(node, ast.Assign):
        targets = [target for target in node.targets if isinstance(target, ast.Attribute)]
        return any(dotted(target).partition(".")[0] in imported for target in targets)
    path = dotted(node.func) if isinstance(node, ast.Call) else ""
    return any(path == name or path.startswith(f"{name}.") or path.endswith(f".{name}") for name in _PATCHERS)


def _with_defaults(arguments: ast.arguments) -> list[ast.arg]:
    placed = [*arguments.posonlyargs, *arguments.args]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [*placed[len(placed) - len(arguments.defaults) :], *(name for name, value in named if value is not None)]


def _smoke(node: Function, conditions: tuple[Condition, ...]) -> Iterator[Claim]:
    """A test without assertions claims that what it calls does not raise."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            yield Claim(text=f"runs {dotted(part.func)}", line=part.lineno, conditions=conditions)


def _given(node: Function) -> Iterator[str]:
    """The literal values that a fixture or a helper hands to tests."""
    for part in ast.walk(node):
        if isinstance(part, ast.Return | ast.Yield) and part.value is not None and _is_literal(part.value):
            yield key(part.value, {})


def _literals(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_literal(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.id, node.value


def _attributes(owner: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    yield from _literals(owner.body)
    for method in owner.body:
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name in SETUPS:
            for node in ast.walk(method):
                if isinstance(node, ast.Assign) and _is_literal(node.value):
                    for target in node.targets:
                        if isinstance(target, ast.Attribute) and dotted(target.value) in ("self", "cls"):
                            yield target.attr, node.value


def _is_literal(node: ast.expr) -> bool:
    plain = ast.Constant | ast.Tuple | ast.List | ast.Set | ast.Dict | ast.UnaryOp | ast.BinOp | ast.operator
    return all(isinstance(part, plain | ast.unaryop | ast.expr_context) for part in ast.walk(node))


def _argument(call: ast.Call, at: int, name: str) -> ast.expr:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if named is not None:
        return named
    return call.args[at] if len(call.args) > at else ast.Constant(value=None)


def _is_autouse(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        keyword.arg == "autouse" and isinstance(keyword.value, ast.Constant) and bool(keyword.value.value)
        for keyword in decorator.keywords
    )
