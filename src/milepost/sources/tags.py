"""The tags of a source file: the names that it defines, with their signatures, and the names that it uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

from milepost.sources.env_variables import variables_in
from milepost.sources.grammars import Grammar, grammar_of, loaded
from milepost.sources.tag_queries import QUERIES

if TYPE_CHECKING:
    from tree_sitter import Node, Query

Kind = Literal["class", "interface", "type", "function", "method", "constant", "module"]

VERSION = "1"  # of what is read from a file: tags that another version kept are read anew
LONGEST_SIGNATURE = 160
LONGEST_NAME = 100
MOST_DEFINITIONS = 2_000
MOST_USES = 5_000
MOST_PIECES = 5_000  # of a file that is no code: a search in them takes time that grows with their square

# Grammars in which every name of a type is taken for a use, also the one that defines it.
_NAMES_ARE_USES = frozenset({"go", "rust", "java", "c", "cpp", "ruby"})
_BLOCKS = frozenset(
    {
        *("block", "statement_block", "class_body", "interface_body", "object_type", "enum_body", "compound_statement"),
        *("field_declaration_list", "declaration_list", "enum_variant_list", "enumerator_list", "body_statement"),
        *("constructor_body", "enum_declaration_list", "annotation_type_body", "ordered_field_declaration_list"),
    }
)
_OPENING = re.compile(r"\s*(=>|[{:])\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A name that a file defines: on which lines, and how it reads there up to its body."""

    name: str
    kind: Kind
    line: int
    last_line: int
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """What one file defines and uses, each use with how often; `variables` are those of the environment.

    An `unreadable` file is one that no parser survives.
    """

    definitions: tuple[Definition, ...] = ()
    uses: tuple[tuple[str, int], ...] = ()
    variables: tuple[str, ...] = ()
    unreadable: bool = False


def tags_of(path: str, content: bytes) -> Tags | None:
    """The tags of a file; None where no grammar is there to read it. Broken code gives what can be read of it."""
    grammar = grammar_of(path)
    if grammar is None:
        return None
    captures = _captures(grammar, content)
    uses = Counter(name for node in captures.pop("use", ()) if (name := _name(node, content)))
    defined = sorted(_definitions(captures, content), key=lambda one: (one.line, -one.last_line, one.name))
    if grammar.name in _NAMES_ARE_USES:
        uses.subtract(one.name for one in defined if one.kind in ("class", "interface", "type", "module", "constant"))
    return Tags(
        definitions=tuple(defined[:MOST_DEFINITIONS]),
        uses=tuple(sorted((name, times) for name, times in uses.items() if times > 0)[:MOST_USES]),
        variables=variables_in(content.decode("utf-8", "replace")),
    )


def _captures(grammar: Grammar, content: bytes) -> dict[str, list[Node]]:
    from tree_sitter import Parser, QueryCursor

    language = loaded(grammar)
    assert language is not None
    root = Parser(language).parse(content).root_node
    if root.is_error and root.child_count > MOST_PIECES:
        return {}
    return QueryCursor(_query(grammar)).captures(root)


@cache
def _query(grammar: Grammar) -> Query:
    from tree_sitter import Query

    language = loaded(grammar)
    assert language is not None
    return Query(language, QUERIES[grammar.name])


def _definitions(captures: Mapping[str, list[Node]], content: bytes) -> Iterator[Definition]:
    for kind in get_args(Kind):
        for node in captures.get(kind, ()):
            if name := _name(node, content):
                body = _body(node)
                last = body or node.parent or node
                yield Definition(
                    name=name,
                    kind=kind,
                    line=node.start_point[0] + 1,
                    last_line=last.end_point[0] + 1,
                    signature=_signature(node, body, content),
                )


def _outermost(name: Node) -> Node:
    """The whole statement that a name is defined by."""
    node = name
    while (above := node.parent) is not None and above.parent is not None and above.type not in _BLOCKS:
        node = above
    return node


def _body(name: Node) -> Node | None:
    """The block that belongs to the definition of a name."""
    node = name.parent
    while node is not None and node.parent is not None and node.type not in _BLOCKS:
        inner: Node | None = node
        while inner is not None and inner.type not in _BLOCKS:
            inner = inner.child_by_field_name("body") or inner.child_by_field_name("value")
        if inner is not None and inner.start_byte >= name.end_byte:
            return inner
        node = node.parent
    return None


def _signature(name: Node, body: Node | None, content: bytes) -> str:
    """How a definition reads up to its body, on one line; one without a body reads as its first line."""
    whole = _outermost(name)
    start = max(whole.start_byte, content.rfind(b"\n", 0, name.start_byte) + 1)
    end = whole.end_byte if body is None else body.start_byte
    text = content[start:end] if body is not None else content[start:end].partition(b"\n")[0]
    shown = text[: 8 * LONGEST_SIGNATURE].decode("utf-8", "replace")
    line = _OPENING.sub("", " ".join(shown.split()))
    return line if len(line) <= LONGEST_SIGNATURE else f"{line[: LONGEST_SIGNATURE - 1]}…"


def _name(node: Node, content: bytes) -> str:
    """A name as text; nothing for one that nobody would write."""
    name = content[node.start_byte : node.end_byte].decode("utf-8", "replace")
    return name if name and len(name) <= LONGEST_NAME and name.isprintable() else ""
