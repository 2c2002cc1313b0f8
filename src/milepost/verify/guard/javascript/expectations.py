"""What a JavaScript or TypeScript test expects: its expectations, each under the conditions that it is reached by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from milepost.verify.syntax.javascript_tree import FUNCTIONS, arguments_of, digest, dotted, key, line_of, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST_VALUE = 1000
TESTS = frozenset({"test", "it", "specify", "fit", "xit", "xtest", "t.test", "t.it"})
GROUPS = frozenset({"describe", "suite", "context", "fdescribe", "xdescribe"})
HELD_BACK = frozenset({"skip", "todo", "failing", "fails", "skipIf", "runIf"})
_CLAIMING = re.compile(r"(?i)(expect|assert|should|verify|check|ensure|chai\.expect|t\.assert)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One thing a test expects, and what it stands under; a loop over written-out cases names them."""

    text: str
    line: int
    conditions: frozenset[str] = frozenset()
    cases: frozenset[str] = frozenset()

    def holds_in(self, other: Expectation) -> bool:
        same = self.text in (other.text, other.text.removeprefix("await "))
        return same and other.conditions <= self.conditions and self.cases <= other.cases


def callee_of(call: Node) -> str:
    """The name a call goes by, `test.each` for `test.each(table)(…)`."""
    return dotted(call.child_by_field_name("function")).removesuffix(".[]")


def is_test(node: Node) -> bool:
    return _makes(node, TESTS)


def is_group(node: Node) -> bool:
    return _makes(node, GROUPS)


def _makes(node: Node, names: frozenset[str]) -> bool:
    if node.type != "call_expression":
        return False
    callee = callee_of(node)
    base = ".".join(part for part in callee.split(".") if part not in HELD_BACK | {"only", "each", "concurrent", "for"})
    found = arguments_of(node)
    return (
        base in names
        and bool(found)
        and found[0].type in ("string", "template_string", "identifier", "binary_expression")
    )


def cases_of(node: Node, constants: Mapping[str, Node]) -> frozenset[str] | None:
    if node.type == "identifier":
        node = constants.get(text_of(node), node)
    if node.type == "as_expression" and node.named_children:
        node = node.named_children[0]
    return (
        frozenset(key(child, {}) for child in node.named_children if child.type != "comment")
        if node.type == "array"
        else None
    )


def expectations_of(call: Node, constants: Mapping[str, Node], follows: bool = True) -> Iterator[Expectation]:
    """The expectations of a test in order, knowing at each how the local values came to be, unless told not to."""
    values = {name: key(value, {}) for name, value in constants.items()}
    todo: list[tuple[Node, frozenset[str], frozenset[str]]] = [(call, frozenset(), frozenset())]
    while todo:
        node, conditions, cases = todo.pop()
        if follows and node.type in ("variable_declarator", "assignment_expression"):
            name = node.child_by_field_name("name") or node.child_by_field_name("left")
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if name is not None and value is not None and name.type == "identifier" and value.type not in FUNCTIONS:
                values[text_of(name)] = _short(key(value, values))
        if _is_claim(node):
            awaited = node.parent is not None and node.parent.type in ("await_expression", "return_statement")
            text = key(node, values)
            yield Expectation(
                text=f"await {text}" if awaited else text, line=line_of(node), conditions=conditions, cases=cases
            )
            continue
        if node is not call and is_test(node):
            continue
        todo += reversed(list(_inner(node, conditions, cases, values, constants)))


def _short(text: str) -> str:
    """A value in its own words, so that it may as well stand where its name is used; a long one by its digest."""
    return text if len(text) <= LONGEST_VALUE else digest(text)


def _inner(
    node: Node,
    conditions: frozenset[str],
    cases: frozenset[str],
    values: Mapping[str, str],
    constants: Mapping[str, Node],
) -> Iterator[tuple[Node, frozenset[str], frozenset[str]]]:
    """The children of a node, each with what it is reached by."""
    dead: frozenset[str] = frozenset()
    for child in node.children:
        more = dead
        at = node.type
        if at == "if_statement" and child.type != "else_clause" and child != node.child_by_field_name("condition"):
            more |= {f"if {key(node.children[1], values)}"} if child.is_named else frozenset()
        elif at == "if_statement" and child.type == "else_clause":
            more |= {f"unless {key(node.children[1], values)}"}
        elif at == "try_statement" and child == node.child_by_field_name("body") and _swallows(node):
            more |= {"errors are swallowed"}
        elif at in ("for_in_statement", "for_statement", "while_statement") and child == node.child_by_field_name(
            "body"
        ):
            over = node.child_by_field_name("right")
            listed = cases_of(over, constants) if over is not None else None
            if listed is None:
                more |= {f"{at} {key(over, values) if over is not None else key(node.children[1], values)}"}
            else:
                yield child, conditions | more, cases | listed
                continue
        elif _decides(node) and child != node.children[0]:
            more |= {f"{at} {_condition(node.children[0], values)}"}
        yield child, conditions | more, cases
        if at == "statement_block" and child.type in ("return_statement", "throw_statement"):
            dead = frozenset({"never reached"})
        elif at == "statement_block" and child.type == "if_statement" and _leaves(child):
            dead |= {f"unless {key(child.children[1], values)}"}


def _is_claim(node: Node) -> bool:
    """The whole of a chain that starts at expect or assert, as a call."""
    if node.type != "call_expression" or is_test(node) or is_group(node):
        return False
    path = dotted(node)
    return bool(_CLAIMING.match(path)) or ".should." in f"{path}." or path.startswith("t.assert")


def _decides(node: Node) -> bool:
    """Whether what stands second in an expression is reached only by what stands first."""
    if node.type == "ternary_expression":
        return True
    return node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in ("&&", "||", "??")


def _condition(node: Node, values: Mapping[str, str]) -> str:
    return key(node, values) if node.end_byte - node.start_byte <= LONGEST_VALUE else digest(text_of(node))


def _swallows(node: Node) -> bool:
    handler = node.child_by_field_name("handler")
    if handler is None:
        return False
    return not any(part.type == "throw_statement" or _is_claim(part) for part in walk(handler))


def _leaves(node: Node) -> bool:
    consequence = node.child_by_field_name("consequence")
    return consequence is not None and any(
        child.type == "return_statement" for child in (consequence, *consequence.named_children)
    )
