"""What a command reaches in each mode of its network, at both levels that the kernel holds."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from milepost.core.commands import NO_NETWORK, OPEN_NETWORK, OWN_LOOPBACK, Command, CommandResult, Network, TrustLevel
from milepost.sandbox.levels import ladder
from milepost.sandbox.terminal import WalledTerminal

# Asks in every way for what is on two ports of the host, and for a server of its own.
ASK = """
import http.server, json, os, sys, threading, urllib.request
listed, unlisted = sys.argv[1:]
directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
class Own(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"own")
    def log_message(self, *_):
        pass
def own():
    server = http.server.HTTPServer(("127.0.0.1", 0), Own)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return directly.open(f"http://127.0.0.1:{server.server_port}/", timeout=120).read()
ways = {
    "own": own,
    "listed": lambda: directly.open(f"http://127.0.0.1:{listed}/", timeout=120).read(),
    "unlisted": lambda: directly.open(f"http://127.0.0.1:{unlisted}/", timeout=120).read(),
    # with a dot it is a name for which the proxy is asked
    "listed by proxy": lambda: urllib.request.urlopen(f"http://localhost.:{listed}/", timeout=120).read(),
    "unlisted by proxy": lambda: urllib.request.urlopen(f"http://localhost.:{unlisted}/", timeout=120).read(),
}
reached = []
for name, way in ways.items():
    if "proxy" in name and "HTTP_PROXY" not in os.environ:
        continue
    try:
        way()
        reached.append(name)
    except OSError:
        pass
print(json.dumps(reached))
"""


class Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served() -> Iterator[int]:
    """A server of the host on its loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def ports() -> Iterator[tuple[int, int]]:
    with ExitStack() as servers:
        yield servers.enter_context(served()), servers.enter_context(served())


@pytest.fixture(params=[TrustLevel.ISOLATED, TrustLevel.SANDBOXED])
def terminal(request: pytest.FixtureRequest) -> Iterator[WalledTerminal]:
    report = next(report for report in ladder() if report.level is request.param)
    if not report.ok:
        pytest.skip(f"this machine refuses the level: {report.detail}")
    with WalledTerminal(trust=request.param) as opened:
        yield opened


def asked(terminal: WalledTerminal, folder: Path, ports: tuple[int, int], network: Network) -> CommandResult:
    argv = (sys.executable, "-I", "-c", ASK, *map(str, ports))
    result = terminal.run(Command(argv=argv, cwd=folder, scratch=folder / "scratch", network=network))
    assert result.succeeded, result
    return result


def test_each_network_reaches_what_it_names_and_no_more(
    terminal: WalledTerminal, ports: tuple[int, int], tmp_path: Path
) -> None:
    listed, unlisted = ports
    hosts = Network(mode="hosts", hosts=(f"127.0.0.1:{listed}",))
    results = {
        network.mode: asked(terminal, tmp_path, ports, network)
        for network in (NO_NETWORK, OWN_LOOPBACK, hosts, OPEN_NETWORK)
    }
    reached = {mode: set(json.loads(result.stdout)) for mode, result in results.items()}
    assert reached["none"] == set()
    assert reached["loopback"] == {"own"}
    assert reached["hosts"] == {"own", "listed", "listed by proxy"}
    assert reached["open"] >= {"own", "listed", "unlisted"}  # the control: without a wall it works
    assert f"host 127.0.0.1:{unlisted}" in results["hosts"].refused
