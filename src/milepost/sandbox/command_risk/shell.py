"""A shell's text → the pieces it would run, read by a real parser.

Variables that the text itself sets are put in, so is where `cd` leads; what only a shell could know stays as it is
written, with its `$`. Functions, branches and loops are taken to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from milepost.sandbox.command_risk.kinds import Piece, Unreadable
from milepost.sandbox.command_risk.paths import moved

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST, DEEPEST, MOST_PIECES, MOST_TURNS = 100_000, 60, 1_000, 16

_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_COPYING = frozenset({"subshell", "command_substitution", "process_substitution"})
_EXPANSIONS = frozenset({"simple_expansion", "expansion"})
_ECHOING = frozenset({"echo", "printf", "cat"})


def pieces_of(text: str, outer: Piece) -> tuple[Piece, ...]:
    """The pieces of a text that runs where `outer` would."""
    if len(text) > LONGEST:
        raise Unreadable
    from tree_sitter import Parser

    source = text.encode("utf-8", "surrogateescape")
    reader = _Reader(source, outer)
    # The grammar asks C whether a character is a letter, which reads outside of its table beyond ASCII and can end the
    # process. To a shell these are letters of a word: so they are parsed as such, and read as they are.
    letters = _BEYOND_ASCII.sub(b"x", source)
    reader.walk(Parser(_language()).parse(letters).root_node, _Scope(cwd=outer.cwd), outer)
    return tuple(reader.pieces)


@cache
def _language() -> Any:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


@dataclass(slots=True, kw_only=True)
class _Scope:
    cwd: str
    variables: dict[str, str] = field(default_factory=dict)

    def copy(self) -> _Scope:
        return _Scope(cwd=self.cwd, variables=dict(self.variables))


class _Reader:
    def __init__(self, source: bytes, outer: Piece) -> None:
        self._source = source
        self._blank = replace(outer, words=(), env=(), stdin="", fed_by=None, writes=())
        self._depth = 0
        self.pieces: list[Piece] = []

    def walk(self, node: Node, scope: _Scope, given: Piece) -> None:
        """Note the pieces of a node; `given` has what stdin they get."""
        self._depth += 1
        if self._depth > DEEPEST or len(self.pieces) > MOST_PIECES:
            raise Unreadable
        match node.type:
            case "command":
                self._command(node, scope, given)
            case "pipeline":
                self._pipeline(node.named_children, scope, given)
            case "redirected_statement":
                self._redirected(node, scope, given)
            case "file_redirect":
                self._writes(node, scope)
            case "variable_assignment":
                self._assignment(node, scope, given)
            case "for_statement":
                self._turns(node, scope, given)
            case _:
                inner = scope.copy() if node.type in _COPYING else scope
                for child in node.named_children:
                    self.walk(child, inner, given)
        self._depth -= 1

    def _command(self, node: Node, scope: _Scope, given: Piece) -> None:
        words: list[str] = []
        env: list[str] = []
        stdin = given.stdin
        for child in node.named_children:
            if child.type in ("variable_assignment", "file_redirect"):
                inner = scope.copy()
                self.walk(child, inner, given)
                env += [f"{name}={value}" for name, value in inner.variables.items() if name not in scope.variables]
                continue
            if child.type == "herestring_redirect":
                stdin = " ".join(self._words(part, scope)[0] for part in child.named_children)
            else:
                words += self._words(child, scope)
            self.walk(child, scope.copy(), self._blank)
        piece = replace(
            self._blank, words=tuple(words), env=tuple(env), cwd=scope.cwd, stdin=stdin, fed_by=given.fed_by
        )
        self.pieces.append(piece)
        if piece.name in ("cd", "pushd"):
            targets = [word for word in piece.arguments if not word.startswith("-") or word == "-"]
            scope.cwd = moved(scope.cwd, targets[0] if targets else "~")

    def _pipeline(self, stages: list[Node], scope: _Scope, given: Piece) -> None:
        for stage in stages:
            before = len(self.pieces)
            self.walk(stage, scope.copy(), given)
            last = self.pieces[-1] if len(self.pieces) > before else self._blank
            given = replace(self._blank, stdin=_printed_by(last), fed_by=last)

    def _redirected(self, node: Node, scope: _Scope, given: Piece) -> None:
        body, *redirects = node.named_children
        heredocs = [redirect for redirect in redirects if redirect.type == "heredoc_redirect"]
        texts = [self._text(part) for heredoc in heredocs for part in _of_type(heredoc, "heredoc_body")]
        texts += [self._words(redirect, scope)[0] for redirect in redirects if redirect.type == "herestring_redirect"]
        for source in filter(None, (self._read_from(redirect, scope) for redirect in redirects)):
            self.pieces.append(source)
            given = replace(given, fed_by=source)
        before = len(self.pieces)
        self.walk(body, scope, replace(given, stdin="\n".join([given.stdin, *texts])) if texts else given)
        last = self.pieces[-1] if len(self.pieces) > before else self._blank
        for redirect in redirects:
            if redirect.type != "heredoc_redirect":
                self.walk(redirect, scope, given)
                continue
            for child in redirect.named_children:  # what follows `<<EOF` on its line is found in here
                fed = replace(self._blank, stdin=_printed_by(last), fed_by=last)
                self.walk(child, scope, fed if child.type == "pipeline" else given)

    def _read_from(self, node: Node, scope: _Scope) -> Piece | None:
        """The file that a statement reads instead of its stdin, as the `cat` that would feed it."""
        target = node.child_by_field_name("destination") if node.type == "file_redirect" else None
        if target is None or not any(child.type == "<" for child in node.children):
            return None
        return replace(self._blank, words=("cat", *self._words(target, scope)), cwd=scope.cwd)

    def _writes(self, node: Node, scope: _Scope) -> None:
        for child in node.named_children:
            self.walk(child, scope.copy(), self._blank)
        target = node.child_by_field_name("destination")
        if target is not None and any(child.type in _WRITING for child in node.children):
            written = tuple(self._words(target, scope))
            self.pieces.append(replace(self._blank, words=(), cwd=scope.cwd, writes=written))

    def _assignment(self, node: Node, scope: _Scope, given: Piece) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if value is None:
            return
        self.walk(value, scope.copy(), given)
        if name is not None:
            values = value.named_children if value.type == "array" else [value]
            scope.variables[self._text(name)] = " ".join(word for one in values for word in self._words(one, scope))

    def _turns(self, node: Node, scope: _Scope, given: Piece) -> None:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = [word for value in node.children_by_field_name("value") for word in self._words(value, scope)]
        for one in node.children_by_field_name("value"):
            self.walk(one, scope.copy(), given)
        if len(values) > MOST_TURNS:
            raise Unreadable
        for value in values or [""]:
            if name is not None and values:
                scope.variables[self._text(name)] = value
            if body is not None:
                self.walk(body, scope, given)

    def _words(self, node: Node, scope: _Scope) -> list[str]:
        """The words that a node becomes: more than one where a variable is split."""
        if node.type == "command_name" and node.named_children:
            return self._words(node.named_children[0], scope)
        text = self._resolved(node, scope)
        bare = node.type in _EXPANSIONS or re.fullmatch(r'"?\$\{\w+\[[@*]\]\}"?', self._text(node))
        return text.split() or [""] if bare else [text]

    def _resolved(self, node: Node, scope: _Scope) -> str:
        text = self._text(node)
        match node.type:
            case "word":
                return re.sub(r"\\(\n|(.))", lambda found: found[2] or "", text)
            case "raw_string":
                return text[1:-1]
            case "ansi_c_string":
                return _without_escapes(text[2:-1])
            case "string":
                return self._joined(node, scope, inset=1)
            case "concatenation" | "herestring_redirect" | "translated_string":
                return self._joined(node, scope)
            case "simple_expansion" | "expansion":
                name = re.fullmatch(r"\$\{?(\w+)(?:\[[@*]\])?\}?", text)
                return scope.variables.get(name[1], f"${name[1]}") if name else re.sub(r"^\$\{(\w+).*", r"$\1", text)
            case _:
                return text

    def _joined(self, node: Node, scope: _Scope, inset: int = 0) -> str:
        parts: list[str] = []
        at = node.start_byte + inset
        for child in node.named_children:
            if child.type != "string_content":
                parts += [_unquoted(self._between(at, child.start_byte)), self._resolved(child, scope)]
                at = child.end_byte
        parts.append(_unquoted(self._between(at, node.end_byte - inset)))
        joined = "".join(parts)
        return joined.removeprefix("<<<").strip() if node.type == "herestring_redirect" else joined

    def _text(self, node: Node) -> str:
        return self._between(node.start_byte, node.end_byte)

    def _between(self, start: int, end: int) -> str:
        return self._source[start:end].decode("utf-8", "surrogateescape")


def _printed_by(piece: Piece) -> str:
    """What a piece is known to print: its words, where it only repeats them."""
    if piece.name not in _ECHOING:
        return ""
    said = " ".join(word for word in piece.arguments if not word.startswith("-"))
    return piece.stdin if piece.name == "cat" else said.replace("\\n", "\n")


def _of_type(node: Node, kind: str) -> Iterator[Node]:
    return (child for child in node.named_children if child.type == kind)


def _unquoted(text: str) -> str:
    return re.sub(r'\\([$`"\\\n])', lambda found: "" if found[1] == "\n" else found[1], text)


def _without_escapes(text: str) -> str:
    codes = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}

    def plain(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "xuU":
            return chr(min(int(code[1:], 16), 0x10FFFF))
        return chr(int(code, 8) & 0xFF) if code[0].isdigit() else codes.get(code, code)

    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)", plain, text)
