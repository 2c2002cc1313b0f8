"""TypeScript source as a script that can follow others in one session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tree_sitter import Language, Node, Parser

Lang = Literal["typescript", "javascript"]

_FUNCTIONS = frozenset(
    {
        *("function_declaration", "function_expression", "arrow_function", "method_definition"),
        *("generator_function", "generator_function_declaration", "class_declaration", "class"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    start: int
    end: int
    text: str


def as_script(code: str, lang: Lang) -> str:
    """The same code, every line where it was, with what it declares at the top left for the runs after it.

    A second `const x` is then no error, and `await` may stand at the top. What cannot be read is returned as it is,
    for the runtime to say what is wrong with it.
    """
    source = code.encode()
    tree = _parser(lang).parse(source).root_node
    if tree.has_error:
        return code
    edits = [edit for node in tree.named_children for edit in _redeclarable(node)]
    if not _awaits(tree):
        return _edited(source, edits)
    names = [name for node in tree.named_children for name in _declared(node)]
    last = next((node for node in reversed(tree.named_children) if node.type != "comment"), None)
    if last is not None and last.type == "expression_statement":
        edits.append(_Edit(start=last.start_byte, end=last.start_byte, text="return "))
    # A class is a value once it is declared, and nothing before: what was not reached is not kept.
    kept = "".join(f" try {{ globalThis.{name} = {name}; }} catch {{}}" for name in dict.fromkeys(names))
    return f"(async () => {{ try {{ {_edited(source, edits)}\n}} finally {{{kept} }} }})()"


def _redeclarable(node: Node) -> Iterator[_Edit]:
    """Make a declaration one that may come twice: `var x` for `let x`, `var A = class A` for `class A`."""
    if node.type == "lexical_declaration":
        keyword = node.children[0]
        yield _Edit(start=keyword.start_byte, end=keyword.end_byte, text="var")
    elif node.type == "class_declaration":
        name = node.child_by_field_name("name")
        if name is not None and name.text is not None:
            yield _Edit(start=node.start_byte, end=node.start_byte, text=f"var {name.text.decode()} = ")
            yield _Edit(start=node.end_byte, end=node.end_byte, text=";")


def _declared(node: Node) -> Iterator[str]:
    """The names that a statement declares."""
    if node.type in ("lexical_declaration", "variable_declaration"):
        for declarator in node.named_children:
            pattern = declarator.child_by_field_name("name")
            if pattern is not None:
                yield from _names(pattern)
    elif node.type in (
        *("function_declaration", "generator_function_declaration", "class_declaration", "enum_declaration"),
        "abstract_class_declaration",
    ):
        name = node.child_by_field_name("name")
        if name is not None:
            yield from _names(name)


def _names(pattern: Node) -> Iterator[str]:
    if pattern.type in ("identifier", "type_identifier", "shorthand_property_identifier_pattern"):
        assert pattern.text is not None
        yield pattern.text.decode()
    elif pattern.type in ("assignment_pattern", "object_assignment_pattern"):
        if (left := pattern.child_by_field_name("left")) is not None:
            yield from _names(left)
    elif pattern.type == "pair_pattern":
        if (value := pattern.child_by_field_name("value")) is not None:
            yield from _names(value)
    else:
        for part in pattern.named_children:
            yield from _names(part)


def _awaits(tree: Node) -> bool:
    """Whether something at the top, in no function, waits."""
    todo = [tree]
    for node in todo:
        if node.type in ("await_expression", "await"):
            return True
        todo.extend(child for child in node.children if child.type not in _FUNCTIONS)
    return False


def _edited(source: bytes, edits: list[_Edit]) -> str:
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        source = source[: edit.start] + edit.text.encode() + source[edit.end :]
    return source.decode()


@cache
def _parser(lang: Lang) -> Parser:
    import tree_sitter_javascript
    import tree_sitter_typescript

    typed = lang == "typescript"
    return Parser(
        Language(tree_sitter_typescript.language_typescript() if typed else tree_sitter_javascript.language())
    )
