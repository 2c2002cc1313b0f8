"""A shop as a WSGI application."""

import json

ITEMS = {1: "tea", 2: "coffee"}
REASONS = {200: "200 OK", 404: "404 Not Found", 405: "405 Method Not Allowed"}


def app(environ, start_response):
    status, answer = respond(environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/"))
    start_response(REASONS[status], [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]


def respond(method, path):
    """The status and the answer for a request."""
    if path == "/items" and method == "GET":
        return 200, [{"id": number, "name": name} for number, name in ITEMS.items()]
    return 404, {"error": "not found"}
