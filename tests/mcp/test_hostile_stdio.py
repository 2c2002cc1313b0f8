"""Whatever comes over stdin, the server stays, stays small, leaves no process, and answers the next decent request."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.mcp.stdio import LONGEST_MESSAGE
from tests.mcp.serving import LONGEST_S, MILEPOST_MCP, awaited, descendants, memory_kb, started
from tests.mcp.wire import META

GROWTH_KB = 150_000
PLAN = {"name": "plan", "arguments": {}}
FOREVER = {"name": "execute_agent_code", "arguments": {"code": "while True:\n    pass", "timeout_s": 50}}

Server = subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("project"))


def project(folder: Path) -> Path:
    """A folder, now with a roadmap and under git."""
    (folder / "ROADMAP.md").write_text("# Roadmap\n\n- [ ] Say hello\n")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


@pytest.fixture
def alone(workspace: Path) -> Iterator[Server]:
    """A server for one test, which may leave it as it likes."""
    with started(MILEPOST_MCP, workspace, {}) as process:
        yield process


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Server]:
    """A server that all of these tests together do no harm to, and that ends when its client is done with it."""
    with started(MILEPOST_MCP, workspace, {}) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(LONGEST_S) == 0


def request(number: int, method: str, params: dict[str, Any] | None = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**(params or {}), "_meta": META}}
    return json.dumps(message).encode() + b"\n"


def write(server: Server, payload: bytes) -> None:
    assert server.stdin is not None
    server.stdin.write(payload)
    server.stdin.flush()


def reply(server: Server, number: int) -> dict[str, Any]:
    """The answer to one request; what is answered to others before it is passed over."""
    assert server.stdout is not None
    while line := server.stdout.readline():
        message = json.loads(line)
        if message.get("id") == number:
            return dict(message)
    raise AssertionError(f"the server ended with {server.wait(LONGEST_S)} before it answered {number}")


def decent(server: Server, number: int) -> None:
    """A request for the plan is answered with it."""
    write(server, request(number, "tools/call", PLAN))
    assert reply(server, number)["result"]["structuredContent"]["open"] == 1


GARBAGE = (
    b"\n\n\n",
    b"no JSON\n",
    bytes(range(256)) * 100 + b"\n",
    b"[" * 200_000 + b"\n",
    b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
    b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 1_000) + b"]\n",
    b'{"jsonrpc":2,"id":{},"method":[],"params":"x"}\n',
    b'{"jsonrpc":"2.0","id":7,"method":"no/such/method"}\n',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["plan"]}}\n',
    b'{"jsonrpc":"2.0","id":7,"result":{}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":null}\n',
    b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"tools/list"}\n',
    b"x" * 64 * 1024 * 1024 + b"\n",
)


def test_what_is_no_request_is_answered_or_dropped_and_the_next_request_is_served(server: Server) -> None:
    decent(server, 1)
    before = memory_kb(server.pid)

    for number, garbage in enumerate(GARBAGE, start=100):
        write(server, garbage)
        decent(server, number)

    assert memory_kb(server.pid) - before < GROWTH_KB


def test_what_cannot_be_read_is_answered_to_nobody_in_particular(alone: Server) -> None:
    for unread in (b"no JSON", b"x" * (LONGEST_MESSAGE + 1)):
        write(alone, b"\n" + unread + b"\n")
        assert alone.stdout is not None
        told = json.loads(alone.stdout.readline())
        assert (told["id"], told["error"]["code"]) == (None, -32700)
    decent(alone, 1)


def test_a_name_that_is_no_text_is_told_as_far_as_it_is_one(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"half-\xff")
    folder.mkdir()
    with started((*MILEPOST_MCP, "--profile", "full"), project(folder), {}) as server:
        write(server, request(1, "tools/call", {"name": "health", "arguments": {}}))
        assert "half-\N{REPLACEMENT CHARACTER}/" in reply(server, 1)["result"]["structuredContent"]["roadmap"]
        decent(server, 2)


def test_hundreds_of_requests_at_once_are_all_answered_once(server: Server) -> None:
    write(server, b"".join(request(number, "tools/list") for number in range(400)))
    write(server, b"".join(request(number, "tools/call", PLAN) for number in range(400, 420)))

    assert server.stdout is not None
    answered = [json.loads(server.stdout.readline())["id"] for _ in range(420)]

    assert sorted(answered) == list(range(420))


def test_a_client_that_asks_and_never_listens_does_not_fill_the_memory(alone: Server) -> None:
    decent(alone, 1)
    before = memory_kb(alone.pid)
    assert alone.stdin is not None
    os.set_blocking(alone.stdin.fileno(), False)
    flood = b"".join(request(number, "tools/list") for number in range(1_000, 2_000))

    sent = 0
    while sent < 8 * len(flood) and select.select([], [alone.stdin], [], 3)[1]:
        sent += os.write(alone.stdin.fileno(), flood[sent % len(flood) :][:65_536])

    assert memory_kb(alone.pid) - before < GROWTH_KB


def test_a_call_that_is_cancelled_ends_with_all_that_it_started_and_others_go_on(server: Server) -> None:
    decent(server, 1)
    before = descendants(server.pid)
    write(server, request(2, "tools/call", FOREVER))
    awaited(lambda: descendants(server.pid) - before, "the code runs")

    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "_meta": META}}
    write(server, json.dumps(cancelled).encode() + b"\n")

    awaited(lambda: descendants(server.pid) <= before, "the code is ended")
    decent(server, 3)


def test_a_client_that_begins_with_garbage_and_goes_in_the_middle_of_a_call_leaves_nothing(alone: Server) -> None:
    for garbage in GARBAGE:
        if b'"method"' not in garbage:  # the first request decides which protocol is spoken
            write(alone, garbage)
    decent(alone, 1)
    write(alone, request(2, "tools/call", FOREVER))
    awaited(lambda: descendants(alone.pid), "the code runs")
    all_of_it = descendants(alone.pid)

    assert alone.stdin is not None and alone.stdout is not None
    alone.stdout.close()
    alone.stdin.close()

    assert alone.wait(LONGEST_S) == 0
    awaited(lambda: not any(Path(f"/proc/{pid}").exists() for pid in all_of_it), "all that it started is gone")
