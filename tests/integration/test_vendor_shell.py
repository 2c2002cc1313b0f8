"""Calls are made with the user's own client and environment, once or as often as is safe, and tell no secret."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.core.errors import TargetRefused
from milepost.core.shipping import SecretValue, VendorCommand, VendorRequest
from milepost.ship.vendor_shell import ATTEMPTS, LONGEST_WAIT_S, VendorShell, wait_before_retry
from tests.fakes.vendor_server import VendorServer, vendor_server
from tests.unit.ship.targets.samples import said

TOKEN = "token-of-the-user-0815"
ORIGIN = "https://api.vendor.example"


@pytest.fixture
def server() -> Iterator[VendorServer]:
    with vendor_server() as server:
        yield server


def shell(folder: Path, server: VendorServer | None = None, **environ: str) -> tuple[VendorShell, list[float]]:
    paused: list[float] = []
    known = {"PATH": os.environ["PATH"], "VENDOR_TOKEN": TOKEN} | environ
    addresses = {ORIGIN: server.address} if server is not None else {}
    return VendorShell(known, folder, pause=paused.append, addresses=addresses), paused


def program(folder: Path, text: str, interpreter: str = sys.executable) -> str:
    """A client of a vendor's, for a PATH."""
    file = folder / "client"
    file.write_text(f"#!{interpreter}\n{text}")
    file.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_a_client_gets_secrets_on_standard_input_alone_and_its_words_come_without_them(tmp_path: Path) -> None:
    path = program(tmp_path, "import json, sys\nprint(json.dumps({'argv': sys.argv[1:], 'heard': sys.stdin.read()}))")
    run, _ = shell(tmp_path, PATH=path, PROD_DB="postgres-of-the-shop")
    stdin = {"env": [{"name": "DB", "value": SecretValue(variable="PROD_DB")}]}

    reply = run(VendorCommand(argv=("client", "set"), stdin=stdin))

    assert isinstance(reply.answer, dict)
    assert reply.answer["argv"] == ["set"]
    assert json.loads(reply.answer["heard"]) == {"env": [{"name": "DB", "value": "postgres-of-the-shop"}]}
    assert reply.ok and "postgres-of-the-shop" not in reply.text + repr(reply)


def test_a_client_is_started_outside_of_the_repository_and_ended_with_all_that_it_started(tmp_path: Path) -> None:
    path = program(tmp_path, "pwd\nsleep 600 &\nwait\n", interpreter="/bin/sh")
    run, _ = shell(tmp_path, PATH=path)

    reply = run(VendorCommand(argv=("client",), timeout_s=3.0))

    assert (reply.ok, reply.code, reply.text) == (False, 124, f"{tmp_path}\n")


def test_a_missing_client_and_a_missing_secret_are_named(tmp_path: Path) -> None:
    run, _ = shell(tmp_path)

    with pytest.raises(TargetRefused, match="there is no 'client-of-nobody' on PATH"):
        run(VendorCommand(argv=("client-of-nobody",)))
    with pytest.raises(TargetRefused, match="the variable PROD_DB is not set"):
        run(VendorCommand(argv=("true",), stdin=SecretValue(variable="PROD_DB")))


def test_a_request_carries_the_token_in_its_header_and_a_file_as_it_is(tmp_path: Path, server: VendorServer) -> None:
    run, _ = shell(tmp_path, server)
    (tmp_path / "site.zip").write_bytes(b"PK-and-more")
    server.script(("PUT", "/files/site", 200, {"id": 7, "echo": TOKEN}))

    url = f"{ORIGIN}/files/site?team=a"
    reply = run(VendorRequest(method="PUT", url=url, token_from="VENDOR_TOKEN", body=tmp_path / "site.zip"))

    assert reply.answer == {"id": 7, "echo": TOKEN} and TOKEN not in reply.text
    (asked,) = server.asked
    assert (asked.query, asked.body, asked.headers["authorization"]) == ("team=a", b"PK-and-more", f"Bearer {TOKEN}")


@pytest.mark.parametrize(
    ("method", "status", "headers", "sent", "paused"),
    [
        ("GET", 503, {}, ATTEMPTS, [1.0, 2.0, 4.0]),
        ("PUT", 500, {"Retry-After": "7"}, ATTEMPTS, [7.0, 7.0, 7.0]),
        ("POST", 503, {}, 1, []),
        ("POST", 429, {"Retry-After": "9"}, ATTEMPTS, [9.0, 9.0, 9.0]),
        ("GET", 429, {"Retry-After": "3600"}, 1, []),
        ("GET", 404, {}, 1, []),
        ("GET", 302, {"Location": "/elsewhere"}, 1, []),
    ],
)
def test_a_request_is_repeated_a_few_times_and_only_where_that_is_safe(
    method: str,
    status: int,
    headers: dict[str, str],
    sent: int,
    paused: list[float],
    tmp_path: Path,
    server: VendorServer,
) -> None:
    run, waited = shell(tmp_path, server)
    server.script(*[(method, "/things", status, {}, headers)] * sent)

    reply = run(VendorRequest(method=method, url=f"{ORIGIN}/things", token_from="VENDOR_TOKEN"))

    assert (reply.code, len(server.asked), waited) == (status, sent, paused)


def test_an_upload_that_is_cut_is_sent_again_and_a_request_that_may_have_been_done_is_not(
    tmp_path: Path, server: VendorServer
) -> None:
    run, waited = shell(tmp_path, server)
    (tmp_path / "site.zip").write_bytes(b"x" * 5_000_000)
    server.script(("PUT", "/files/site", "cut", {}), ("PUT", "/files/site", 200, {}), ("POST", "/deploys", "cut", {}))

    again = run(VendorRequest(method="PUT", url=f"{ORIGIN}/files/site", body=tmp_path / "site.zip"))
    once = run(VendorRequest(method="POST", url=f"{ORIGIN}/deploys", json={}))

    assert (again.ok, waited) == (True, [1.0])
    assert (once.ok, once.code, len(server.asked)) == (False, 0, 3)


def test_a_token_goes_nowhere_without_tls(tmp_path: Path, server: VendorServer) -> None:
    run, _ = shell(tmp_path, server)

    with pytest.raises(TargetRefused, match="without https"):
        run(VendorRequest(method="GET", url=f"{server.address}/things", token_from="VENDOR_TOKEN"))
    assert server.asked == []


@pytest.mark.parametrize(
    ("retry", "wait"), [(None, 1.0), (30.0, 30.0), (LONGEST_WAIT_S, LONGEST_WAIT_S), (LONGEST_WAIT_S + 1, None)]
)
def test_a_vendor_is_waited_for_as_long_as_it_says_within_reason(retry: float | None, wait: Any) -> None:
    assert wait_before_retry(True, said(code=429, retry=retry), 0) == wait
