import json

import pytest
from app import app


def ask(path, method="GET"):
    seen = []
    body = app({"REQUEST_METHOD": method, "PATH_INFO": path}, lambda status, headers: seen.append((status, headers)))
    return int(seen[0][0][:3]), json.loads(b"".join(body))


def test_items_are_found():
    assert ask("/items/1") == (200, {"id": 1, "name": "tea"})
    assert ask("/items/2") == (200, {"id": 2, "name": "coffee"})


@pytest.mark.parametrize("path", ["/items/3", "/items/x", "/items/", "/items/-1", "/items/1/2", "/", "/items/²"])
def test_what_is_not_there_is_not_found(path):
    assert ask(path) == (404, {"error": "not found"})


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_other_methods_are_refused(method):
    assert ask("/items/1", method)[0] == 405


def test_the_list_is_as_before():
    assert len(ask("/items")[1]) == 2
