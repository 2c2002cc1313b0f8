"""Lines of code of any language as they may be quoted: comments out, prose out of literals, refused when unsure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from milepost.memory.lessons.distil.sanitise import (
    LEFT_OUT,
    LONGEST_CODE,
    CannotQuote,
    checked,
    is_phrase,
    literal,
    name,
)
from milepost.sources.grammars import grammar_of, language_of, loaded

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_NODES = 50_000

_TEXTS = (
    "string",
    "heredoc",
    "char_literal",
    "character_literal",
    "rune_literal",
    "regex",
    "jsx_text",
    "text",
    "template",
)
_NOTES = ("comment", "preproc_arg", "preproc_call")
# A line of a shell's is words side by side, as prose is.
_READ = frozenset({"Python", "JavaScript", "TypeScript", "TSX", "Go", "Rust", "Java", "C", "C++", "Ruby", "PHP"})
_HASH_IS_COMMENT = frozenset({"Python", "Ruby", "PHP"})
_SLASHES_ARE_CODE = frozenset({"Python", "Ruby"})
_QUOTED = re.compile(r""""((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`""")
_LIFETIME = re.compile(r"'[a-z_]\w{0,15}\b(?!')")
_BARE = re.compile(r"[A-Za-z_]\w*")
_RUN = re.compile(r"[A-Za-z_]\w*(?:[ \t]+[A-Za-z_]\w*)+")
_MOST_IN_A_ROW = 2
# Words that stand beside each other in code of one language or another.
_KEYWORDS_WORDS = """
    abstract and as assert async await begin bool boolean break byte case catch char class const continue crate def
    default defer del delete do double elif else elsif end ensure enum except export extends extern false final
    finally float fn for from func function go global if impl implements import in int instanceof interface is
    lambda let long loop match mod module move mut namespace new nil none not null or override package pass private
    protected pub public raise readonly ref require rescue return select self short static str string struct super
    switch then this throw throws trait true try type typeof undefined unless unsafe unsigned until use using var
    virtual void when where while with yield
"""
_KEYWORDS = frozenset(_KEYWORDS_WORDS.split())


def code_lines(path: str, text: str) -> list[str]:
    """The lines of a file without its comments, and with dots for the texts in it that are prose.

    Where no grammar reads the file, or its own finds a fault in it, nobody knows what is a comment: refused.
    """
    if not text.strip():
        return []
    content = text.encode("utf-8", "replace")
    cleaned = bytearray()
    end = 0
    for node, kept in _left_out(_root(path, content), content):
        # As many lines as before, so that a line is still found by its number.
        cleaned += content[end : node.start_byte] + kept + b"\n" * content.count(b"\n", node.start_byte, node.end_byte)
        end = node.end_byte
    return (cleaned + content[end:]).decode("utf-8", "replace").splitlines()


def quoted(path: str, lines: Iterable[str]) -> tuple[str, ...]:
    """Cleaned lines, once each of them reads as code of this file's language and nothing else."""
    if language_of(path) not in _READ:
        raise CannotQuote("cannot be read as code")
    found = tuple(line.rstrip() for line in lines if line.strip())
    texts = [one for line in found for one in _texts_in(_without_lifetimes(path, line))]
    if sum(map(is_phrase, texts)) > 2:
        raise CannotQuote("texts that read as sentences together")
    for line in found:
        _hold_line(path, line)
    checked("\n".join(found))
    return found


def dedented(lines: Iterable[str]) -> str:
    """Lines as a text, moved to the left as one."""
    found = tuple(lines)
    depth = min((len(line) - len(line.lstrip()) for line in found), default=0)
    return "\n".join(line[depth:] for line in found)


def _hold_line(path: str, line: str) -> None:
    plain = _without_lifetimes(path, line)
    if any(literal(text) != text for text in _texts_in(plain)):
        raise CannotQuote("a text that reads as a sentence")
    bare = _QUOTED.sub("0", plain)
    language = language_of(path)
    is_noted = "#" in bare if language in _HASH_IS_COMMENT else False
    if is_noted or "/*" in bare or "--" in re.sub(r"\w--|--\w", "", bare) or _has_slashes(language, bare):
        raise CannotQuote("a comment among the code")
    if not {'"', "'", "`"}.isdisjoint(bare):
        raise CannotQuote("a text without an end")
    for one in _BARE.findall(bare):
        name(one)
    for run in _RUN.findall(bare):
        if _longest_row(run.split()) > _MOST_IN_A_ROW:
            raise CannotQuote("prose among the code")


def _has_slashes(language: str, bare: str) -> bool:
    return "//" in bare and language not in _SLASHES_ARE_CODE


def _longest_row(words: list[str]) -> int:
    longest = now = 0
    for word in words:
        now = 0 if word.lower() in _KEYWORDS else now + 1
        longest = max(longest, now)
    return longest


def _without_lifetimes(path: str, line: str) -> str:
    return _LIFETIME.sub("_", line) if language_of(path) == "Rust" else line


def _texts_in(line: str) -> list[str]:
    return [next((part for part in found if part), "") for found in _QUOTED.findall(line)]


def _root(path: str, content: bytes) -> Node:
    from tree_sitter import Parser

    grammar = grammar_of(path) if language_of(path) in _READ else None
    language = loaded(grammar) if grammar is not None and len(content) <= 5 * LONGEST_CODE else None
    root = Parser(language).parse(content).root_node if language is not None else None
    if root is None or root.has_error:
        raise CannotQuote("cannot be read as code")
    return root


def _left_out(root: Node, content: bytes) -> Iterator[tuple[Node, bytes]]:
    """What of a tree is not quoted as it is, in its order, each with what stands for it."""
    todo = [root]
    seen = 0
    while todo:
        node = todo.pop()
        seen += 1
        if seen > MOST_NODES:
            raise CannotQuote("cannot be read as code")
        kind = node.type
        if node.is_named and any(note in kind for note in _NOTES):
            yield node, b""
        elif node.is_named and any(text in kind for text in _TEXTS):
            yield node, _shown(node, content)
        else:
            todo.extend(reversed(node.children))


def _shown(node: Node, content: bytes) -> bytes:
    """A text as it may be quoted. A string that is a statement by itself is a comment."""
    if node.parent is not None and node.parent.type == "expression_statement" and "template" not in node.type:
        return b""
    text = content[node.start_byte : node.end_byte].decode("utf-8", "replace")
    found = _QUOTED.fullmatch(text)
    if found is None:
        return b"''" if "\n" in text or "jsx" in node.type else f"'{LEFT_OUT}'".encode()
    inner = next((part for part in found.groups() if part), "")
    is_built = any("substitution" in child.type or "interpolation" in child.type for child in node.children)
    return f"{text[0]}{LEFT_OUT if is_built else literal(inner)}{text[0]}".encode()
