"""The way out of a guest, with real sockets; the hosts outside are servers on loopback that pretend to be elsewhere."""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from milepost.core.commands import Network
from milepost.sandbox.egress import Egress, HostRequest
from milepost.sandbox.egress.addresses import is_of_this_machine
from milepost.sandbox.egress.connect import Outside
from milepost.sandbox.egress.connections import MOST_AT_ONCE
from tests.tools import need

PUBLIC = "93.184.216.34"


class Echo(BaseHTTPRequestHandler):
    """Answers with the request as it arrived."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = self._chunks()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = f"{self.requestline}\n{self.headers}".encode() + body
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_: object) -> None:
        pass


class EchoServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 2 * MOST_AT_ONCE


@contextlib.contextmanager
def echo_server() -> Iterator[int]:
    server = EchoServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class World:
    """A world with these names, where every public address is one server on loopback."""

    port: int
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    connected: list[str] = field(default_factory=list)

    def outside(self) -> Outside:
        return Outside(resolve=self._resolve, connect=self._connect)

    def _resolve(self, host: str, port: int) -> tuple[str, ...]:
        if host not in self.names:
            raise OSError("no such name")
        return self.names[host]

    def _connect(self, address: str, port: int) -> socket.socket:
        self.connected.append(f"{address}:{port}")
        return socket.create_connection(("127.0.0.1", self.port))


@pytest.fixture
def world() -> Iterator[World]:
    with echo_server() as port:
        yield World(port, {"example.org": (PUBLIC,), "other.org": (PUBLIC,), "10.0.0.5": ("10.0.0.5",)})


def open_way(world: World, *hosts: str) -> Egress:
    return Egress(Network(mode="hosts", hosts=hosts), outside=world.outside())


def proxy_address(variables: dict[str, str]) -> tuple[str, int, dict[str, str]]:
    parts = urlsplit(variables["HTTPS_PROXY"])
    assert parts.hostname and parts.port
    secret = base64.b64encode(f"{parts.username}:{parts.password}".encode()).decode()
    return parts.hostname, parts.port, {"Proxy-Authorization": f"Basic {secret}"} if parts.username else {}


def get(egress: Egress, port: int, url: str, body: str | None = None, **headers: str) -> tuple[int, str]:
    """A plain client that asks the proxy for an http:// address."""
    host, port, credentials = proxy_address(egress.variables(port))
    client = http.client.HTTPConnection(host, port, timeout=60)
    with contextlib.closing(client):
        client.request("POST" if body else "GET", url, body, {**credentials, **headers})
        answer = client.getresponse()
        return answer.status, answer.read().decode()


def get_in_tunnel(egress: Egress, port: int, target: str) -> tuple[int, str]:
    """A client that asks for a tunnel, as for https://, and speaks plain HTTP in it."""
    host, port, credentials = proxy_address(egress.variables(port))
    client = http.client.HTTPConnection(host, port, timeout=60)
    name, _, number = target.rpartition(":")
    client.set_tunnel(name, int(number), credentials)
    with contextlib.closing(client):
        client.request("GET", "/in-tunnel")
        answer = client.getresponse()
        return answer.status, answer.read().decode()


def test_a_host_of_the_list_is_reached_by_both_ways_and_it_is_written_down(world: World) -> None:
    with open_way(world, "example.org") as egress:
        port = egress.listen()
        status, said = get(egress, port, "http://example.org/path?q=1", "body", Cookie="a=b")
        assert (status, said.splitlines()[0]) == (200, "POST /path?q=1 HTTP/1.1")
        assert "Host: example.org" in said and "cookie: a=b" in said and said.endswith("body")
        assert "roxy-" not in said
        status, said = get_in_tunnel(egress, port, "example.org:443")
        assert (status, said.splitlines()[0]) == (200, "GET /in-tunnel HTTP/1.1")
    assert world.connected == [f"{PUBLIC}:80", f"{PUBLIC}:443"]
    assert [(each.host, each.port, each.allowed, each.why) for each in egress.asked] == [
        ("example.org", 80, True, ""),
        ("example.org", 443, True, ""),
    ]
    assert all(each.received_bytes > 100 for each in egress.asked)
    assert egress.refused == ()


def test_a_host_that_is_not_on_the_list_is_refused_by_name(world: World) -> None:
    with open_way(world, "example.org") as egress:
        port = egress.listen()
        status, said = get(egress, port, "http://other.org/", "a body that nobody reads")
        assert (status, "other.org:80 is refused" in said) == (403, True)
        with pytest.raises(OSError, match="403"):
            get_in_tunnel(egress, port, "other.org:443")
        with pytest.raises(OSError, match="403"):
            get_in_tunnel(egress, port, "example.org:22")
    assert world.connected == []
    assert egress.refused == ("host other.org:80", "host other.org:443", "host example.org:22")
    assert [each.allowed for each in egress.asked] == [False, False, False]


def test_without_the_guests_credentials_nobody_is_answered(world: World) -> None:
    with open_way(world, "example.org") as egress, open_way(world, "example.org") as another:
        port = egress.listen()
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with contextlib.closing(client):
            client.request("GET", "http://example.org/")
            answer = client.getresponse()
            assert (answer.status, answer.headers["Proxy-Authenticate"]) == (407, 'Basic realm="milepost"')
        _, _, credentials = proxy_address(another.variables(another.listen()))
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with contextlib.closing(client):
            client.request("GET", "http://example.org/", headers=credentials)
            assert client.getresponse().status == 407
        assert get(egress, port, "http://example.org/")[0] == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.1.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"])
def test_a_name_that_leads_inside_is_refused_though_it_is_on_the_list(world: World, address: str) -> None:
    world.names["example.org"] = (address,)
    with open_way(world, "example.org") as egress:
        status, said = get(egress, egress.listen(), "http://example.org/")
        assert (status, f"resolves to {address}" in said) == (403, True)
    assert world.connected == []
    assert egress.refused == ("host example.org:80",)


def test_an_inner_address_is_reached_when_it_is_listed_itself(world: World) -> None:
    world.names["example.org"] = ("10.0.0.5",)
    with open_way(world, "example.org", "10.0.0.5:80") as egress:
        port = egress.listen()
        assert get(egress, port, "http://example.org/")[0] == 200
        assert get(egress, port, "http://10.0.0.5/")[0] == 200
        with pytest.raises(OSError, match="403"):
            get_in_tunnel(egress, port, "example.org:443")
    assert world.connected == ["10.0.0.5:80", "10.0.0.5:80"]


def test_a_name_is_looked_up_once_so_that_a_second_answer_changes_nothing(world: World) -> None:
    answers = iter([(PUBLIC,), ("127.0.0.1",)])
    outside = Outside(resolve=lambda *_: next(answers), connect=world.outside().connect)
    with Egress(Network(mode="hosts", hosts=("example.org",)), outside=outside) as egress:
        port = egress.listen()
        assert get(egress, port, "http://example.org/")[0] == 200
        assert get(egress, port, "http://example.org/")[0] == 403
    assert world.connected == [f"{PUBLIC}:80"]


def test_this_machines_own_address_is_known_however_public_it_looks() -> None:
    assert is_of_this_machine("127.0.0.1")
    assert not is_of_this_machine("192.0.2.1")


def test_a_host_that_is_not_there_is_told_apart_from_one_that_is_refused(world: World) -> None:
    with open_way(world, "missing.org") as egress:
        assert get(egress, egress.listen(), "http://missing.org/")[0] == 502
    assert egress.refused == ()
    assert egress.asked == (
        HostRequest(host="missing.org", port=80, allowed=True, why="its name cannot be looked up: no such name"),
    )


def test_a_second_request_behind_the_first_reaches_nobody(world: World) -> None:
    with open_way(world, "example.org") as egress:
        egress.serve(listener := socket.create_server(("127.0.0.1", 0)))
        first = (
            b"POST http://example.org/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        )
        with socket.create_connection(listener.getsockname(), timeout=60) as client:
            client.sendall(first + b"GET /smuggled HTTP/1.1\r\nHost: evil.org\r\n\r\n")
            said = b"".join(iter(lambda: client.recv(65536), b""))
    assert said.count(b"HTTP/1.1 200") == 1
    assert b"smuggled" not in said and said.endswith(b"abc")


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        b"POST http://example.org/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET http://example.org/ HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"\x16\x03\x01 hello\r\n\r\n",
    ],
)
def test_what_cannot_be_read_with_certainty_is_answered_with_400(world: World, request_: bytes) -> None:
    with open_way(world, "example.org") as egress:
        egress.serve(listener := socket.create_server(("127.0.0.1", 0)))
        with socket.create_connection(listener.getsockname(), timeout=60) as client:
            client.sendall(request_)
            assert client.recv(100).startswith(b"HTTP/1.1 400 ")
    assert world.connected == []


def test_a_handed_over_listener_needs_no_credentials(world: World) -> None:
    with open_way(world, "example.org") as egress:
        egress.serve(listener := socket.create_server(("127.0.0.1", 0)))
        port = listener.getsockname()[1]
        assert egress.variables(port)["HTTP_PROXY"] == f"http://127.0.0.1:{port}"
        assert get(egress, port, "http://example.org/")[0] == 200


def test_a_port_of_this_machine_is_forwarded_and_others_are_not() -> None:
    with echo_server() as port, Egress(Network(mode="hosts", hosts=(f"127.0.0.1:{port}",))) as egress:
        assert egress.forwarded_ports == (port,)
        assert egress.port_inside != port
        inside, closed = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
        egress.forward(inside, port)
        egress.forward(closed, port + 1 if port < 65535 else port - 1)
        client = http.client.HTTPConnection("127.0.0.1", inside.getsockname()[1], timeout=60)
        with contextlib.closing(client):
            client.request("GET", "/forwarded")
            assert client.getresponse().read().startswith(b"GET /forwarded")
        with socket.create_connection(closed.getsockname(), timeout=60) as refused:
            assert refused.recv(1) == b""


def test_much_is_carried_both_ways_at_once(world: World) -> None:
    """Both ends send before they read: whoever carries must not wait for one of them."""
    much = b"x" * 5_000_000
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
        world.port = server.getsockname()[1]

        def talk() -> None:
            with server.accept()[0] as connection:
                connection.sendall(much)
                heard = 0
                while piece := connection.recv(65536):
                    heard += len(piece)
                assert heard == len(much)

        thread = threading.Thread(target=talk)
        thread.start()
        with open_way(world, "example.org") as egress:
            egress.serve(listener := socket.create_server(("127.0.0.1", 0)))
            with socket.create_connection(listener.getsockname(), timeout=60) as client:
                client.sendall(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
                assert client.recv(100).startswith(b"HTTP/1.1 200 ")
                client.sendall(much)
                client.shutdown(socket.SHUT_WR)
                assert sum(map(len, iter(lambda: client.recv(65536), b""))) >= len(much) - 100
            thread.join()
    assert egress.asked[0].sent_bytes == len(much)


def test_more_connections_than_the_bound_wait_for_their_turn(world: World) -> None:
    with open_way(world, "example.org") as egress:
        egress.serve(listener := socket.create_server(("127.0.0.1", 0), backlog=2 * MOST_AT_ONCE))
        with contextlib.ExitStack() as clients:
            waiting = [
                clients.enter_context(socket.create_connection(listener.getsockname(), timeout=60))
                for _ in range(MOST_AT_ONCE + 1)
            ]
            for client in waiting:
                client.sendall(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
            for client in waiting[:-1]:
                assert client.recv(100).startswith(b"HTTP/1.1 200 ")
            assert len(world.connected) == MOST_AT_ONCE
            waiting[0].close()
            assert waiting[-1].recv(100).startswith(b"HTTP/1.1 200 ")


def test_the_end_of_the_guest_is_the_end_of_its_connections(world: World) -> None:
    before = threading.active_count()
    egress = open_way(world, "example.org")
    egress.serve(listener := socket.create_server(("127.0.0.1", 0)))
    address = listener.getsockname()
    with socket.create_connection(address, timeout=60) as client:
        client.sendall(b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")
        egress.close()
        assert client.recv(100) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=60)
    ours = [thread for thread in threading.enumerate() if thread.name == "milepost-egress"]
    assert ours == [] and threading.active_count() <= before + 1  # the server may still be at its own end


@pytest.mark.parametrize("program", ["python", "curl"])
def test_programs_find_the_proxy_by_the_variables(world: World, program: str) -> None:
    if program == "curl":
        need("curl")
    argv = {
        "python": [sys.executable, "-c", "import urllib.request as u; print(u.urlopen('http://example.org/x').read())"],
        "curl": ["curl", "-sS", "http://example.org/x"],
    }[program]
    with open_way(world, "example.org") as egress:
        env = {"PATH": "/usr/bin:/bin", **egress.variables(egress.listen())}
        said = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)
    assert "GET /x HTTP/1.1" in said.stdout, said.stderr
