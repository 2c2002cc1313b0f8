"""A JavaScript or TypeScript test file read for what can be compared: its tests, and what each expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from milepost.verify.guard.javascript.expectations import (
    HELD_BACK,
    Expectation,
    callee_of,
    cases_of,
    expectations_of,
    is_group,
    is_test,
)
from milepost.verify.syntax.javascript_tree import (
    FUNCTIONS,
    arguments_of,
    dotted,
    line_of,
    string,
    text_of,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node


_WORDS = frozenset({"test", "it", "describe", "suite", "expect", "assert", "chai", "should", "vi", "jest"})
_PLAIN = frozenset({"number", "string", "true", "false", "null", "undefined", "array", "object", "pair", "regex"})
_LEAVES = frozenset({"string_fragment", "property_identifier", "unary_expression", "escape_sequence", "regex_pattern"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    __test__ = False

    name: str
    line: int
    expectations: tuple[Expectation, ...]
    held_back: bool = False
    cases: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """All of one file. `only` are the tests that keep all others from running, `mocked` the project's own modules.

    `origins` says where the runner's own words come from: `expect` from "vitest", or made here.
    """

    tests: Mapping[str, Test]
    only: Mapping[str, int] = field(default_factory=dict)
    mocked: Mapping[str, int] = field(default_factory=dict)
    outside: tuple[Expectation, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)


def suite_of(root: Node) -> Suite:
    """What a test file holds."""
    constants = dict(_constants(root))
    tests: dict[str, Test] = {}
    only: dict[str, int] = {}
    for call, names, held in _tests(root):
        name = " › ".join(names)
        while name in tests:
            name += " (again)"
        callee = callee_of(call)
        tests[name] = Test(
            name=name,
            line=line_of(call),
            expectations=tuple(expectations_of(call, constants)),
            held_back=held or _holds_back(call),
            cases=_each(call, constants),
        )
        if "only" in callee.split(".") or callee in ("fit",) or _option(call, "only"):
            only[name] = line_of(call)
    for group in (node for node in walk(root) if is_group(node)):
        if "only" in callee_of(group).split(".") or callee_of(group) == "fdescribe":
            only[_title(group)] = line_of(group)
    return Suite(
        tests=tests,
        only=only,
        mocked=dict(_mocked(root)),
        outside=tuple(_outside(root, constants)),
        origins=dict(_origins(root)),
    )


def _tests(root: Node) -> Iterator[tuple[Node, tuple[str, ...], bool]]:
    """Each call that makes a test, the titles it stands under, and whether one of its groups is held back."""
    todo: list[tuple[Node, tuple[str, ...], bool]] = [(root, (), False)]
    while todo:
        node, names, held = todo.pop()
        if is_test(node):
            names = (*names, _title(node))
            yield node, names, held
        elif is_group(node):
            names, held = (*names, _title(node)), held or _holds_back(node)
        todo += [(child, names, held) for child in reversed(node.children)]


def _title(call: Node) -> str:
    first = arguments_of(call)[0]
    return string(first) or text_of(first)


def _holds_back(call: Node) -> bool:
    callee = callee_of(call)
    if callee.startswith("x") or HELD_BACK & set(callee.split(".")) or _option(call, "skip") or _option(call, "todo"):
        return True
    return any(
        node.type == "call_expression"
        and callee_of(node) in ("t.skip", "this.skip", "t.todo", "ctx.skip", "context.skip")
        for node in walk(call)
    )


def _option(call: Node, name: str) -> bool:
    """Whether the options of `test("…", {skip: true}, …)` have this one, and not as false."""
    for argument in arguments_of(call)[1:]:
        if argument.type == "object":
            for pair in argument.named_children:
                if pair.type == "pair" and text_of(pair.child_by_field_name("key")).strip("'\"") == name:
                    return text_of(pair.child_by_field_name("value")) != "false"
    return False


def _each(call: Node, constants: Mapping[str, Node]) -> frozenset[str] | None:
    """The cases of `test.each([...])` and of its table form."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "call_expression" or not dotted(function).endswith(("each", "for")):
        return None
    table = arguments_of(function)
    if table:
        return cases_of(table[0], constants)
    template = next((node for node in walk(function) if node.type == "template_string"), None)
    rows = text_of(template).strip("`").splitlines()
    return frozenset(" ".join(row.split()) for row in rows if row.strip())


def _constants(root: Node) -> Iterator[tuple[str, Node]]:
    """The constants at the top of a file that are written out."""
    for declaration in root.named_children:
        for node in (
            declaration.named_children if declaration.type in ("lexical_declaration", "variable_declaration") else []
        ):
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None and _is_plain(value):
                yield text_of(name), value


def _is_plain(value: Node) -> bool:
    return all(node.type in _PLAIN or node.type in _LEAVES for node in walk(value) if node.is_named)


def _mocked(root: Node) -> Iterator[tuple[str, int]]:
    for node in walk(root):
        if node.type == "call_expression" and callee_of(node) in ("jest.mock", "vi.mock", "vi.doMock", "mock.module"):
            first = string(next(iter(arguments_of(node)), None))
            if first.startswith("."):
                yield first, line_of(node)


def _origins(root: Node) -> Iterator[tuple[str, str]]:
    """Where `test`, `expect` and the like come from, when the file says so at its top."""
    for statement in root.named_children:
        source = string(statement.child_by_field_name("source"))
        if statement.type == "import_statement":
            bound = [node for node in walk(statement) if node.type == "identifier"]
            yield from ((text_of(name), source) for name in bound if text_of(name) in _WORDS)
        elif statement.type in ("lexical_declaration", "variable_declaration"):
            for node in statement.named_children:
                value = node.child_by_field_name("value")
                origin = dotted(value) if value is not None else ""
                names = walk(node.child_by_field_name("name") or node)
                yield from ((text_of(name), origin or "this file") for name in names if text_of(name) in _WORDS)
        elif statement.type in ("function_declaration", "class_declaration"):
            name = text_of(statement.child_by_field_name("name"))
            if name in _WORDS:
                yield name, "this file"


def _outside(root: Node, constants: Mapping[str, Node]) -> Iterator[Expectation]:
    """The expectations of functions that tests call, and of files that are a test without saying so."""
    for child in root.named_children:
        if not any(is_test(node) or is_group(node) for node in walk(child)):
            yield from expectations_of(child, {}, follows=any(node.type in FUNCTIONS for node in walk(child)) is False)
