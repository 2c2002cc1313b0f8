"""How the variables of a code agent outlive its session: each is kept as what pickle makes of it.

This file is sent to the session as text and runs there, with the standard library only. Everything it says is the
code's own word. What was kept is read again nowhere but in a session.
"""

from __future__ import annotations

import ast
import base64
import io
import pickle
import sys
import types
from typing import Any

LONGEST_ANSWER = 1_000_000
SESSION = "walls.guest"  # what serves the session that this runs in

_REMADE = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class VariableKeeper:
    """Keeps what the variables of a namespace hold, within a size, so that another session can have them.

    What is in the namespace when it begins is not the code's.
    """

    def __init__(self, namespace: dict[str, Any], most_bytes: int) -> None:
        self._namespace = namespace
        self._most_bytes = most_bytes
        self._kept: dict[str, bytes] = {}
        self._steps = 0
        self._brought = dict(namespace)

    def step(self, code: str) -> dict[str, Any]:
        """Run the code of a step; what it says of itself, and what another session would need now."""
        self._steps += 1
        said: dict[str, Any] = sys.modules[SESSION].run(code, f"<step {self._steps}>", self._namespace)
        if len(said["final_json"]) > LONGEST_ANSWER:
            error = f"ValueError: the final answer is longer than {LONGEST_ANSWER} bytes"
            said.update(error=error, is_final=False, final_json="null", verified_by=None)
        return {**said, "kept": self.changes()}

    def changes(self) -> dict[str, Any]:
        """What another session needs beyond what it was told before: `put` are values, `names` all that there are."""
        now, left = {}, self._most_bytes
        for name, value in self._own().items():
            if not _is_remade(value) and (text := _pickled(value, left)) is not None:
                now[name] = text
                left -= len(text)
        put = {name: text for name, text in now.items() if self._kept.get(name) != text}
        gone = [name for name in self._kept if name not in now]
        self._kept = now
        put_as_text = {name: base64.b85encode(text).decode() for name, text in put.items()}
        return {"put": put_as_text, "gone": gone, "names": list(self._own())}

    def restore(self, blocks: list[str], values: dict[str, str], names: list[str], code: str) -> dict[str, Any]:
        """Make again what earlier code imported and defined, and give variables their values.

        A definition may need a value, and a value a definition: what fails is tried once more. Says which `names` are
        lost, and which of them the next `code` needs.
        """
        texts = dict(values)
        made = [statement for block in blocks for statement in _statements(block)]
        for _ in range(2):
            made = [statement for statement in made if not self._make(statement)]
            texts = {name: text for name, text in texts.items() if not self._put(name, text)}
        self._kept = {name: base64.b85decode(text) for name, text in values.items() if name not in texts}
        lost = sorted(set(names) - set(self._namespace))
        return {"lost": lost, "needed": [name for name in lost if name in _needed_by(code)], "kept": self.changes()}

    def _own(self) -> dict[str, Any]:
        """What the code has put there itself."""
        return {
            name: value
            for name, value in list(self._namespace.items())
            if not name.startswith("__")
            and type(value).__name__ != "_Tool"
            and not (name in self._brought and self._brought[name] is value)
            and name != "final_answer"
            and not (isinstance(value, io.IOBase) and value.closed)
        }

    def _make(self, statement: ast.stmt) -> bool:
        try:
            exec(compile(ast.Module([statement], []), "<earlier>", "exec"), self._namespace)  # noqa: S102
        except Exception:
            return False
        return True

    def _put(self, name: str, text: str) -> bool:
        try:
            kept = base64.b85decode(text)
            self._namespace[name] = pickle.loads(kept)  # noqa: S301 - it runs where the code runs that made it
        except Exception:
            return False
        return True


class _Bounded:
    """A file that takes so many bytes and no more."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self.pieces: list[bytes] = []

    def write(self, piece: Any) -> int:
        text = bytes(piece)
        self._left -= len(text)
        if self._left < 0:
            raise OverflowError
        self.pieces.append(text)
        return len(text)


def _pickled(value: Any, most_bytes: int) -> bytes | None:
    """The value as bytes; None when it cannot be, or is too large."""
    file = _Bounded(most_bytes)
    try:
        if sys.getsizeof(value) > most_bytes:  # some make a copy of themselves first
            return None
        pickle.Pickler(file).dump(value)
    except Exception:
        return None
    return b"".join(file.pieces)


def _is_remade(value: Any) -> bool:
    """Whether running the code's own imports and definitions brings it back."""
    is_definition = isinstance(value, types.FunctionType | type) and value.__module__ == "__main__"
    return isinstance(value, types.ModuleType) or is_definition


def _statements(block: str) -> list[ast.stmt]:
    try:
        return [statement for statement in ast.parse(block).body if isinstance(statement, _REMADE)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _needed_by(code: str) -> set[str]:
    """The names that code uses and does not define itself."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    return {name.id for name in names} - bound
