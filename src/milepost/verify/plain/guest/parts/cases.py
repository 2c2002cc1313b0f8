"""The methods that a class of steps compares with."""

# ruff: noqa: N802, N815 -- the names are those of unittest
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from .compare import equal, same, shown
from .endings import Unequal, Unfit
from .raises import Raises, raises

_RUNNERS_OWN = frozenset(
    {"skipTest", "enterContext", "enterAsyncContext", "addAsyncCleanup", "id", "shortDescription", "run", "debug"}
    | {"addClassCleanup", "enterClassContext", "doClassCleanups", "doCleanups", "addTypeEqualityFunc", "maxDiff"}
    | {"countTestCases", "defaultTestResult", "failureException", "longMessage"}
    | {"_testMethodName", "_testMethodDoc", "_outcome", "_cleanups"}
)


class _Kind(type):
    def __getattr__(cls, name):
        return _missing(cls, name)


class Case(metaclass=_Kind):
    """The methods that a class of steps compares with."""

    def __init__(self):
        self.cleanups = []

    def __getattr__(self, name):
        return _missing(type(self), name)

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        pass

    def tearDown(self):
        pass

    def addCleanup(self, function, *given, **named):
        self.cleanups.append((function, given, named))

    def fail(self, msg=None):
        raise AssertionError(msg)

    def subTest(self, *_, **__):
        return _Block()

    def assertRaises(self, expected, *given, **named):
        named.pop("msg", None)
        return raises(expected, *given, **named)

    def assertRaisesRegex(self, expected, pattern, *given, **named):
        block = Raises(expected, getattr(pattern, "pattern", pattern))
        if not given:
            return block
        with block:
            return given[0](*given[1:], **named)

    def assertEqual(self, first, second, msg=None):
        equal(first, second)

    assertListEqual = assertTupleEqual = assertDictEqual = assertSetEqual = assertEqual
    assertSequenceEqual = assertMultiLineEqual = assertEqual

    def assertNotEqual(self, first, second, msg=None):
        _hold(not same(first, second), first, "!=", second)

    def assertTrue(self, expr, msg=None):
        _hold(expr, expr, "is", True)

    def assertFalse(self, expr, msg=None):
        _hold(not expr, expr, "is", False)

    def assertIs(self, first, second, msg=None):
        _hold(first is second, first, "is", second)

    def assertIsNot(self, first, second, msg=None):
        _hold(first is not second, first, "is not", second)

    def assertIsNone(self, obj, msg=None):
        _hold(obj is None, obj, "is", None)

    def assertIsNotNone(self, obj, msg=None):
        _hold(obj is not None, obj, "is not", None)

    def assertIn(self, member, container, msg=None):
        _hold(member in container, member, "in", container)

    def assertNotIn(self, member, container, msg=None):
        _hold(member not in container, member, "not in", container)

    def assertIsInstance(self, obj, cls, msg=None):
        _hold(isinstance(obj, cls), obj, "of", cls)

    def assertNotIsInstance(self, obj, cls, msg=None):
        _hold(not isinstance(obj, cls), obj, "not of", cls)

    def assertGreater(self, a, b, msg=None):
        _hold(a > b, a, ">", b)

    def assertGreaterEqual(self, a, b, msg=None):
        _hold(a >= b, a, ">=", b)

    def assertLess(self, a, b, msg=None):
        _hold(a < b, a, "<", b)

    def assertLessEqual(self, a, b, msg=None):
        _hold(a <= b, a, "<=", b)

    def assertAlmostEqual(self, first, second, places=7, msg=None, delta=None):
        near = abs(first - second) <= delta if delta is not None else round(abs(first - second), places) == 0
        _hold(first == second or near, first, "about", second)

    def assertCountEqual(self, first, second, msg=None):
        rest = list(second)
        for one in first:
            at = next((place for place, other in enumerate(rest) if same(one, other)), None)
            _hold(at is not None, one, "in", rest)
            del rest[at or 0]
        _hold(not rest, rest, "==", [])

    def assertRegex(self, text, expected_regex, msg=None):
        import re

        _hold(re.search(expected_regex, text), text, "matches", expected_regex)


def _missing(kind, name):
    if name.startswith("assert") or name in _RUNNERS_OWN:
        raise Unfit(f"there is no {name} here")
    raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")


class _Block:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def _hold(claim, first, word, second):
    if not claim:
        raise Unequal(f"{shown(first)} {word} {shown(second)}")
