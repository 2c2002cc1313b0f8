"""Tests that must fail, planted among the project's own."""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Iterable
from typing import Any

_SOURCES = {
    "function": "def {name}():\n    assert {left} == {right}, {token!r}\n",
    "method": (
        "import unittest\nclass {group}(unittest.TestCase):\n"
        "    def {name}(self):\n        self.assertEqual({left}, {right}, {token!r})\n"
    ),
    "plain method": (
        "import unittest\nclass {group}(unittest.TestCase):\n"
        "    def {name}(self):\n        assert {left} == {right}, {token!r}\n"
    ),
}


class Planting:
    """Makes planted tests that look like their neighbours, at places drawn from the order's seed."""

    def __init__(self, *, seed: str, tokens: list[str]) -> None:
        self.tokens = tuple(tokens)
        self._given: set[str] = set()
        self._random = random.Random(seed)  # noqa: S311 -- one of our own: the project's may be seeded by its tests

    def choose(self, places: list[Any]) -> Any:
        return self._random.choice(places)

    def name(self, names: Iterable[str]) -> str:
        """A name made of the words of others, and none of them."""
        taken = self._given.union(names)
        words = sorted({word for name in taken for word in name.partition("[")[0].split("_") if word.isidentifier()})
        words = [word for word in words if word.lower() not in ("", "test", "tests")] or ["value"]
        for length in itertools.count(2):  # pragma: no branch
            name = "_".join(["test", *(self._random.choice(words) for _ in range(length))])
            if name not in taken:
                self._given.add(name)
                return name
        raise AssertionError

    def tree(self, kind: str, name: str, token: str, group: str = "") -> ast.Module:
        """A test that compares two numbers and says `token`; a method is in the class `group`."""
        left, right = self._random.sample(range(1000), 2)
        return ast.parse(_SOURCES[kind].format(name=name, group=group, left=left, right=right, token=token))

    def define(self, tree: ast.Module, file: str, module: str, rewrite: Any = None) -> Any:
        """The last thing that a tree defines, as if it stood in `file`; `rewrite` is what pytest does to asserts."""
        if rewrite is not None:
            rewrite(tree, b"")
        names: dict[str, Any] = {"__name__": module, "__file__": file}
        exec(compile(tree, file, "exec", dont_inherit=True), names)  # noqa: S102 -- our own source, above
        return list(names.values())[-1]


def text_of(problem: BaseException, longest: int = 20_000) -> str:
    """What an exception says of itself; it is the project's own, and may not even know that."""
    try:
        text = str(problem)
        return str.__getitem__(text, slice(0, longest))
    except BaseException as worse:
        return f"(it cannot be told: {type(worse).__name__})"
