"""A Python test file as a plain module."""

from __future__ import annotations

import textwrap

import pytest

from milepost.verify.plain.python_file import plain_python


def plain(text: str) -> tuple[str, dict[str, str], str]:
    found = plain_python(textwrap.dedent(text).encode())
    return found.source, dict(found.names), found.problem


def test_functions_classes_and_runners_get_neutral_names() -> None:
    source, names, _ = plain("""
        import os, pytest
        import unittest.mock as mocking
        from pytest import raises as fails
        from unittest import TestCase

        def test_one():
            with pytest.raises(ValueError):
                test_one.done

        class TestTwo(TestCase):
            def test_three(self):
                self.test_three
    """)

    assert names == {"test_one": "step_1", "TestTwo::test_three": "Group2.step_3"}
    assert "test" not in source.replace("TestCase", "")
    assert source.splitlines()[:4] == [
        "import os",
        "mocking = _kit.mock",
        "fails = _kit.raises",
        "TestCase = _kit.TestCase",
    ]


def test_equality_is_asked_of_the_kit() -> None:
    source, _, _ = plain("def test_one():\n    assert f(1) == 2 and (a == b or not c == d)\n    assert x in y\n")

    assert "assert _kit.equal(f(1), 2) and (_kit.same(a, b) or not _kit.same(c, d))" in source
    assert "assert x in y" in source


def test_a_name_of_the_product_is_asked_for_one_by_one() -> None:
    source, _, _ = plain("from os import path\nfrom hours import seconds as s, minutes\n")

    assert source == "from os import path\ns = _kit.need('hours', 'seconds')\nminutes = _kit.need('hours', 'minutes')"


def test_tests_are_plain_that_take_values_and_fixtures_of_the_file() -> None:
    _, names, _ = plain("""
        import pytest

        @pytest.fixture
        def cart(tmp_path): ...

        @pytest.fixture
        def shop(database): ...

        @pytest.mark.parametrize("a, b", [(1, 2)])
        @pytest.mark.slow
        def test_values(a, b, cart, tmp_path, more=None): ...

        @pytest.mark.parametrize("a", [1], indirect=True)
        def test_indirect(a): ...

        def test_elsewhere(shop): ...

        def test_unknown(capsys): ...

        async def test_later(): ...

        class TestOfAnother(Base):
            def test_inherited(self): ...

        class TestPlain:
            def setup_method(self): ...
            def test_one(self, cart): ...
            def test_two(self, request): ...
    """)

    assert list(names) == ["test_values", "TestPlain::test_one"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def test(:", "it cannot be parsed"),
        ("from .helpers import cart", "it imports from beside it"),
        ("import _pytest.config", "it imports _pytest.config"),
        ("from tests.helpers import cart", "it imports tests.helpers"),
        ("from pytest import *", "it imports all of its runner"),
        ("@pytest.fixture(autouse=True)\ndef f(): ...", "it uses fixtures that its tests do not name"),
        ("def setup_module(): ...", "setup_module is for a runner"),
    ],
)
def test_a_file_that_needs_its_runner_says_why(text: str, problem: str) -> None:
    assert plain(text) == ("", {}, problem)


def test_a_file_that_asks_where_it_is_is_told_its_own_place() -> None:
    found = plain_python(b"HERE = __file__\ndef test_one(): ...\n", "/checkout/tests/test_cart.py")

    assert found.source.startswith("HERE = '/checkout/tests/test_cart.py'")
    assert list(found.names) == ["test_one"]
