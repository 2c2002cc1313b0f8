"""Runs the plain tests of one Python file as a program, without a test runner.

    python -I -B plain_run.py CHANNEL FILE NAMES… < order

The order is a JSON object: `key` signs what is said, `path` goes before the import path. A test is plain when it is a
function of the file without parameters and decorators. `==` in its asserts is decided by the values, not by a class
that calls itself equal to whatever it is compared with. Nothing of a test runner is imported unless the file does it.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path

_PLAIN = (int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, type(None))
_LONGEST = 300


def main() -> None:
    channel, file, *names = sys.argv[1:]
    order = json.loads(sys.stdin.buffer.read().decode())
    descriptor = os.dup(1)
    os.dup2(2, 1)
    say = _load(channel).open_channel(descriptor, bytes.fromhex(order["key"]))
    say("hello", sys.version.split()[0])
    sys.path[:0] = [str(Path.cwd()), str(Path(file).absolute().parent), *order["path"]]
    sys.argv[:] = [file]
    try:
        module = _module(file)
    except BaseException as problem:
        say("crash", _text(problem))
        return
    for name in names:
        say("start", name)
        say(*_outcome(module, name))
    say("end")
    os._exit(0)  # what the product registered to happen at exit has no say any more


def _load(path: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("channel", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _module(file: str) -> types.ModuleType:
    """The file as a module, its comparisons watched; a folder of the checkout that it needs is found once it misses."""
    tree = ast.fix_missing_locations(_Exact().visit(ast.parse(Path(file).read_bytes(), file)))
    code = compile(tree, file, "exec", dont_inherit=True)
    tried: set[str] = set()
    while True:
        module = types.ModuleType(Path(file).stem)
        module.__file__ = str(Path(file).absolute())
        module.__dict__.update(__milepost_equal__=equal, __milepost_same__=same)
        sys.modules[module.__name__] = module
        try:
            exec(code, module.__dict__)  # noqa: S102 -- this is the program that is run
        except ModuleNotFoundError as problem:
            folder = _folder_with((problem.name or "").partition(".")[0])
            if not folder or folder in tried:
                raise
            tried.add(folder)
            sys.path.insert(0, folder)
        else:
            return module


class _Exact(ast.NodeTransformer):
    """`assert a == b` asks `equal(a, b)` instead, also inside `and`, `or` and `not`."""

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        node.test = self._watched(node.test, "__milepost_equal__")
        return node

    def _watched(self, test: ast.expr, asked: str) -> ast.expr:
        if isinstance(test, ast.BoolOp):
            inside = asked if isinstance(test.op, ast.And) else "__milepost_same__"
            test.values = [self._watched(value, inside) for value in test.values]
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test.operand = self._watched(test.operand, "__milepost_same__")
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            name = ast.copy_location(ast.Name(asked, ast.Load()), test)
            return ast.copy_location(ast.Call(name, [test.left, test.comparators[0]], []), test)
        return test


class Unequal(AssertionError):
    """Two values that a test compares are not the same, or only one of them says so."""


def equal(left: object, right: object) -> bool:
    """Whether two values are equal by what they are; raises `Unequal` where they are not, with both."""
    if not same(left, right):
        raise Unequal(f"{_shown(left)} == {_shown(right)}")
    return True


def same(left: object, right: object) -> bool:
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and type(left) is type(right):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict) and type(left) is type(right):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if type(left) in _PLAIN and type(right) in _PLAIN:
        return left == right
    if not _elsewhere(lambda: left == right):
        return False
    return not any(_equals_anything(one, other) for one, other in ((left, right), (right, left)))


def _equals_anything(one: object, other: object) -> bool:
    """Whether a value of somebody's own class is also equal to what the other side is not."""
    by_what_it_is = (object.__eq__, *(kind.__eq__ for kind in _PLAIN))
    if type(one).__eq__ in by_what_it_is or type(one).__module__ == "unittest.mock":
        return False
    strangers: list[object] = [object(), *_others(other)]
    return _elsewhere(lambda: any(bool(one == stranger) for stranger in strangers))


def _others(value: object) -> list[object]:
    """Values of the same type that are not this one."""
    noise = os.urandom(6).hex()
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float, complex)):
        return [value + 1 + int(noise, 16), -value - 7]
    if isinstance(value, str):
        return [value + noise, noise]
    if isinstance(value, bytes):
        return [value + noise.encode()]
    if isinstance(value, (list, tuple)):
        return [type(value)([*value, noise])] if type(value) in (list, tuple) else []
    if isinstance(value, dict):
        return [{**value, noise: noise}]
    return [{*value, noise}] if isinstance(value, (set, frozenset)) else []


def _elsewhere(ask: Callable[[], object]) -> bool:
    """The answer to a question that is asked where no frame of a test can be looked at."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(bool(ask()))
        except BaseException as problem:
            found.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return bool(found[0])


def _outcome(module: types.ModuleType, name: str) -> tuple[str, str, str]:
    try:
        getattr(module, name)()
    except BaseException as problem:
        if type(problem).__name__ in ("Skipped", "SkipTest"):
            return "skipped", name, _text(problem)
        return "failed", name, _text(problem)
    return "passed", name, ""


def _folder_with(name: str) -> str:
    """The folder of the checkout that has a module of this name, nearest to its top."""
    for place, folders, files in os.walk(Path.cwd()):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in ("node_modules", "venv"))
        if name and (f"{name}.py" in files or name in folders):
            return place
    return ""


def _shown(value: object) -> str:
    return f"{ascii(value)[:80]} ({type(value).__name__})"


def _text(problem: BaseException) -> str:
    """The class of an exception and the first line of what it says, never where it stands."""
    lines = str(problem).strip().splitlines()
    kind = "AssertionError" if isinstance(problem, Unequal) else type(problem).__name__
    return f"{kind}: {lines[0]}"[:_LONGEST] if lines else kind


if __name__ == "__main__":
    main()
