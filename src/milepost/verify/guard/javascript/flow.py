"""Where values in a JavaScript file come from: each name with what it was given, scope by scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from milepost.verify.guard.javascript.constants import text_value
from milepost.verify.syntax.javascript_tree import FUNCTIONS, arguments_of, string, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

Key = tuple[int, str]
Facts = frozenset[tuple[str, str]]

_SCOPES = FUNCTIONS | {"program", "generator_function_declaration", "generator_function"}
_DEEPEST = 8
_CALLING_BACK = frozenset(
    {"some", "every", "find", "findIndex", "findLast", "filter", "map", "flatMap", "forEach", "reduce", "sort"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """`given` are the values of each name; `members` what a name was taken out of, `argv` out of `process`;
    `items` are names that stand for the items of what they were given."""

    root: Node
    nodes: tuple[Node, ...]
    given: dict[Key, list[Node]] = field(default_factory=lambda: defaultdict(list))
    members: dict[Key, tuple[Node | None, str]] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    items: set[Key] = field(default_factory=set)
    texts: dict[int, str] = field(default_factory=dict)
    paths: dict[int, str] = field(default_factory=dict)
    known: dict[Key, Facts] = field(default_factory=dict)

    def key_of(self, name: Node) -> Key | None:
        scope: Node | None = name
        while scope is not None:
            scope = scope.parent
            if scope is not None and scope.type in _SCOPES and (scope.id, text_of(name)) in self.given:
                return scope.id, text_of(name)
        return None

    def text(self, node: Node | None) -> str:
        if node is None:
            return ""
        if node.id not in self.texts:
            self.texts[node.id] = text_value(node, self._alias)
        return self.texts[node.id]

    def path(self, node: Node | None, depth: int = _DEEPEST) -> str:
        """The dotted path of a value as it is known outside of the file, through whatever names it was given."""
        if node is None or depth == 0:
            return ""
        if depth == _DEEPEST and node.id not in self.paths:
            self.paths[node.id] = self._path(node, depth)
        return self.paths[node.id] if node.id in self.paths else self._path(node, depth)

    def _path(self, node: Node, depth: int) -> str:
        match node.type:
            case "identifier" | "shorthand_property_identifier":
                return self._path_of_name(node, depth)
            case "member_expression":
                owner = self.path(node.child_by_field_name("object"), depth - 1)
                return _plain(f"{owner}.{text_of(node.child_by_field_name('property'))}")
            case "subscript_expression":
                owner = self.path(node.child_by_field_name("object"), depth - 1)
                return _plain(f"{owner}.{self.text(node.child_by_field_name('index')) or '[]'}")
            case "call_expression":
                called, arguments = self.path(node.child_by_field_name("function"), depth - 1), arguments_of(node)
                if called in ("require", "import", "process.getBuiltinModule") and arguments:
                    return self.text(arguments[0]).removeprefix("node:")
                if called == "Reflect.get" and len(arguments) > 1:
                    return _plain(f"{self.path(arguments[0], depth - 1)}.{self.text(arguments[1])}")
                return f"{called}()"
            case "parenthesized_expression" | "await_expression" | "non_null_expression" | "as_expression":
                return self.path(node.named_children[0] if node.named_children else None, depth - 1)
            case "new_expression":
                return f"new {text_of(node.child_by_field_name('constructor'))}"
            case "meta_property" | "import" | "this" | "super":
                return text_of(node)
            case _:
                return ""

    def values(self, name: Node) -> list[Node]:
        key = self.key_of(name)
        return self.values_of(key) if key else []

    def values_of(self, key: Key) -> list[Node]:
        found = list(self.given.get(key, ()))
        owner = self.members.get(key, (None, ""))[0]
        return [*found, owner] if owner is not None else found

    def _alias(self, name: Node) -> Node | None:
        key = self.key_of(name)
        found = self.given.get(key, []) if key and key not in self.members and key not in self.items else []
        return found[0] if len(found) == 1 else None

    def _path_of_name(self, node: Node, depth: int) -> str:
        key = self.key_of(node)
        if key in self.members:
            owner, member = self.members[key]
            return _plain(f"{self.path(owner, depth - 1)}.{member}")
        alias = self._alias(node)
        if alias is not None and alias.type not in FUNCTIONS and alias.type != "string":
            return self.path(alias, depth - 1) or text_of(node)
        return self.modules.get(text_of(node), text_of(node)) if key is None else ""


def flow_of(root: Node) -> Flow:
    """The flow of a file, all of its names looked up once."""
    flow = Flow(root=root, nodes=tuple(walk(root)))
    functions: dict[str, list[Node]] = defaultdict(list)
    for node in flow.nodes:
        _declare(flow, node, functions)
    for node in flow.nodes:
        if node.type == "call_expression":
            _give_arguments(flow, node, functions)
    return flow


def above(node: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _declare(flow: Flow, node: Node, functions: dict[str, list[Node]]) -> None:
    field_of = node.child_by_field_name
    match node.type:
        case "variable_declarator" | "assignment_expression":
            name, value = field_of("name") or field_of("left"), field_of("value") or field_of("right")
            if name is not None:
                _bind(flow, name, value)
                if value is not None and value.type in FUNCTIONS:
                    functions[text_of(name).rpartition(".")[2]].append(value)
        case "for_in_statement":
            left, right = field_of("left"), field_of("right")
            if left is not None:
                _bind(flow, left, right)
                flow.items.update((_scope(left).id, text_of(part)) for part in walk(left) if part.type == "identifier")
        case "import_statement":
            _import(flow, node)
        case kind if kind in _SCOPES and kind != "program":
            _declare_function(flow, node, functions)
        case _:
            pass


def _bind(flow: Flow, target: Node, value: Node | None) -> None:
    scope = _scope(target)
    if target.type == "object_pattern":
        for part in target.named_children:
            name = part.child_by_field_name("value") if part.type == "pair_pattern" else part
            taken = text_of(part.child_by_field_name("key")) if part.type == "pair_pattern" else text_of(part)
            if name is not None:
                _enter(flow, scope, text_of(name), None)
                flow.members[scope.id, text_of(name)] = (value, taken.strip("'\""))
        return
    names = [part for part in walk(target) if part.type == "identifier"] if target.type != "member_expression" else []
    for name in names:
        _enter(flow, scope, text_of(name), value)
        if name is not target and target.type == "array_pattern":
            flow.items.add((scope.id, text_of(name)))


def _enter(flow: Flow, scope: Node, name: str, value: Node | None) -> None:
    held = flow.given[scope.id, name]
    if value is not None:
        held.append(value)


def _declare_function(flow: Flow, node: Node, functions: dict[str, list[Node]]) -> None:
    """A function's name stands for what it gives back; its parameters hide what is named so outside."""
    for parameter in _parameters(node):
        _enter(flow, node, parameter, None)
    name = node.child_by_field_name("name")
    if name is not None:
        functions[text_of(name)].append(node)
        for part in walk(node):
            if part.type == "return_statement" and part.named_children:
                _enter(flow, _scope(node), text_of(name), part.named_children[0])


def _parameters(function: Node) -> list[str]:
    held = function.child_by_field_name("parameters") or function.child_by_field_name("parameter")
    if held is None:
        return []
    parts = [held] if held.type == "identifier" else held.named_children
    return [text_of(next((part for part in walk(each) if part.type == "identifier"), None)) for each in parts]


def _give_arguments(flow: Flow, call: Node, functions: dict[str, list[Node]]) -> None:
    called, arguments = call.child_by_field_name("function"), arguments_of(call)
    name = text_of(called).rpartition(".")[2]
    own = list(functions.get(name, ()))
    if called is not None and called.type == "parenthesized_expression":
        own += [part for part in called.named_children if part.type in FUNCTIONS]
    for function in own:
        for parameter, argument in zip(_parameters(function), arguments, strict=False):
            _enter(flow, function, parameter, argument)
    if name in _CALLING_BACK and called is not None and called.type == "member_expression" and arguments:
        owner = called.child_by_field_name("object")
        acts = [arguments[0]] if arguments[0].type in FUNCTIONS else functions.get(text_of(arguments[0]), [])
        for function in acts:
            for parameter in _parameters(function):
                _enter(flow, function, parameter, owner)
                flow.items.add((function.id, parameter))


def _import(flow: Flow, node: Node) -> None:
    module = string(node.child_by_field_name("source")).removeprefix("node:")
    for part in walk(node):
        if part.type == "import_specifier":
            name = part.child_by_field_name("alias") or part.child_by_field_name("name")
            flow.modules[text_of(name)] = f"{module}.{text_of(part.child_by_field_name('name'))}"
        elif part.type in ("import_clause", "namespace_import"):
            for child in part.named_children:
                if child.type == "identifier":
                    flow.modules[text_of(child)] = module


def _scope(node: Node) -> Node:
    found = node
    for found in above(node):
        if found.type in _SCOPES:
            break
    return found


def _plain(path: str) -> str:
    for prefix in ("globalThis.", "global.", "window.", "self."):
        path = path.removeprefix(prefix)
    return path.replace("?.", ".").removeprefix("default.").replace("process.default.", "process.")
