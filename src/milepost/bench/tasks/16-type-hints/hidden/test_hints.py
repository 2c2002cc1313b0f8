import ast
import inspect
import types
import typing
from pathlib import Path

import inventory
import pytest
from inventory import Item, find, total

FUNCTIONS = [Item.__init__, Item.value, Item.take, inventory.find, inventory.total, inventory.by_name]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_everything_is_annotated(function):
    hints = typing.get_type_hints(function)
    assert set(hints) == {*inspect.signature(function).parameters} - {"self"} | {"return"}


def test_the_hints_are_right():
    assert typing.get_type_hints(Item.__init__)["return"] is type(None)
    assert typing.get_type_hints(Item.take)["count"] is int
    answer = typing.get_type_hints(find)["return"]
    assert typing.get_origin(answer) in (typing.Union, types.UnionType)
    assert set(typing.get_args(answer)) == {Item, type(None)}
    assert typing.get_args(typing.get_type_hints(inventory.by_name)["return"]) == (str, Item)


def test_attributes_are_annotated(result):
    tree = ast.parse((Path(result) / "inventory.py").read_text())
    targets = {ast.unparse(node.target) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)}
    assert {"name", "count", "price"} <= {target.removeprefix("self.") for target in targets}


def test_any_is_not_an_answer(result):
    tree = ast.parse((Path(result) / "inventory.py").read_text())
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "Any" not in named and "object" not in named


def test_behaviour_stays():
    items = [Item("tea", 2, 1.5)]
    items[0].take(1)
    assert (total(items), find(items, "x")) == (1.5, None)
