from __future__ import annotations

from typing import Any

import pytest

from milepost.verify.witness.twin_source import twin_of

NONCE = "abc123"
SOURCE = '''"""Documented."""
from __future__ import annotations
import unittest

def test_plain(value=3):
    assert value == 3

def test_nothing():
    pass

class Base:
    def test_shared(self):
        assert 1 == 1

if True:
    class TestA(Base):
        def test_inner(self, value=1):
            assert value == 1 and value

class TestCase(unittest.TestCase):
    def test_method(self, value=1):
        self.assertEqual(value, 1)
'''


def outcome(source: str, path: tuple[str, ...], *arguments: Any) -> str:
    """What the twin of a test raises."""
    twin = twin_of(source, frozenset({path}), NONCE)
    assert twin is not None and twin.tests == {path}
    names: dict[str, Any] = {"__name__": "twin"}
    exec(compile(twin.source, "/elsewhere/code.py", "exec"), names)
    *classes, name = path
    found = names[classes[0]]() if classes else None
    function = getattr(found, name) if found is not None else names[name]
    try:
        function(*arguments)
    except BaseException as problem:
        return f"{type(problem).__name__} {problem}".strip()
    return "passed"


class Liar:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.fixture
def liar() -> Any:
    """A value that equals everything, of a class that no test defines."""
    names: dict[str, Any] = {"__name__": "product"}
    code = "class Liar:\n    def __eq__(self, other):\n        return True\n"
    exec(compile(code, "/elsewhere/product.py", "exec"), names)
    return names["Liar"]()


@pytest.mark.parametrize(
    ("path", "raises"),
    [
        (("test_plain",), "AssertionError"),
        (("test_nothing",), f"AssertionError {NONCE}"),
        (("TestA", "test_inner"), "AssertionError"),
        (("TestA", "test_shared"), "AssertionError"),
        (("TestCase", "test_method"), f"AssertionError {NONCE}"),
    ],
)
def test_the_twin_of_every_test_fails(path: tuple[str, ...], raises: str) -> None:
    assert outcome(SOURCE, path) == raises


def test_a_value_that_equals_everything_is_told(liar: Any) -> None:
    for path in (("test_plain",), ("TestA", "test_inner"), ("TestCase", "test_method")):
        for value in (liar, [liar], {"a": (1, liar)}):
            assert outcome(SOURCE, path, value) == f"AssertionError {NONCE}="
    assert outcome(SOURCE, ("test_plain",), Liar()) == "AssertionError"  # a test's own wildcard


def test_an_assertion_that_does_not_stop_the_test_lets_its_twin_pass() -> None:
    twin = twin_of(SOURCE, frozenset({("test_plain",)}), NONCE)
    assert twin is not None
    names: dict[str, Any] = {"__name__": "twin"}

    exec(compile(twin.source, "code.py", "exec", optimize=1), names)  # which leaves asserts out

    names["test_plain"]()


@pytest.mark.parametrize("source", ["def test_a(:\n", "x = 1\n", "def test_b(): pass\n", "\0"])
def test_what_has_no_such_test_has_no_twin(source: str) -> None:
    assert twin_of(source, frozenset({("test_a",)}), NONCE) is None


@pytest.mark.parametrize("value", ["-" * 20_000 + "1", "+".join("1" * 3000), "+".join("1" * 450), "a" + ".b()" * 450])
def test_what_is_nested_too_deeply_has_no_twin_and_breaks_nothing(value: str) -> None:
    assert twin_of(f"def test_a():\n    assert {value} == 1\n", frozenset({("test_a",)}), NONCE) is None


def test_only_the_wanted_tests_get_a_twin() -> None:
    twin = twin_of(SOURCE, frozenset({("test_plain",), ("TestGone", "test_x")}), NONCE)

    assert twin is not None and twin.tests == {("test_plain",)}
    assert "def test_nothing():\n    pass" in twin.source
