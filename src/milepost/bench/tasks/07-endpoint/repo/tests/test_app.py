import json

from app import app


def ask(path, method="GET"):
    seen = []
    body = app({"REQUEST_METHOD": method, "PATH_INFO": path}, lambda status, headers: seen.append(status))
    return seen[0], json.loads(b"".join(body))


def test_all_items():
    assert ask("/items") == ("200 OK", [{"id": 1, "name": "tea"}, {"id": 2, "name": "coffee"}])


def test_one_item():
    assert ask("/items/2") == ("200 OK", {"id": 2, "name": "coffee"})


def test_no_such_item():
    assert ask("/items/9") == ("404 Not Found", {"error": "not found"})
