"""Python code given on a command line: the commands, deletions and SQL that stand in it as plain text."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import replace

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.shell import LONGEST, pieces_of

_SHELL = frozenset({"system", "popen", "getoutput", "getstatusoutput"})
_STARTING = frozenset({"run", "call", "check_call", "check_output", "Popen"})
_DELETING = frozenset({"rmtree", "remove", "unlink", "rmdir", "removedirs"})
_DOWNLOADING = frozenset({"urlopen", "urlretrieve", "get", "post", "request"})
_SQL = frozenset({"execute", "executescript", "executemany", "text"})


def pieces_of_code(code: str, outer: Piece) -> tuple[Piece, ...]:
    """The pieces that code would run, as far as they stand in it."""
    if not code or len(code) > LONGEST:
        return ()
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return tuple(piece for call in calls for piece in _of_call(call, replace(outer, stdin="", fed_by=None, writes=())))


def _of_call(call: ast.Call, outer: Piece) -> Iterator[Piece]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    first = call.args[0] if call.args else None
    texts = _texts(first)
    if name in ("exec", "eval", "compile") and first is not None and _downloads(first):
        yield replace(outer, words=("python3", "-"), fed_by=replace(outer, words=("curl",)))
    elif isinstance(first, ast.Constant) and texts and (name in _SHELL or name in _STARTING):
        yield from pieces_of(texts[0], outer)
    elif name in _STARTING and texts:
        yield replace(outer, words=texts)
    elif name in _SQL and texts:
        yield replace(outer, words=("sqlite3", "-", *texts))
    elif name in _DELETING:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        path = texts or (_texts(owner.args[0]) if isinstance(owner, ast.Call) and owner.args else ())
        if path:
            yield replace(outer, words=("rm", "-r", "--", *path[:1]))


def _downloads(node: ast.expr) -> bool:
    inner = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
    return any(isinstance(func, ast.Attribute) and func.attr in _DOWNLOADING for func in inner)


def _texts(node: ast.expr | None) -> tuple[str, ...]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (node.value,)
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return ()
