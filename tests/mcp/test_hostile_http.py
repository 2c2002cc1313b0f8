"""Whatever comes over HTTP, the server stays, stays small, leaves no process, and serves the next decent client."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.serving import MILEPOST_MCP, Served, awaited, descendants, memory_kb, served
from tests.mcp.wire import ACCEPT, JSON, VERSION, Header, answer, call, head, opened, posted, sent

TOKEN = "a-token-for-this-test-alone"
AUTHORIZED: Header = ("Authorization", f"Bearer {TOKEN}")
GROWTH_KB = 150_000
FOREVER = {"code": "while True:\n    pass", "timeout_s": 50}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "ROADMAP.md").write_text("# Roadmap\n\n- [ ] Say hello\n")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[Served]:
    with served(*MILEPOST_MCP, "--http", cwd=workspace, MILEPOST_MCP_TOKEN=TOKEN) as server:
        yield server
        assert server.stop() == 0


def decent(server: Served, token: Header = AUTHORIZED) -> None:
    """A client that asks for the plan as it should gets it."""
    body, headers = call("tools/call", {"name": "plan", "arguments": {}})
    reply = posted(server.port, body, *headers, token)
    assert reply.status == 200
    assert reply.message()["result"]["structuredContent"]["open"] == 1


REFUSED: dict[str, tuple[int, list[Header]]] = {
    "no token": (401, []),
    "another token": (401, [("Authorization", f"Bearer {TOKEN}x")]),
    "another scheme": (401, [("Authorization", f"Basic {TOKEN}")]),
    "two tokens": (401, [AUTHORIZED, ("Authorization", "Bearer other")]),
    "another host": (421, [("Host", "evil.example"), AUTHORIZED]),
    "a host that begins as ours": (421, [("Host", "127.0.0.1:80.evil.example"), AUTHORIZED]),
    "our host on another port": (421, [("Host", "127.0.0.1:1"), AUTHORIZED]),
    "a page elsewhere": (403, [("Origin", "http://evil.example"), AUTHORIZED]),
    "a page on another port": (403, [("Origin", "http://127.0.0.1:1"), AUTHORIZED]),
    "a page of nowhere": (403, [("Origin", "null"), AUTHORIZED]),
}


@pytest.mark.parametrize("who", REFUSED)
def test_who_has_not_the_right_names_and_the_token_is_refused_before_the_body_is_read(server: Served, who: str) -> None:
    status, headers = REFUSED[who]

    reply = sent(server.port, head(server.port, *headers, JSON, ACCEPT, ("Content-Length", "1000000000")))

    assert reply.status == status
    assert ("www-authenticate" in reply.headers) == (status == 401)


def test_a_token_is_asked_for_on_every_path_and_in_no_address(server: Served) -> None:
    assert sent(server.port, head(server.port, method="GET", path=f"/mcp?token={TOKEN}")).status == 401
    assert sent(server.port, head(server.port, method="GET", path="/")).status == 401
    closing = ("Connection", "close")
    assert sent(server.port, head(server.port, AUTHORIZED, closing, method="GET", path="/")).status == 404
    decent(server)


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(server: Served) -> None:
    before = memory_kb(server.process.pid)
    headers = (AUTHORIZED, JSON, ACCEPT, ("Connection", "close"))

    said = sent(server.port, head(server.port, *headers, ("Content-Length", "1000000000")))
    with opened(server.port, head(server.port, *headers, ("Transfer-Encoding", "chunked"))) as connection:
        for _ in range(32):  # as much as fits
            connection.sendall(b"8000\r\n" + b" " * 0x8000 + b"\r\n")
        connection.sendall(b"1\r\n \r\n")  # of which nothing is left unread, or the answer could be lost
        unsaid = answer(connection)

    assert (said.status, unsaid.status) == (413, 413)
    assert memory_kb(server.process.pid) - before < GROWTH_KB
    decent(server)


DEEP = b"[" * 200_000
BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "bytes": bytes(range(256)) * 100,
    "broken text": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
    "depth": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":' + DEEP,
    "closed depth": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":' + DEEP + b"]" * 200_000 + b"}}",
    "a batch": b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 1000) + b"]",
    "a number": b"1e999",
    "wrong types": b'{"jsonrpc":2,"id":{},"method":[],"params":"x"}',
    "a huge id": b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"tools/list"}',
    "an unknown method": b'{"jsonrpc":"2.0","id":1,"method":"../../etc/passwd"}',
    "a tool without a name": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}',
    "a list": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plan","arguments":[]}}',
    "an answer to nothing": b'{"jsonrpc":"2.0","id":77,"result":{}}',
    "a cancellation of nothing": b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}',
    "many fields": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{'
    + b",".join(b'"k%d":%d' % (n, n) for n in range(50_000))
    + b"}}",
}  # fmt: skip


def test_what_is_no_request_is_refused_in_either_protocol_and_the_next_client_is_served(server: Served) -> None:
    before = memory_kb(server.process.pid)
    eras: list[list[Header]] = [[], [("MCP-Protocol-Version", VERSION)], [("MCP-Protocol-Version", "x" * 5_000)]]

    statuses = {
        (name, number): posted(server.port, body, AUTHORIZED, JSON, ACCEPT, *era).status
        for name, body in BODIES.items()
        for number, era in enumerate(eras)
    }

    taken = {key for key, status in statuses.items() if not 400 <= status < 500}
    assert taken == {("a cancellation of nothing", 1)}  # nothing comes of it, as nothing comes of any that is late
    assert memory_kb(server.process.pid) - before < GROWTH_KB
    decent(server)


def test_arguments_of_the_wrong_kind_are_told_to_the_model_and_unknown_names_to_the_client(server: Served) -> None:
    def outcome(name: str, arguments: dict[str, object]) -> dict[str, object]:
        body, headers = call("tools/call", {"name": name, "arguments": arguments})
        message = posted(server.port, body, *headers, AUTHORIZED).message()
        return dict(message.get("result") or message["error"])

    assert outcome("plan", {"limit": {"$ref": "#"}})["isError"]
    assert outcome("plan", {"unheard_of": 1})["isError"]
    assert outcome("plan", {"workspace": "\0" * 1000})["isError"]
    assert outcome("no-such-tool", {})["code"] == -32602


def test_what_is_no_http_is_answered_or_dropped_and_the_next_client_is_served(server: Served) -> None:
    for garbage in (os.urandom(5_000), b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50_000, b"\x16\x03\x01" * 100):
        with opened(server.port) as connection:
            try:
                connection.sendall(garbage + b"\r\n\r\n")
                assert answer(connection).status in (400, 431)
            except (ConnectionError, ValueError, IndexError):
                pass
    decent(server)


def test_hundreds_of_calls_at_once_are_all_answered(server: Served) -> None:
    async def one(number: int) -> bytes:
        plan = {"name": "plan", "arguments": {}}
        body, headers = call("tools/list", None, number) if number % 20 else call("tools/call", plan, number)
        reading, writing = await asyncio.open_connection("127.0.0.1", server.port)
        length, closing = ("Content-Length", str(len(body))), ("Connection", "close")
        writing.write(head(server.port, *headers, AUTHORIZED, length, closing) + body)
        received = await reading.read()
        writing.close()
        return received

    async def all_at_once() -> list[bytes]:
        return await asyncio.gather(*(one(number) for number in range(300)))

    replies = asyncio.run(all_at_once())

    assert all(reply.startswith(b"HTTP/1.1 200") for reply in replies)
    assert all(b'"id":%d' % number in reply.replace(b'"id": ', b'"id":') for number, reply in enumerate(replies))


def test_a_client_that_disappears_in_the_middle_of_a_call_leaves_no_process(server: Served) -> None:
    decent(server)
    before = descendants(server.process.pid)
    body, headers = call("tools/call", {"name": "execute_agent_code", "arguments": FOREVER})
    connection = opened(server.port, head(server.port, *headers, AUTHORIZED, ("Content-Length", str(len(body)))) + body)
    awaited(lambda: len(descendants(server.process.pid) - before) >= 1, "the code runs")

    connection.close()

    awaited(lambda: descendants(server.process.pid) <= before, "the code is ended")
    decent(server)


def test_half_a_request_keeps_nobody_out_and_does_not_stay(workspace: Path) -> None:
    impatient = (
        "import milepost.mcp.admission as door, milepost.serving.httpd as httpd;"
        "door.BODY_S = httpd.HEAD_S = 3;"
        "from milepost.cli.main import main; import sys; sys.argv = ['milepost', 'mcp', '--http']; main()"
    )
    with served(sys.executable, "-c", impatient, cwd=workspace, MILEPOST_MCP_TOKEN=TOKEN) as server:
        body, headers = call("tools/list")
        whole = head(server.port, *headers, AUTHORIZED, ("Content-Length", str(len(body))))
        half = [opened(server.port, payload) for payload in (b"", whole[:50], whole + body[:20]) for _ in range(60)]

        decent(server)
        for connection in half:
            while connection.recv(65_536):
                pass
            connection.close()
        decent(server)


def test_the_end_comes_at_once_though_clients_hold_streams_and_calls_open(workspace: Path, tmp_path: Path) -> None:
    """The token is the one that the server made for itself, which only whoever started it is told."""
    told = tmp_path / "stderr"
    command = f"exec {shlex.join(MILEPOST_MCP)} --http 2>{shlex.quote(str(told))}"
    with served("sh", "-c", command, cwd=workspace, MILEPOST_MCP_TOKEN="") as server:
        awaited(lambda: told.read_text().endswith("\n"), "the token is told")
        token: Header = ("Authorization", told.read_text().strip().removeprefix("Authorization: "))
        decent(server, token)
        before = descendants(server.process.pid)
        held = []
        for body, headers in (
            call("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
            call("tools/call", {"name": "execute_agent_code", "arguments": FOREVER}),
        ):
            payload = head(server.port, *headers, token, ("Content-Length", str(len(body)))) + body
            held.append(opened(server.port, payload))
        awaited(lambda: descendants(server.process.pid) - before, "the code runs")
        started = descendants(server.process.pid)

        assert server.stop() == 0

        awaited(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "all that it started is gone")
        for connection in held:
            connection.close()
