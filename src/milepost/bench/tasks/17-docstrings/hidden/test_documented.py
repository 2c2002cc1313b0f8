import ast
import doctest
import inspect
from pathlib import Path

import geometry
import pytest

WAS = """
from math import hypot
def distance(a, b):
    return hypot(b[0] - a[0], b[1] - a[1])
def midpoint(a, b):
    return _half(a[0] + b[0]), _half(a[1] + b[1])
def scaled(point, factor=2):
    return point[0] * factor, point[1] * factor
def _half(number):
    return number / 2
"""


@pytest.mark.parametrize("name", ["distance", "midpoint", "scaled"])
def test_each_says_something_and_calls_itself(name):
    text = inspect.getdoc(getattr(geometry, name))
    words, _, example = text.partition(">>>")
    assert len(words.split()) >= 3 and name in example


def test_the_module_says_something():
    assert len(geometry.__doc__.split()) >= 2


def test_the_examples_hold():
    outcome = doctest.testmod(geometry)
    assert outcome.failed == 0 and outcome.attempted >= 3


def without_docstrings(source):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def test_the_code_stays(result):
    assert without_docstrings((Path(result) / "geometry.py").read_text()) == without_docstrings(WAS)
