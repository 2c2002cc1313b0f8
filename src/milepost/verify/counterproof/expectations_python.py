"""Other expectations for Python tests: what a test compares with is replaced by another value of the same type."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from milepost.sources.python_tree import last_name
from milepost.verify.counterproof.built_python import Built, given
from milepost.verify.counterproof.edits import Edit, PythonText, is_python, read_python, spliced
from milepost.verify.counterproof.python_tests import Function, find_test
from milepost.verify.witness.guest.other import NoOther, Other

EQUALITIES = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual"}
    | {"assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual", "assertAlmostEqual", "assert_equal"}
    | {"assert_allclose", "assert_array_equal", "assert_almost_equal", "assert_frame_equal", "assert_series_equal"}
)
_PAIRS = (
    ("assertTrue", "assertFalse"),
    ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
    ("assertRegex", "assertNotRegex"),
    ("assert_called", "assert_not_called"),
)
_OPPOSITES = {
    **dict(_PAIRS),
    **{second: first for first, second in _PAIRS},
    "assertNotEqual": "assertEqual",
    "assertNotAlmostEqual": "assertAlmostEqual",
}
_HELPER = re.compile(r"_?(?:assert|expect|ensure|verify|compare|should|must)(?![a-z])|\w+_(?:equal|same|close)$")
_OTHER_CLAIM = re.compile(
    r"not|less|greater|raise|warn|call|contain|match|_in(?![a-z])|type|instance|true|false|log", re.IGNORECASE
)
_BUILT = 3
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
_LOSE_FAILURES = _RAISES | {"suppress"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Altered:
    """`tests` are those that must fail in `source`: something that they compare for certain was replaced."""

    source: bytes
    tests: frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alteration:
    """`rank` 0 is a value that is expected, 1 an exception, 2 a claim turned round, _BUILT parts of a value."""

    edits: tuple[Edit, ...]
    rank: int
    certain: bool


def altered(
    source: bytes,
    wanted: frozenset[tuple[str, ...]],
    other: str,
    seed: str,
    *,
    last: bool = False,
    product: tuple[str, ...] = (),
) -> Altered | None:
    """The test file with other expectations in the wanted tests; None where there is nothing to replace.

    Values that are expected are replaced where a test has any, all at once: a claim that is turned round says less, as
    it fails for a value that equals everything, too. `other` is the name of the function that replaces a value at run
    time. With `last` only the last expectation of tests that have several is replaced. With `product`, which are its
    files, nothing is but the values in the objects of its classes that a test builds to compare with.
    """
    read = read_python(source)
    if read is None:
        return None
    edits: list[Edit] = []
    tests: set[tuple[str, ...]] = set()
    seen: dict[Function, bool] = {}
    draw = Other(seed)
    for path in sorted(wanted):
        function = find_test(read.tree, path)
        if function is None:
            continue
        if function in seen:
            tests |= {path} if seen[function] else set()
            continue
        names = _Names(function, read, other, draw)
        built = Built(read, draw, product, names.compared)
        found = list(_Reading(read, other, draw, names, built).of_block(function.body, certain=True))
        if product:
            chosen = [each for each in found if each.rank == _BUILT]
        else:
            chosen = _chosen(found, last=last) or ([] if last else [*_failing_end(function, read, draw)])
        seen[function] = any(each.certain for each in chosen)
        edits += dict.fromkeys(edit for each in chosen for edit in each.edits)
        tests |= {path} if seen[function] else set()
    changed = spliced(read.text, edits)
    return Altered(source=changed, tests=frozenset(tests)) if tests and is_python(changed) else None


def _chosen(found: list[_Alteration], *, last: bool) -> list[_Alteration]:
    for rank in range(_BUILT):
        same = [each for each in found if each.rank == rank]
        certain = [each for each in same if each.certain]
        if certain:
            return same if not last else certain[-1:] if len(certain) > 1 else []
    return []


def _failing_end(function: Function, read: PythonText, draw: Other) -> Iterator[_Alteration]:
    """A test that expects nothing gets an expectation that is not met, where its end is always reached."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Raise):
            return
        if isinstance(node, ast.Call) and last_name(node.func) in {"skip", "skipTest", "xfail", "exit", "importorskip"}:
            return
    number = draw(417)
    yield _Alteration(edits=(read.at_end(function, f"assert {number} == {draw(number)}"),), rank=0, certain=True)


class _Names:
    """Parameters and local literals that are only compared: who looks them up at the caller finds the other value."""

    def __init__(self, function: Function, read: PythonText, other: str, draw: Other) -> None:
        self.edits: dict[str, tuple[Edit, ...]] = {}
        self.compared: dict[str, tuple[ast.expr, ...]] = {}
        self.from_calls: set[str] = set()
        compared = {id(side) for node in ast.walk(function) for side in _sides(node) if not _is_of_names(node)}
        uses: dict[str, list[ast.Name]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                uses.setdefault(node.id, []).append(node)
        literals: dict[str, ast.expr] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                literals[node.targets[0].id] = node.value
                if any(isinstance(each, ast.Call | ast.Await) for each in ast.walk(node.value)):
                    self.from_calls.add(node.targets[0].id)
        for name, found in uses.items():
            stores = [use for use in found if not isinstance(use.ctx, ast.Load)]
            only_compared = all(id(use) in compared for use in found if isinstance(use.ctx, ast.Load))
            if only_compared and len(stores) == 1 and name in literals:
                self.compared[name] = (literals[name],)
                edit = _other_literal(literals[name], read, draw)
                if edit is not None:
                    self.edits[name] = (edit,)
            elif only_compared and not stores and name in _parameters(function):
                self.compared[name] = tuple(given(function, name))
                self.edits[name] = (read.at_head(function, f"{name} = {other}({name})"),)


def _is_of_names(node: ast.AST) -> bool:
    """Whether a node compares one name with another: both may be altered, and be equal again."""
    return all(isinstance(side, ast.Name) for side in _sides(node))


def _parameters(function: Function) -> set[str]:
    arguments = function.args
    return {each.arg for each in (*arguments.args, *arguments.kwonlyargs)} - {"self", "cls"}


def _sides(node: ast.AST) -> tuple[ast.expr, ...]:
    """What a node compares for equality."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return (node.left, node.comparators[0])
    if isinstance(node, ast.Call) and len(node.args) > 1 and _compares(node.func):
        first, second, *_ = node.args
        return () if isinstance(first, ast.Starred) or isinstance(second, ast.Starred) else (first, second)
    return ()


def _compares(function: ast.expr) -> bool:
    """Whether a function says that two things are equal: a runner's own, or a helper that is called so."""
    if last_name(function) in EQUALITIES:
        return True
    return isinstance(function, ast.Name) and bool(_HELPER.match(function.id)) and not _OTHER_CLAIM.search(function.id)


class _Reading:
    """What of a test's own statements can be altered; functions and classes within are left alone."""

    def __init__(self, read: PythonText, other: str, draw: Other, names: _Names, built: Built) -> None:
        self._read = read
        self._other = other
        self._draw = draw
        self._names = names
        self._built = built

    def of_block(self, body: list[ast.stmt], *, certain: bool) -> Iterator[_Alteration]:
        for node in body:
            yield from self._of(node, certain)

    def _of(self, node: ast.stmt, certain: bool) -> Iterator[_Alteration]:
        match node:
            case ast.Assert(test=test):
                yield from self._of_claim(test, certain)
            case ast.Expr(value=ast.Call() as call):
                yield from self._of_call(call, certain)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                calls = [item.context_expr for item in items if isinstance(item.context_expr, ast.Call)]
                for call in calls:
                    yield from self._of_raises(call, certain)
                if not any(last_name(call.func) in _LOSE_FAILURES for call in calls):
                    yield from self.of_block(body, certain=certain)
            case ast.For(iter=values, body=body):
                yield from self.of_block(body, certain=certain and _is_never_empty(values))
            case ast.If(body=body, orelse=orelse):
                yield from self.of_block([*body, *orelse], certain=False)
            case ast.Try(body=body, handlers=[]):
                yield from self.of_block(body, certain=certain)

    def _of_claim(self, test: ast.expr, certain: bool) -> Iterator[_Alteration]:
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        for part in parts:
            sides = _sides(part) if isinstance(part, ast.Compare) else ()
            if sides:
                yield from self._of_comparison(sides, certain)
        yield _Alteration(edits=self._read.around(test, "not (", ")"), rank=2, certain=certain)

    def _of_call(self, call: ast.Call, certain: bool) -> Iterator[_Alteration]:
        sides = _sides(call)
        if sides:
            yield from self._of_comparison(sides, certain)
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _OPPOSITES:
            end = self._read.end(call.func)
            edit = Edit(start=end - len(call.func.attr), end=end, text=_OPPOSITES[call.func.attr])
            yield _Alteration(edits=(edit,), rank=2, certain=certain)
        else:
            yield from self._of_raises(call, certain)

    def _of_raises(self, call: ast.Call, certain: bool) -> Iterator[_Alteration]:
        if last_name(call.func) in _RAISES and call.args and isinstance(call.args[0], ast.Name | ast.Attribute):
            edits = self._read.around(call.args[0], f"{self._other}(", ")")
            yield _Alteration(edits=edits, rank=1, certain=certain)

    def _of_comparison(self, sides: tuple[ast.expr, ...], certain: bool) -> Iterator[_Alteration]:
        yield _Alteration(edits=self._of_sides(*sides), rank=0, certain=certain)
        if built := self._built.other(*sides):
            yield _Alteration(edits=built, rank=_BUILT, certain=certain)

    def _of_sides(self, left: ast.expr, right: ast.expr) -> tuple[Edit, ...]:
        side = left if self._is_rather_expected(left, right) else right
        if isinstance(side, ast.Name) and side.id in self._names.edits:
            return self._names.edits[side.id]
        target = side.args[0] if isinstance(side, ast.Call) and last_name(side.func) == "approx" and side.args else side
        edit = _other_literal(target, self._read, self._draw)
        return (edit,) if edit is not None else self._read.around(side, f"{self._other}(", ")")

    def _is_rather_expected(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether the left side is what a test expects: it stands for itself, and the right one was got by a call."""
        return self._computed(left) < self._computed(right)

    def _computed(self, node: ast.expr) -> int:
        if _literal(node) is not None:
            return 0
        if isinstance(node, ast.Call) and last_name(node.func) == "approx":
            return 0
        if isinstance(node, ast.Name) and node.id in self._names.edits:
            return 1
        calls = any(isinstance(each, ast.Call | ast.Await) for each in ast.walk(node))
        got = any(isinstance(each, ast.Name) and each.id in self._names.from_calls for each in ast.walk(node))
        return 3 if calls or got else 2


def _literal(node: ast.expr) -> tuple[object] | None:
    """The value of a literal, in a tuple; None for anything else."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _other_literal(node: ast.expr, read: PythonText, draw: Other) -> Edit | None:
    """Another literal in the place of one; in a container that holds more than literals, of one of its parts."""
    found = _literal(node)
    if found is not None:
        try:
            text = repr(draw(found[0]))
            return read.instead(node, text) if _literal(ast.parse(text, mode="eval").body) is not None else None
        except (NoOther, SyntaxError):
            return None
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = [value for key, value in zip(node.keys, node.values, strict=True) if key is not None]
    else:
        return None
    return next((edit for part in parts if (edit := _other_literal(part, read, draw)) is not None), None)


def _is_never_empty(node: ast.expr) -> bool:
    """Whether a loop over this is run at least once, as far as its text tells."""
    match node:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            return any(not isinstance(each, ast.Starred) for each in elts)
        case ast.Dict(keys=keys):
            return bool(keys)
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(number))]):
            return number > 0
        case ast.Call(func=ast.Name(id="enumerate" | "sorted" | "reversed" | "list"), args=[inner, *_]):
            return _is_never_empty(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="items" | "values" | "keys")):
            return _is_never_empty(inner)
    return False
