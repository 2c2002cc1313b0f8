"""Probes against real servers, processes, files and certificates on loopback."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from milepost.core.ports import Probe
from milepost.core.shipping import Measurement
from milepost.watch.probes.connection import ConnectionProbe, ControlTarget
from milepost.watch.probes.http import ANSWER_S, HttpProbe
from milepost.watch.probes.log_pattern import LogProbe
from milepost.watch.probes.rounds import Opinion, Pace, Rounds, after_look, next_at
from milepost.watch.probes.scrape import ScrapeProbe


class Pages(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages: ClassVar[dict[str, tuple[int, bytes]]] = {
        "/": (200, b"all is well"),
        "/ill": (500, b"it is not"),
        "/metrics": (
            200,
            b'# TYPE asked counter\nasked_total{path="/"} 3\nasked_total{path="/b"} 4\n'
            b"load 0.5\nquiet NaN\nfull +Inf\n",
        ),
        "/wrong": (200, b"this is no metric {"),
    }

    def do_GET(self) -> None:
        if self.path == "/silent":
            self.rfile.read(1)  # until who asked is gone
            return
        status, body = self.pages.get(self.path, (404, b""))
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n")

    def log_message(self, *_: object) -> None: ...


@contextmanager
def served(context: ssl.SSLContext | None = None) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served() as port:
        yield port


def look(*probes: Probe) -> list[dict[str, float | None]]:
    """One look with each, in order and in one loop."""

    async def all_of_them() -> list[tuple[Measurement, ...]]:
        return [await probe.sample() for probe in probes]

    return [{one.metric: one.value for one in found} for found in asyncio.run(all_of_them())]


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return int(taken.getsockname()[1])


def test_a_page_is_up_by_its_status_and_its_words(port: int) -> None:
    address = f"http://127.0.0.1:{port}"
    well, ill, other = look(
        HttpProbe("a", f"{address}/", expected="is w.ll"),
        HttpProbe("a", f"{address}/ill"),
        HttpProbe("a", f"{address}/", expected="something else"),
    )
    assert (well["up@a"], well["status@a"]) == (1, 200)
    assert well["ms@a"] is not None
    assert (ill["up@a"], ill["status@a"]) == (0, 500)
    assert (other["up@a"], other["status@a"]) == (0, 200)


def test_what_does_not_answer_is_down_and_has_no_time(port: int) -> None:
    nobody, silent, wrong = look(
        HttpProbe("a", f"http://127.0.0.1:{free_port()}/"),
        HttpProbe("a", f"http://127.0.0.1:{port}/silent", timeout_s=0.05),
        HttpProbe("a", "ftp://127.0.0.1/"),
    )
    assert nobody == silent == wrong == {"up@a": 0, "ms@a": None, "status@a": None}


def test_a_page_that_hangs_is_down_before_its_look_is_given_up() -> None:
    assert Pace().timeout_s > ANSWER_S


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_certificate_is_measured_by_its_days_and_one_that_nobody_trusts_is_down(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    made = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    names = ("-keyout", str(key), "-out", str(certificate), "-days", "30", "-subj", "/CN=localhost")
    subprocess.run(
        (*made, *names, "-addext", "subjectAltName=IP:127.0.0.1"), check=True, capture_output=True, timeout=60
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))
    with served(server) as port:
        url = f"https://127.0.0.1:{port}/"
        trusted, strange = look(HttpProbe("a", url, trusted=trusting, timeout_s=10), HttpProbe("a", url, timeout_s=10))
    assert trusted["up@a"] == 1
    assert trusted["tls_days@a"] == pytest.approx(30, abs=0.1)
    assert strange == {"up@a": 0, "ms@a": None, "status@a": None}


def test_metrics_of_an_application_are_summed_over_their_labels(port: int) -> None:
    address = f"http://127.0.0.1:{port}"
    well, no_text, nobody = look(
        ScrapeProbe(f"{address}/metrics", ("asked_total", "load", "unknown", "quiet", "full")),
        ScrapeProbe(f"{address}/wrong", ("load",)),
        ScrapeProbe(f"http://127.0.0.1:{free_port()}/metrics", ("load",)),
    )
    assert well == {"asked_total": 7.0, "load": 0.5, "unknown": None, "quiet": None, "full": None}
    assert no_text == nobody == {"load": None}


def test_lines_of_a_log_are_counted_once_and_also_after_it_was_begun_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("ERROR of before\n")
    probe = LogProbe("errors", log, "ERROR")
    counts = look(probe)
    with log.open("a") as stream:
        stream.write("ERROR one\nwell\nERROR two\nERR")
    counts += look(probe)
    with log.open("a") as stream:
        stream.write("OR three\n")
    counts += look(probe, probe)
    os.truncate(log, 0)
    with log.open("a") as stream:
        stream.write("ERROR\n")
    counts += look(probe)
    log.unlink()
    counts += look(probe)
    assert [found["lines@errors"] for found in counts] == [0, 2, 1, 0, 1, None]


def test_the_control_target_answers_and_a_dependency_that_is_gone_does_not() -> None:
    with closing(ControlTarget()) as control:
        found = look(*[control] * 40, ConnectionProbe("store", "127.0.0.1", free_port()))
    assert found == [{"up@control": 1.0}] * 40 + [{"up@store": 0.0}]


def test_an_opinion_changes_after_several_looks_and_never_by_one_that_could_not_tell() -> None:
    pace = Pace(up=2, down=3)
    opinion, told = Opinion(), []
    for seen in (True, False, False, None, True, False, False, None, False, True, True):
        opinion = after_look(opinion, seen, pace)
        told.append(opinion.up)
    assert told == [True] * 8 + [False, False, True]


@pytest.mark.parametrize(("now", "then"), [(0.0, 0.618), (0.7, 1.618), (1.62, 2.618), (7.3, 7.618)])
def test_a_round_that_comes_too_late_is_left_out_and_probes_are_spread(now: float, then: float) -> None:
    assert next_at(0.0, now, 0, 1.0) == int(now) + 1
    assert next_at(0.0, now, 1, 1.0) == pytest.approx(then, abs=0.001)


class _Slow:
    """Takes longer than its interval, and notes whether it was asked while it was still at it."""

    def __init__(self) -> None:
        self.under_way, self.most, self.looks = 0, 0, 0
        self.enough = threading.Event()

    async def sample(self) -> tuple[Measurement, ...]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.03)
        self.under_way -= 1
        self.looks += 1
        if self.looks == 4:
            self.enough.set()
        return (Measurement(metric="up@slow", value=1.0, at=float(self.looks)),)


class _Stuck:
    async def sample(self) -> tuple[Measurement, ...]:
        await asyncio.sleep(3600)
        return ()


def test_a_probe_never_overlaps_with_itself_and_one_that_hangs_keeps_nobody_back() -> None:
    slow = _Slow()
    paces = {"slow": Pace(interval_s=0.01), "stuck": Pace(interval_s=0.01, timeout_s=0.02)}
    with Rounds({"slow": slow, "stuck": _Stuck()}, paces) as rounds:
        assert slow.enough.wait(60)
    assert slow.most == 1
    assert rounds.opinion("stuck") is None
    found = {(one.metric, one.value) for one in rounds.taken()}
    assert found == {("up@slow", 1.0), ("up@stuck", None)}
    assert rounds.taken() == ()
