"""Deploys under load on the local target: 500 requests a second for a minute, nine GETs to one POST, on loopback.

    python benchmarks/ship.py [RATE [SECONDS]]

In that time: a good release, one that is rejected, one whose every instance dies with traffic, one that fails a third
of its requests, a good one, a rollback, and an Envoy killed with -9. It prints what users saw fail, how long a switch
took, seconds from commit to live, and the processor time that both Envoys spent on a request; the time of an answer is
set beside that of an instance that is asked without the proxy in the same process.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from milepost.core.shipping import Release
from milepost.demo.users import Users
from tests import environment
from tests.deploying import Deployed, deployed

THREADS = 25


def load(port: int, rate: float) -> Users:
    """Requests at a steady rate, nine GETs to one POST."""
    return Users(port, "/work", users=THREADS, each_s=THREADS / rate, posts=10)


def main(rate: float, seconds: float) -> None:
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
        with load(project.port, rate) as users:
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
    print(f"{total} requests in {lasted:.0f} s ({total / lasted:.0f} a second), load average {os.getloadavg()[0]:.0f}")
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
    with load(port, rate / 2) as users:
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
    main(float((sys.argv[1:] or ["500"])[0]), float((sys.argv[2:] or ["60"])[0]))
