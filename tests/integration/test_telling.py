"""Alerts on their way to an address and to a command."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from milepost.core.watching import Severity
from milepost.watch.alert_book import AlertMove
from milepost.watch.telling import CommandTeller, Webhook


def move(seq: int, what: str, name: str = "errors") -> AlertMove:
    return AlertMove(seq=seq, name=name, severity=Severity.ERROR, at=1.0, what=what, value=0.1, said_by="")


@pytest.fixture
def heard() -> Iterator[tuple[str, list[bytes]]]:
    found: list[bytes] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200 if self.path == "/" else 500)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", found
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_address_is_told_each_alert_once_and_a_failure_is_said(heard: tuple[str, list[bytes]]) -> None:
    url, found = heard
    moves = [move(1, "active"), move(2, "active", "memory 2.0"), move(3, "resolved")]
    assert Webhook(f"{url}/").tell("local", "dev", moves)
    said = json.loads(found[0])
    assert (said["target"], said["environment"]) == ("local", "dev")
    assert [(one["alert"], one["what"]) for one in said["alerts"]] == [("errors", "resolved"), ("memory 2.0", "active")]
    assert not Webhook(f"{url}/broken").tell("local", "dev", moves)
    assert not Webhook("http://127.0.0.1:1/").tell("local", "dev", moves)


def test_a_command_is_told_on_its_standard_input(tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = f"import sys; open({str(out)!r}, 'w').write(sys.stdin.read())"
    assert CommandTeller([sys.executable, "-c", script]).tell("local", "dev", [move(1, "active")])
    assert json.loads(out.read_text())["alerts"][0]["severity"] == "error"
    assert not CommandTeller([sys.executable, "-c", "raise SystemExit(3)"]).tell("local", "dev", [move(1, "active")])
    assert not CommandTeller(["/no/such/program"]).tell("local", "dev", [move(1, "active")])
