"""What may be quoted in a lesson: code without comments and prose, names, paths, commands. All else is refused."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Sequence

from milepost.memory.lessons.distil.signs_of_instructions import instruction_in, is_plain, words_of
from milepost.sources.python_modules import syntax_tree

LONGEST_CODE = 20_000
LONGEST_NAME, MOST_WORDS = 40, 5
LONGEST_LITERAL, MOST_LITERAL_WORDS, MOST_PHRASES = 24, 3, 2
LONGEST_PATH, LONGEST_COMMAND, LONGEST_PROJECT = 120, 160, 60
LEFT_OUT = "..."

_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{LONGEST_NAME - 1}}}\Z")
_LITERAL = re.compile(rf"[A-Za-z0-9_ .,:/%+#@=<>()\[\]{{}}*?!|&^~$-]{{0,{LONGEST_LITERAL}}}\Z")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{16,}")
_SHELL = re.compile(
    r"(?:^|[;&|$(]\s*)(?:rm|curl|wget|sudo|sh|bash|zsh|eval|exec|chmod|chown|dd|nc|ssh|scp|git|pip3?|npm|npx|python3?|node|"
    r"cat|echo|export|source|kill|mkfs|powershell|cmd)(?:\s|$)|[;|&]{1,2}\s|\$\(|\s-[a-z]{1,3}\b|\s/|\s~"
)
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_SEGMENT = re.compile(r"[A-Za-z0-9_.@+\[\]()-]{1,60}\Z")
_ARGUMENT = re.compile(r"[A-Za-z0-9_./:=,@%+*\[\]{} -]{1,60}\Z")
_RUNS_TEXT = frozenset({"-c", "-e", "-ec", "-lc", "-ce", "--eval", "--command", "/c", "-Command", "-p", "--print"})
_INTERPRETERS = re.compile(
    r"(?:.*/)?(?:ba|z|da|fi|k)?sh|(?:.*/)?(?:python|node|ruby|perl|php|deno|bun|pwsh|cmd)[\d.]*(?:\.exe)?"
)


class CannotQuote(Exception):
    """What cannot be quoted, and why, in our own words: never with a piece of it."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def python(code: str) -> str:
    """Python code as it may be quoted: no comments, no docstrings, no prose in literals."""
    tree = syntax_tree(code) if len(code) <= LONGEST_CODE else None
    if tree is None:
        raise CannotQuote("cannot be read as code")
    try:
        _Cleaner(_phrases(tree)).visit(tree)
        cleaned = ast.unparse(ast.fix_missing_locations(tree))
    except (RecursionError, ValueError):
        raise CannotQuote("cannot be read as code") from None
    return checked("\n".join(line for line in cleaned.splitlines() if line.strip()))


def checked(text: str) -> str:
    """A cleaned text, once nothing in all of its words looks like an instruction."""
    if not is_plain(text):
        raise CannotQuote("has signs beyond ASCII")
    if why := instruction_in(text):
        raise CannotQuote(why)
    return text


def name(text: str) -> str:
    """A name, plain or dotted, of no more words than a name needs."""
    parts = text.split(".")
    if len(parts) > MOST_WORDS or not all(_NAME.match(part) for part in parts):
        raise CannotQuote("a name that is no name, or a very long one")
    if max(len(list(words_of(part))) for part in parts) > MOST_WORDS:
        raise CannotQuote("a name that reads as a sentence")
    return checked(text)


def path(text: str) -> str:
    """A path of the repository whose parts are names of files, not sentences."""
    parts = text.split("/")
    if len(text) > LONGEST_PATH or ".." in parts or not all(_SEGMENT.match(part) for part in parts):
        raise CannotQuote("a path that is no path of a repository, or a very long one")
    if max(len(list(words_of(part))) for part in parts) > MOST_WORDS + 1:
        raise CannotQuote("a path that reads as a sentence")
    return checked(text)


def identifier(text: str) -> str:
    """The id of a run or a task: signs and numbers, and hardly a word."""
    if not _IDENTIFIER.match(text):
        raise CannotQuote("an id that is no id, or a very long one")
    if _lettered(text) > MOST_LITERAL_WORDS:
        raise CannotQuote("an id that reads as a sentence")
    return checked(text)


def project(text: str) -> str:
    """The name of a project: a word or a few, or a commit and a folder."""
    if len(text) > LONGEST_PROJECT or _lettered(text) > MOST_WORDS:
        raise CannotQuote("a name of a project that reads as a sentence")
    return path(text)


def command(argv: Sequence[str]) -> str:
    """A command as it is typed. One that hands a program to an interpreter is no command of a project."""
    if not argv or not all(_ARGUMENT.match(one) for one in argv):
        raise CannotQuote("a command with more than plain arguments")
    if any(len(list(words_of(one))) > 2 * MOST_WORDS or len(one.split()) > MOST_LITERAL_WORDS for one in argv):
        raise CannotQuote("a command with an argument that reads as a sentence")
    if _INTERPRETERS.fullmatch(argv[0]) and not _RUNS_TEXT.isdisjoint(argv[1:3]):
        raise CannotQuote("a command that carries a program")
    typed = checked(shlex.join(argv))
    if len(typed) > LONGEST_COMMAND:
        raise CannotQuote("a very long command")
    return typed


def literal(value: str) -> str:
    """A text of code as it may be quoted: itself where it is short and no prose, else dots."""
    if not _LITERAL.match(value) or "://" in value or _SHELL.search(value) or _looks_encoded(value):
        return LEFT_OUT
    return LEFT_OUT if len(list(words_of(value))) > MOST_LITERAL_WORDS + 1 or len(value.split()) > 3 else value


def is_phrase(value: str) -> bool:
    """Whether a literal has several words: a few of these are prose together, though none is alone."""
    return len(value.split()) > 1


def _lettered(text: str) -> int:
    return sum(not word.isdigit() for word in words_of(text))


def _looks_encoded(value: str) -> bool:
    found = _ENCODED.search(value)
    if found is None:
        return False
    mixed = any(sign.isdigit() for sign in found[0]) and found[0].lower() != found[0] != found[0].upper()
    return mixed or found[0].endswith("=")


def _phrases(tree: ast.AST) -> int:
    values = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return sum(isinstance(value, str) and is_phrase(value) and literal(value) == value for value in values)


class _Cleaner(ast.NodeTransformer):
    """Takes out of a tree what may not be quoted; raises where it cannot be taken out."""

    def __init__(self, phrases: int) -> None:
        self._too_wordy = phrases > MOST_PHRASES

    def visit(self, node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.JoinedStr) or type(node).__name__ == "TemplateStr":
            return ast.Constant(LEFT_OUT)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr):
            return node if _is_dots(node.value) else None
        _hold_names(node)
        cleaned: ast.AST = self.generic_visit(node)
        for block in ("body", "handlers", "cases"):
            if getattr(cleaned, block, None) == [] and not isinstance(cleaned, ast.Module):
                setattr(cleaned, block, [ast.Pass()])
        return cleaned

    def _constant(self, node: ast.Constant) -> ast.Constant:
        value = node.value
        if isinstance(value, str):
            kept = LEFT_OUT if self._too_wordy and is_phrase(value) else literal(value)
            return ast.Constant(kept)
        if isinstance(value, bytes):
            kept = literal(value.decode("latin-1"))
            return ast.Constant(kept.encode("latin-1"))
        if isinstance(value, int | float | complex) and len(repr(value)) > LONGEST_LITERAL // 2:
            return ast.Constant(0)
        return node


def _is_dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _hold_names(node: ast.AST) -> None:
    """Refuse a node with a name that is a sentence: whatever text a node has beside a constant's value is a name."""
    for _, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, str) and one != "*":
                name(one)
