"""Other expectations for tests that are programs by themselves: in shell, C and C++, and in files of what to expect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from milepost.sources.grammars import grammar_of, language_of, loaded
from milepost.sources.javascript_tree import text_of, walk
from milepost.verify.counterproof.edits import Edit, spliced
from milepost.verify.judging.paths import suffix
from milepost.verify.witness.guest.other import Other

if TYPE_CHECKING:
    from tree_sitter import Node

LARGEST = 200_000

_EXPECTED = re.compile(r"\.(?:out|exp|expected|expect|golden|want|ok|ref|stdout|approved)$|(?:^|[/._-])expect(?:ed)?\b")
_EQUAL = frozenset({"=", "==", "-eq"})
_CLAIM = re.compile(r"assert|expect|check|verify|equal|require|same|want|is_?eq|should", re.IGNORECASE)
_MACRO = re.compile(r"[A-Z][A-Z0-9_]+")
_OWN = re.compile(r"\$\{?[0-9#?@*]|\buname\b|OSTYPE|BASH|SHELL|(?i:fail|error|argc|count)")
_COMPARE = frozenset({"strcmp", "strncmp", "memcmp", "strcasecmp", "wcscmp"})
_WANTED = re.compile(r"expect|want|golden|correct", re.IGNORECASE)
_C = frozenset({"string_literal", "number_literal", "char_literal"})
_ENDS = b"\n#include <stdlib.h>\n__attribute__((constructor(101))) static void ended(void) { _Exit(3); }\n"
_SHELL = frozenset({"string", "raw_string", "word", "number"})


def altered(path: str, source: bytes, seed: str, *, is_shell: bool = False) -> bytes | None:
    """A judging file that expects otherwise; None where nothing of it can be told to be an expectation."""
    draw = Other(seed)
    if len(source) > LARGEST or b"\0" in source:
        return None
    language = "Shell" if is_shell else language_of(path)
    if language == "Shell":
        edits = tuple(_of_shell(_root("a.sh", source), draw))
    elif language in ("C", "C++"):
        edits = tuple(_of_c(_root("a.cc", source), draw))
    elif not language and _EXPECTED.search(path):
        return draw(source.decode("latin-1")).encode("latin-1") if source.strip() else b"3\n"
    else:
        return None
    return spliced(source, dict.fromkeys(edits)) if edits else None


def failing(path: str, source: bytes, *, is_shell: bool = False) -> bytes | None:
    """A judging file that fails as soon as it is run, whatever it is about; None, for no file, where it is data."""
    if is_shell or language_of(path) == "Shell":
        first, line, rest = source.partition(b"\n")
        return b"".join((first, line, b"exit 3\n", rest)) if first.startswith(b"#!") else b"exit 3\n" + source
    return source + _ENDS if language_of(path) in ("C", "C++") else None


def may_be_altered(path: str) -> bool:
    """Whether the name of a file says that it is one of these."""
    return language_of(path) in ("Shell", "C", "C++") or (not language_of(path) and bool(_EXPECTED.search(path)))


def _root(name: str, source: bytes) -> Node | None:
    from tree_sitter import Parser

    grammar = grammar_of(name)
    language = loaded(grammar) if grammar is not None else None
    return Parser(language).parse(source).root_node if language is not None else None


def _of_shell(root: Node | None, draw: Other) -> Iterator[Edit]:
    nodes = list(walk(root)) if root is not None else []
    functions = {text_of(node.child_by_field_name("name")) for node in nodes if node.type == "function_definition"}
    for node in nodes:
        if node.type == "binary_expression" and _within_test(node):
            operator = text_of(node.child_by_field_name("operator"))
            sides = [node.child_by_field_name(side) for side in ("left", "right")]
            if operator in _EQUAL | {"!=", "-ne"} and not _is_about_itself(*sides):
                yield from _one_of(sides, draw)
        elif node.type == "case_item" and not _is_about_itself(
            node.parent and node.parent.child_by_field_name("value")
        ):
            yield from _one_of(node.children_by_field_name("value"), draw)
        elif node.type == "variable_assignment" and _WANTED.search(text_of(node.child_by_field_name("name"))):
            yield from _one_of([node.child_by_field_name("value")], draw)
        elif node.type == "command":
            yield from _of_command(node, functions, draw)


def _of_command(node: Node, functions: set[str], draw: Other) -> Iterator[Edit]:
    name = text_of(node.child_by_field_name("name"))
    given: list[Node | None] = list(node.children_by_field_name("argument"))
    words = [text_of(one) for one in given]
    if name in ("test", "["):
        for at, word in enumerate(words):
            if (
                word in _EQUAL | {"!=", "-ne"}
                and 0 < at < len(given) - 1
                and not _is_about_itself(given[at - 1], given[at + 1])
            ):
                yield from _one_of([given[at - 1], given[at + 1]], draw)
    elif name in ("grep", "egrep", "fgrep") and _must_succeed(node):
        yield from _one_of([one for one, word in zip(given, words, strict=True) if not word.startswith("-")][:1], draw)
    elif len(given) > 1 and (name in functions or _CLAIM.search(name)):
        yield from _one_of([given[-1], given[0]], draw)


def _is_about_itself(*sides: Node | None) -> bool:
    """Whether a comparison is about the script's own arguments, its count of failures, or the machine it runs on."""
    texts = [text_of(side).strip("\"'") for side in sides if side is not None]
    if any(_OWN.search(text) for text in texts):
        return True
    return any(text in ("", "0") for text in texts) and not any("$(" in text or "`" in text for text in texts)


def _must_succeed(node: Node) -> bool:
    """Whether a command decides by succeeding: it stands alone, or before what is done where it fails."""
    above = node.parent
    while above is not None and above.type in ("pipeline", "redirected_statement"):
        node, above = above, above.parent
    if above is None or above.type in ("program", "compound_statement", "do_group", "subshell"):
        return True
    return above.type == "list" and any(child.type == "||" for child in above.children) and above.children[0] == node


def _within_test(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type in ("binary_expression", "parenthesized_expression", "unary_expression"):
        above = above.parent
    return above is not None and above.type == "test_command"


def _one_of(sides: list[Node | None] | list[Node], draw: Other) -> Iterator[Edit]:
    """Another literal in the place of the first that is one."""
    for side in sides:
        if side is not None and (edit := _other(side, draw)) is not None:
            yield edit
            return


def _other(node: Node, draw: Other) -> Edit | None:
    text = text_of(node)
    if node.type not in _SHELL or "$" in text or "`" in text or "\\" in text or text.startswith("-"):
        return None
    quote = text[0] if text[:1] in ("'", '"') else ""
    inner = text[1:-1] if quote else text
    if not quote and not re.fullmatch(r"[\w.,:/@%+-]+", inner):
        return None
    new = str(draw(int(inner))) if inner.isdecimal() and len(inner) < 19 else draw(inner)
    return Edit(start=node.start_byte, end=node.end_byte, text=f"{quote}{new}{quote}")


def _of_c(root: Node | None, draw: Other) -> Iterator[Edit]:
    for node in walk(root) if root is not None else ():
        literals: list[Node] = []
        if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in ("==", "!="):
            sides = [node.child_by_field_name(side) for side in ("left", "right")]
            calls = [
                side for side in sides if side is not None and any(one.type == "call_expression" for one in walk(side))
            ]
            known = any(text_of(one.child_by_field_name("function")) in _COMPARE for one in calls)
            literals = [side for side in sides if side is not None and side.type in _C] if not known else []
            literals = [] if not calls and _is_about_itself(*sides) else literals
        elif node.type == "call_expression":
            name = text_of(node.child_by_field_name("function"))
            given = node.child_by_field_name("arguments")
            parts = list(given.named_children) if given is not None else []
            if len(parts) > 1 and (name in _COMPARE or _MACRO.fullmatch(name) or _CLAIM.search(name)):
                literals = [part for part in reversed(parts[:2] if name in _COMPARE else parts) if part.type in _C][:1]
        elif node.type == "initializer_list":
            literals = [child for child in node.named_children if child.type in _C][-1:]
        for literal in literals:
            if (edit := _other_of_c(literal, draw)) is not None:
                yield edit


def _other_of_c(node: Node, draw: Other) -> Edit | None:
    text = text_of(node)
    if node.type == "string_literal" and text.startswith('"'):
        found = re.search(r"[A-Za-z0-9]", text)
        new = text[:-1] + draw("a") + '"' if found is None or "\\" in text else f'"{draw(text[1:-1])}"'
    elif node.type == "char_literal" and re.fullmatch(r"'[A-Za-z0-9]'", text):
        new = f"'{draw(text[1])}'"
    elif text.isdecimal():
        new = str(draw(int(text)))
    elif re.fullmatch(r"\d+\.\d+", text):
        new = f"{draw(float(text)):.6f}"
    else:
        return None
    return Edit(start=node.start_byte, end=node.end_byte, text=new)


def is_shell(path: str, source: bytes) -> bool:
    """Whether a file is a shell script, by its name or its first line."""
    return language_of(path) == "Shell" or (
        not suffix(path) and bool(re.match(rb"#!\s*(?:\S*/)?(?:env\s+)?(?:ba|da|z|k)?sh\b", source))
    )
