"""The routes of the page, put together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from starlette.testclient import TestClient

from milepost.web.app import application


def test_a_query_that_is_no_text_is_answered_where_no_route_is() -> None:
    nothing: Any = SimpleNamespace(stream=None)
    client = TestClient(application(nothing, nothing))
    assert client.get("/api/plan/?%FF", follow_redirects=False).status_code == 404
    assert client.request("GET", "/api/plan/", params=b"\xff", follow_redirects=False).status_code == 404
