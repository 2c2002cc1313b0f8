"""The pure transformations of the counter-proof: what they make parses, keeps types, and is not equal."""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.change import ChangedFile
from milepost.core.verdict import TestOutcome
from milepost.verify.counterproof import expectations_javascript, sabotage_javascript
from milepost.verify.counterproof.audit import audit_check
from milepost.verify.counterproof.check import Chosen, TrialOutcome, judged
from milepost.verify.counterproof.declarations import declares
from milepost.verify.counterproof.expectations_python import altered
from milepost.verify.counterproof.sabotage_python import sabotaged
from milepost.verify.suites.suite import AuditNote
from milepost.verify.witness.guest.other import NoOther, Other

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(VALUES, st.text(alphabet="0123456789abcdef", min_size=1))
def test_another_value_has_the_same_type_and_is_not_equal(value: Any, seed: str) -> None:
    other = Other(seed)(value)

    assert other != value
    assert value is None or type(other) is type(value)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Point:
    x: int


class Anything:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_values_of_classes_have_others_unless_they_equal_everything() -> None:
    draw = Other("1")
    assert (draw(Colour.RED), draw(Point(1)) != Point(1)) == (Colour.BLUE, True)
    assert not issubclass(draw(ValueError), ValueError)
    assert draw([mock.ANY, 3])[1] != 3
    assert draw(pytest.approx(0.3)) != 0.3
    for value in (mock.ANY, Anything(), [mock.ANY], {"a": Anything()}):
        with pytest.raises(NoOther):
            draw(value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def a(): return 1\n", "def a(): T(); return 1\n"),
        ('def a():\n    "doc"\n', 'def a():\n    "doc"; T()\n'),
        ('def a():\n    "doc"\n    return 1\n', 'def a():\n    "doc"\n    T()\n    return 1\n'),
        ("f = lambda x: x\n", "f = lambda x: (T(), (x))[1]\n"),
        ("async def a():\n  if 1:\n    pass\n", "async def a():\n  T()\n  if 1:\n    pass\n"),
        (
            "def a():\n    @b\n    def c(): pass\n    return c\n",
            "def a():\n    T()\n    @b\n    def c(): T(); pass\n    return c\n",
        ),
    ],
)
def test_every_python_function_is_wired(source: str, expected: str) -> None:
    assert sabotaged(source.encode(), "T") == expected.encode()


def test_what_has_no_function_or_is_no_python_is_not_wired() -> None:
    for source in ("X = 1\n", "def a(:\n", "\0"):
        assert sabotaged(source.encode(), "T") is None


def test_code_that_hides_in_the_encoding_of_a_comment_is_seen() -> None:
    hidden = b"# coding: utf-7\n# +AAo-def work(): return 1\n"

    found = sabotaged(hidden, "T")

    assert found is not None and b"\ndef work(): T(); return 1" in found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("function f() { return 1 }", "function f() { T();  return 1 }"),
        ("const f = (x) => x;", "const f = (x) => (T(), x);"),
        ("const f = () => ({ a: 1 });", "const f = () => (T(), ({ a: 1 }));"),
        ("class A { x = 1; static y = 2 }", "class A { x = (T(), 1); static y = 2 }"),
        ("class A { get z() { return 3 } }", "class A { get z() { T();  return 3 } }"),
        ("function* g() { yield 1 }", "function* g() { T();  yield 1 }"),
        ('function f() { "use strict"; return 1 }', 'function f() { "use strict"; T();  return 1 }'),
    ],
)
def test_every_javascript_function_is_wired(source: str, expected: str) -> None:
    assert sabotage_javascript.sabotaged("a.js", source.encode(), "T") == expected.encode()
    assert sabotage_javascript.sabotaged("a.js", b"const x = 1;", "T") is None


PYTHON_TESTS = {
    "assert f() == 3600": "assert f() == ",
    "assert 3600 == f()": "== f()",
    "assert f() == g": "assert f() == O(g)",
    "assert f() == {'a': g(), 'b': 'text'}": "assert f() == {'a': g(), 'b': '",
    "assert f()": "assert not (f())",
    "assert f() != 3": "assert not (f() != 3)",
    "assert x in f()": "assert not (x in f())",
    "self.assertEqual(f(), 3)": "self.assertEqual(f(), ",
    "self.assertTrue(f())": "self.assertFalse(f())",
    "with pytest.raises(ValueError): f()": "with pytest.raises(O(ValueError)): f()",
    "f()": "    f()\n    assert ",
}


@pytest.mark.parametrize("statement", PYTHON_TESTS)
def test_what_a_python_test_expects_is_replaced(statement: str) -> None:
    source = f"def test_a():\n    {statement}\n"

    found = altered(source.encode(), frozenset({("test_a",)}), "O", "1")

    assert found is not None and found.tests == {("test_a",)}
    assert found.source != source.encode() and PYTHON_TESTS[statement] in found.source.decode()
    ast.parse(found.source)


def test_a_parameter_that_is_only_compared_is_replaced_where_a_caller_would_be_looked_at() -> None:
    found = altered(b"def test_a(x, wanted):\n    assert f(x) == wanted\n", frozenset({("test_a",)}), "O", "1")

    assert found is not None
    assert found.source == b"def test_a(x, wanted):\n    wanted = O(wanted)\n    assert f(x) == wanted\n"


@pytest.mark.parametrize(
    "body",
    [
        "if f():\n        assert f() == 3\n    return",
        "for x in f():\n        assert x == 3\n    return",
        "try:\n        assert f() == 3\n    except AssertionError:\n        return",
        "with pytest.raises((A, B)):\n        assert f() == 2\n    return",
        "def inner():\n        assert f() == 3\n    return inner",
    ],
)
def test_a_test_that_may_pass_all_the_same_is_not_said_to_have_to_fail(body: str) -> None:
    found = altered(f"def test_a():\n    {body}\n".encode(), frozenset({("test_a",)}), "O", "1")

    assert found is None


JAVASCRIPT_TESTS = {
    "assert.equal(f(), 3600)": "assert.equal(f(), ",
    "assert.deepStrictEqual(f(), { a: [1], b: g })": "b: g })",
    "assert.strictEqual(f(), g)": "assert.strictEqual(f(), O(g))",
    "assert.ok(f())": "assert.ok(!(f()))",
    "expect(f()).toBe('abc')": "expect(f()).toBe('",
    "expect(f()).not.toBe(3)": "expect(f()).toBe(3)",
    "expect(f()).toBeNull()": "expect(f()).not.toBeNull()",
    "t.is(f(), -1)": "t.is(f(), -",
}


@pytest.mark.parametrize("statement", JAVASCRIPT_TESTS)
def test_what_a_javascript_test_expects_is_replaced(statement: str) -> None:
    source = f'describe("a", () => {{ it("b", async (t) => {{ {statement}; }}); }});\n'.encode()

    found = expectations_javascript.altered("a.test.js", source, frozenset({"a > b"}), "O", "1")

    assert found is not None and found.tests == {"a > b"}
    assert found.source != source and JAVASCRIPT_TESTS[statement] in found.source.decode()
    unsure = source.replace(b"async (t) => {", b"async (t) => { if (x) ")
    assert expectations_javascript.altered("a.test.js", unsure, frozenset({"a > b"}), "O", "1") is None


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        ("a.py", "X = 1\n", "X = 2\n", True),
        ("a.py", "def f():\n    return 1\n", "def f():\n    return 2\n", False),
        ("a.py", "class A:\n    x: int = 1\n", "class A:\n    x: int = 2\n", True),
        ("a.py", "X = 1\n", "X = 2\nimport pytest\npytest.fail = print\n", False),
        ("a.py", "", "def f(): pass\nf()\n", False),
        ("a.js", "const x = 1;\n", "const x = 2;\n", True),
        ("a.js", "exports.f = () => 1;\n", "exports.f = () => 2;\n", False),
        ("a.js", "", "setTimeout(() => 1);\n", False),
        ("data.json", "1", "2", True),
    ],
)
def test_a_change_outside_of_functions_declares(path: str, before: str, after: str, expected: bool) -> None:
    assert declares(ChangedFile(path=path, before=before.encode(), after=after.encode())) == expected


BOTH = frozenset({"a", "b"})


@pytest.mark.parametrize(
    ("without", "otherwise", "before", "outside", "outcome"),
    [
        ((), (), "failed", False, "passed"),
        (("a", "b"), (), "failed", False, "failed"),
        (("a",), (), "failed", False, "held"),
        (("a",), (), None, False, "passed"),
        (("a", "b"), (), None, False, "failed"),
        (("a", "b"), (), "failed", True, "passed"),
        ((), ("a", "b"), "failed", False, "failed"),
        ((), ("a",), "failed", False, "held"),
        (("a", "b"), ("a",), "failed", True, "held"),
    ],
)
def test_what_stays_green_is_judged(
    without: tuple[str, ...], otherwise: tuple[str, ...], before: TestOutcome | None, outside: bool, outcome: str
) -> None:
    told = judged(
        Chosen(deciding=("a", "b"), before=dict.fromkeys("ab", before)),
        TrialOutcome(ids=BOTH, green=frozenset(without)),
        TrialOutcome(ids=BOTH, green=frozenset(otherwise)),
        declares_outside=outside,
    )

    assert (told.outcome, bool(told.questions)) == (outcome, outcome == "held")


def test_a_test_that_nothing_could_be_tried_on_says_so() -> None:
    told = judged(Chosen(deciding=("a",)), TrialOutcome(), TrialOutcome(), declares_outside=False)

    assert (told.outcome, told.summary) == (
        "absent",
        "nothing could be tried: none of their expectations can be replaced",
    )


def test_only_what_the_base_did_not_do_is_asked_about() -> None:
    looks = AuditNote(what="looks at the frames of its callers", path="a.py", line=3)
    reads = AuditNote(what="reads the code of a test", path="a.py", line=7)

    assert audit_check((looks,), (AuditNote(what=looks.what, path="a.py", line=9),)).outcome == "passed"
    assert audit_check(None, None).outcome == "absent"
    held = audit_check((looks, reads), (looks,))
    assert (held.outcome, [(each.kind, each.path, each.line) for each in held.questions]) == (
        "held",
        [("audit", "a.py", 7)],
    )


BUILT = """
from demo.shapes import Vector, add
from collections import OrderedDict
def test_it():
    {claim}
"""


@pytest.mark.parametrize(
    ("claim", "replaced"),
    [
        ("assert add(1) == Vector(4, y=[6, -7], z=None)", 3),
        ("assert Vector.of('4') == add(Vector(1, 2))", 1),
        ("assert {'a': add(1)} == {'a': Vector(4, rows[0])}", 1),
        ("want = Vector(4, 6)\n    assert add(1) == want", 2),
        ("zero = Vector(0, 0)\n    assert add(zero) == zero", 0),
        ("assert add(1) == OrderedDict(a=1)", 0),
        ("assert add(1) == add(2)", 0),
        ("assert Vector.of(1).plus(2) == total", 0),
        ("if odd:\n        assert add(1) == Vector(4, 6)", 0),
    ],
)
def test_of_what_a_test_builds_to_compare_with_only_the_literals_are_replaced(claim: str, replaced: int) -> None:
    source = BUILT.format(claim=claim)

    found = altered(source.encode(), frozenset({("test_it",)}), "_o", "1", product=("src/demo/shapes.py",))

    assert (found is not None) == bool(replaced)
    if found is not None:
        before, after = (
            [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
            for text in (source, found.source)
        )
        assert [type(value) for value in before] == [type(value) for value in after]
        assert sum(one != other for one, other in zip(before, after, strict=True)) == replaced


BUILT_SCRIPT = """
import test from "node:test";
import { Money, add } from "../money.js";
const { Rate } = require("./rate");
import { Big } from "big";
test("it", () => { CLAIM });
"""


@pytest.mark.parametrize(
    ("claim", "kept"),
    [
        ('assert.deepEqual(add(1), new Money(425, "EUR"));', "deepEqual(add(1), new Money("),
        ("expect(add(1)).toEqual([Rate.of({ cents: -7 })]);", "expect(add(1)).toEqual([Rate.of({ cents: -"),
        ("assert.deepEqual(new Money(4), add(new Money(1)));", "new Money(1))"),
        ("assert.deepEqual(Money.of(1).plus(2), total);", ""),
        ("assert.deepEqual(add(1), new Big(2));", ""),
        ("assert.deepEqual(add(1), new Date(2));", ""),
    ],
)
def test_of_what_a_script_builds_to_compare_with_only_the_literals_are_replaced(claim: str, kept: str) -> None:
    source = BUILT_SCRIPT.replace("CLAIM", claim)

    found = expectations_javascript.altered("a.test.js", source.encode(), frozenset({"it"}), "_o", "1", built=True)

    assert (found is not None) == bool(kept)
    if found is not None:
        assert kept in found.source.decode() and claim not in found.source.decode()
