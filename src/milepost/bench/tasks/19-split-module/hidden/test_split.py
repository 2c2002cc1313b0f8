import ast
from pathlib import Path

import orders
import products
import shop


def test_each_thing_has_its_place():
    assert products.Product.__module__ == products.discounted.__module__ == "products"
    assert orders.Order.__module__ == "orders"


def test_the_shop_still_has_everything():
    assert (shop.Order, shop.Product, shop.discounted) == (orders.Order, products.Product, products.discounted)


def test_the_shop_defines_nothing(result):
    tree = ast.parse((Path(result) / "shop.py").read_text())
    assert not any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in ast.walk(tree))


def test_products_know_nothing_of_orders(result):
    text = (Path(result) / "products.py").read_text()
    assert "orders" not in text and "shop" not in text


def test_behaviour_stays():
    order = shop.Order()
    order.add(shop.Product("tea", 199), 3)
    assert order.total(50) == 297
