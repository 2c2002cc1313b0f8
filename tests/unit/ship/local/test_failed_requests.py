"""What is read of the tries that the proxies wrote down."""

import json
from pathlib import Path
from typing import Any

from milepost.core.watching import FailedRequest
from milepost.ship.local.failed_requests import failed_requests, request_of


def line(**other: Any) -> str:
    return json.dumps({"at": "12.5", "method": "GET", "path": "/a?b=", "status": 500, "release": "2"} | other)


def test_half_a_line_and_a_try_that_reached_nobody_are_left_out() -> None:
    assert request_of(line()) == FailedRequest(at=12.5, method="GET", path="/a?b=", status=500, release=2)
    for other in (line()[:-9], "", "[]", line(release=None), line(release="-"), line(at=None)):
        assert request_of(other) is None


def test_both_sides_are_read_in_order_with_what_was_moved_aside(tmp_path: Path) -> None:
    (tmp_path / "failed-a.log").write_text(line(at="3") + "\n" + line(at="4", release="1") + "\n" + line()[:5])
    (tmp_path / "failed-a.log.before").write_text(line(at="1"))
    (tmp_path / "failed-b.log").write_text(line(at="2"))
    assert [one.at for one in failed_requests(tmp_path, 2)] == [1, 2, 3]
    assert failed_requests(tmp_path / "nowhere", 2) == ()
