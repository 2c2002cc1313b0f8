"""The watcher against faults put into a live release, on the local target under load, on loopback.

    python benchmarks/watch.py [--smoke] [--times 3] [--rate 200] [--seconds 25] [FAULT ...]     all when none is named
    python benchmarks/watch.py --probes                                    only what 1,000 probes a second take

Three instances and a warm release before them; nine GETs to one POST, asked by a process of its own. For each fault it
prints the seconds until it was noticed, what was done and when, the seconds until all was well again, what users saw
fail, and which acts were wrong: those that the fault did not call for, on this instance or at all. A leak counts from
when the instance has reached its limit. What is done to the watcher itself (it is blind, its network comes and goes,
its clock jumps) is done inside it and not to the machine.

The disk is a small file system in memory, mounted where nobody else sees it: by root, else in a user namespace.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import multiprocessing
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from unittest import mock

from measuring import Row, load, tell

sys.path.insert(0, str(Path(__file__).parents[1]))

from milepost.core.shipping import Measurement
from milepost.engine.watching.follow import follow
from milepost.engine.watching.records import RemedyRecord
from milepost.engine.watching.watcher import Sight, kept
from milepost.ship.local.look import look_at
from milepost.watch.heal.situation import Escalate
from milepost.watch.probes.connection import ConnectionProbe
from milepost.watch.probes.http import HttpProbe
from milepost.watch.probes.rounds import Rounds
from tests import environment
from tests.deploying import Deployed, Users
from tests.faulty import faulty, inject

CALM_S, THREADS = 5.0, 100
MEMORY_MB, DISK_MB = 120, 48
NOTICED_S, WELL_S, CORE = 3.5, 4.0, 0.25
APART = "MILEPOST_BENCH_MOUNTS_APART"


@dataclass
class Scene:
    """One release with a watcher and its users."""

    project: Deployed
    rate: float
    undo: ExitStack
    """Ends what was put in, when the run ends at the latest."""
    fault_at: float = math.inf
    sighted: list[tuple[float, bool]] = field(default_factory=list)
    """When it was looked, and whether something was wrong."""
    calls: list[str] = field(default_factory=list)
    noticed_at: float | None = None

    def sight(self, sight: Sight) -> None:
        if sight.situation is not None:
            self.sighted.append((time.monotonic(), sight.situation.breach))
        if isinstance(sight.decision, Escalate) and sight.decision.why not in self.calls:
            self.calls.append(sight.decision.why)


Put = Callable[[Scene], None]


def nothing(_: Scene) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is put in, what ends it, and which acts are right."""

    put: Put
    right: tuple[str, ...] = ()
    """How acts begin that are right: a kind, or one with its subject."""
    heals: bool = True
    """One of these is due, and makes it well."""
    seen: bool = True
    """It is something to notice."""
    settings: str = ""
    before: Put = nothing
    end_s: float | None = None
    end: Put = nothing
    mounted: bool = False
    killed: bool = False
    """The first watcher kills itself when it has written down what it is about to do."""


def putting(kind: str, value: float, only: int | None = None) -> Put:
    return lambda scene: inject(scene.project, kind, value, only=only)


def crash(scene: Scene, count: int) -> None:
    live = scene.project.shown()[0]
    for at in range(count):
        if pid := scene.project.pid_of(f"{live}.{at}"):
            os.kill(pid, signal.SIGKILL)


def leak(scene: Scene) -> None:
    inject(scene.project, "leak", 400_000, only=0)
    pid = scene.project.pid_of(f"{scene.project.shown()[0]}.0")
    until = time.monotonic() + 20
    with suppress(OSError):  # it may be exchanged as soon as it has reached the limit
        while time.monotonic() < until:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            if pages * resource.getpagesize() > 0.85 * MEMORY_MB * 1_000_000:
                return
            time.sleep(0.02)


with closing(socket.create_server(("127.0.0.1", 0))) as _free:
    PORT = _free.getsockname()[1]
    """Where the dependency is, while it is up."""


def serve_dependency(scene: Scene) -> None:
    listener = socket.create_server(("127.0.0.1", PORT), backlog=256)

    def accept() -> None:
        with suppress(OSError):
            while True:
                listener.accept()[0].close()

    threading.Thread(target=accept, daemon=True).start()

    def stop() -> None:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()

    scene.undo.callback(stop)


def depend(scene: Scene) -> None:
    serve_dependency(scene)
    inject(scene.project, "depends", PORT)


def cut(scene: Scene, *, on_s: float = 0.0, off_s: float = math.inf) -> None:
    """The watcher's looks over the network fail; with `on_s` they come and go."""
    started = time.monotonic()

    def is_off() -> bool:
        return (time.monotonic() - started) % (on_s + off_s) < off_s

    sample = ConnectionProbe.sample

    async def blind(probe: ConnectionProbe) -> tuple[Measurement, ...]:
        found = await sample(probe)
        return tuple(replace(one, value=0.0) for one in found) if is_off() else found

    def unseen(program: object, kept: object, path: str) -> object:
        found = look_at(program, kept, path)  # type: ignore[arg-type]
        return replace(found, problem="the network is unreachable") if is_off() else found

    scene.undo.enter_context(mock.patch.object(ConnectionProbe, "sample", blind))
    scene.undo.enter_context(mock.patch("milepost.ship.local.watched.look_at", unseen))


def jump(scene: Scene, seconds: float) -> None:
    clock = time.time
    scene.undo.enter_context(mock.patch("time.time", lambda: clock() + seconds))


def jump_and_fail(scene: Scene) -> None:
    jump(scene, 3600)
    inject(scene.project, "errors", 0.3)


def spike(scene: Scene) -> None:
    scene.undo.enter_context(asking(scene.project.port, 3 * scene.rate))


def undo(scene: Scene) -> None:
    scene.undo.close()


BACK = ("roll back 2",)
FAULTS: Mapping[str, Fault] = {
    "crash of one": Fault(put=partial(crash, count=1), right=("replace",)),
    "crash of all": Fault(put=partial(crash, count=3), right=("replace",)),
    "every instance dies again": Fault(put=putting("dies", 1, only=0), right=(*BACK, "replace")),
    "leak in one": Fault(put=leak, right=("restart 2.0",), settings=f"memory_mb = {MEMORY_MB}"),
    "spin in one": Fault(put=putting("spin", 60, only=0), right=("restart 2.0",)),
    "one is slow": Fault(put=putting("slow", 1.6, only=0), right=("restart 2.0",)),
    "release is slow": Fault(put=putting("slow", 1.5), right=BACK),
    "30 % errors": Fault(put=putting("errors", 0.3), right=BACK),
    "disk fills slowly": Fault(
        put=putting("fill", 8_000), right=("clear disk",), end_s=12, end=putting("fill", 0), mounted=True
    ),
    "disk fills fast": Fault(
        put=putting("fill", 25_000), right=("clear disk",), end_s=12, end=putting("fill", 0), mounted=True
    ),
    "dependency down": Fault(
        put=undo,
        heals=False,
        settings=f'dependencies = ["127.0.0.1:{PORT}"]',
        before=depend,
        end_s=10,
        end=serve_dependency,
    ),
    "health page is wrong": Fault(put=putting("ill", 1), heals=False),
    "watcher is blind": Fault(put=cut, heals=False, end_s=8, end=undo),
    "clock an hour ahead, 30 % errors": Fault(put=jump_and_fail, right=BACK),
    "clock an hour back": Fault(put=partial(jump, seconds=-3600), heals=False, seen=False),
    "network comes and goes": Fault(put=partial(cut, on_s=1.1, off_s=0.7), heals=False, seen=False, end_s=12, end=undo),
    "four times the load": Fault(
        put=spike, right=("scale out",), heals=False, seen=False, before=putting("busy", 0.002), end_s=10, end=undo
    ),
    "watcher killed in a remedy": Fault(put=putting("errors", 0.3), right=BACK, killed=True),
}


@dataclass(frozen=True, kw_only=True)
class Came:
    """What came of one fault; seconds since it was put in."""

    noticed: float | None
    done: tuple[str, ...]
    well: float | None
    lost: tuple[int, int]
    asked: int
    wrong: tuple[str, ...]


def run(fault: Fault, rate: float, seconds: float) -> Came:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        if fault.mounted:
            stack.enter_context(mounted(folder))
        project = stack.enter_context(faulty(folder, f"[watch]\n{fault.settings}\n"))
        if fault.mounted:
            stack.callback(resize, folder, 10 * DISK_MB)  # a target is not ended on a full disk
        scene = Scene(project, rate, stack.enter_context(ExitStack()))
        fault.before(scene)
        answers: Counter[tuple[str, int | str]] = Counter()
        with asking(project.port, rate, answers):
            watch(scene, fault, seconds)
        with kept(project.roadmap, "local", "dev") as (_, healing, _series):
            remedies, incidents = healing.remedies(), healing.incidents()
        if fault.killed and incidents:
            scene.noticed_at = incidents[0].began_at - time.time() + time.monotonic()
    return judged(scene, fault, remedies, answers)


def watch(scene: Scene, fault: Fault, seconds: float) -> None:
    """Watch from before the fault until the seconds are over."""
    over = threading.Event()

    def tell(sight: Sight) -> bool:
        scene.sight(sight)
        return not over.is_set()

    watcher = threading.Thread(target=follow, args=(scene.project.roadmap, "local", "dev", "auto", tell))
    first = start_one_that_dies(scene.project) if fault.killed else None
    with ExitStack() as stack:
        stack.callback(lambda: watcher.join() if watcher.is_alive() else None)
        stack.callback(over.set)
        if first is None:
            watcher.start()
        time.sleep(CALM_S)
        begun = time.monotonic()
        fault.put(scene)
        scene.fault_at = time.monotonic() if fault.put is leak else begun
        if first is not None:
            first.wait(60)
            watcher.start()
        if fault.end_s is not None:
            time.sleep(fault.end_s)
            fault.end(scene)
        time.sleep(max(0.0, begun + seconds - time.monotonic()))


def start_one_that_dies(project: Deployed) -> subprocess.Popen[bytes]:
    seen = project.place.top.parent / "seen"
    seen.write_text("")
    return subprocess.Popen(
        (sys.executable, "-m", "milepost", "watch", "local", "--heal", "auto"),
        cwd=project.place.top,
        env=os.environ | {"MILEPOST_CHAOS_SEEN": str(seen)},
        stdout=subprocess.DEVNULL,
    )


def judged(
    scene: Scene, fault: Fault, remedies: Sequence[RemedyRecord], answers: Counter[tuple[str, int | str]]
) -> Came:
    acts = [f"{one.kind} {one.subject}" for one in remedies]
    since = [(at - scene.fault_at, bad) for at, bad in scene.sighted if at >= scene.fault_at]
    noticed = next((at for at, bad in since if bad), None)
    if scene.noticed_at is not None:
        noticed = scene.noticed_at - scene.fault_at
    ill = [at for at, is_bad in since if is_bad] + [one.tick - scene.fault_at for one in remedies]
    well = next((at for at, is_bad in since if not is_bad and at > max(ill)), None) if ill else None
    lost = [sum(n for (how, what), n in answers.items() if how == each and what != 200) for each in ("GET", "POST")]
    return Came(
        noticed=noticed,
        done=(
            *(
                f"{act} ({one.tick - scene.fault_at:.1f} s, {one.outcome}: {one.why})"
                for act, one in zip(acts, remedies, strict=True)
            ),
            *(f"a person ({why})" for why in scene.calls),
        ),
        well=well,
        lost=(lost[0], lost[1]),
        asked=sum(answers.values()),
        wrong=tuple(act for act in acts if not act.startswith(fault.right or "\0")),
    )


@contextmanager
def asking(port: int, rate: float, answers: Counter[tuple[str, int | str]] | None = None) -> Iterator[None]:
    """Users in a process of their own, so that the watcher is not kept waiting for them."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=ask_always, args=(port, rate, theirs), daemon=True)
    process.start()
    ours.recv()
    try:
        yield
    finally:
        ours.send("over")
        (answers if answers is not None else Counter()).update(ours.recv())
        process.join()


def ask_always(port: int, rate: float, told: Connection) -> None:
    with Users(port, users=THREADS, each_s=THREADS / rate) as users:
        told.send("begun")
        told.recv()
    told.send(users.answers)


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """The folder is on a small disk."""
    subprocess.run(("mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", folder), check=True)
    try:
        yield
    finally:
        subprocess.run(("umount", "--lazy", folder), check=True)


def resize(folder: Path, size_mb: int) -> None:
    subprocess.run(("mount", "-o", f"remount,size={size_mb}m", folder), check=True)


def mount_apart() -> bool:
    """Start this again where what it mounts is seen by nobody else; whether that has been done, or cannot be."""
    if os.environ.get(APART):
        return True
    words = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    with suppress(OSError):
        if subprocess.run([*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0:
            os.environ[APART] = "1"
            os.execvp(words[0], [*words, sys.executable, *sys.argv])
    return False


def probes(count: int, seconds: float) -> None:
    """What one loop takes for so many HTTP probes a second, beside the same requests with nothing around them."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=answer_always, args=(theirs,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/"
    known = {f"{url}{at}": HttpProbe(f"{url}{at}", f"{url}{at}") for at in range(count)}
    with Rounds(known) as rounds:
        time.sleep(1.5)
        rounds.taken()
        started, used = time.monotonic(), time.process_time()
        time.sleep(seconds)
        used, took = time.process_time() - used, time.monotonic() - started
        found = [one for one in rounds.taken() if one.metric.startswith("up@")]
    well = sum(one.value == 1.0 for one in found)
    with Rounds({f"{at}": Bare(url) for at in range(count)}) as rounds:
        time.sleep(1.5)
        rounds.taken()
        bare = time.process_time()
        time.sleep(seconds)
        bare = (time.process_time() - bare) / max(1, len(rounds.taken())) * count
    server.terminate()
    print(f"{len(found)} probes in {took:.1f} s, {well} well, {used / took:.0%} of a processor; {load()}", flush=True)
    each = used / max(1, len(found)) * count
    words = f"watch: processor of {count:,} HTTP probes"
    tell(
        Row(what=f"{words} a second", now=each, goal=CORE * count / 1000, unit="s"),
        Row(what=f"{words}, beside bare connections", now=each, reference=bare, goal=1.5, unit="s"),
    )


class Bare:
    """The same request, and nothing but its bytes."""

    def __init__(self, url: str) -> None:
        self._port = int(url.split(":")[2].strip("/"))

    async def sample(self) -> tuple[Measurement, ...]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        await reader.read()
        writer.close()
        return (Measurement(metric="up@bare", value=1.0, at=0.0),)


def answer_always(told: Connection) -> None:
    """A server that costs as little as it can."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwell"

    class Answers(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport

        def data_received(self, _: bytes) -> None:
            assert isinstance(self.transport, asyncio.Transport)
            self.transport.write(answer)
            self.transport.close()

    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Answers, "127.0.0.1", 0, backlog=2048)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


def _s(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"


def rows_of(name: str, fault: Fault, came: Sequence[Came]) -> list[Row]:
    """What has a goal: noticed, and well after that. What was not in one of the runs is never."""

    def middle(values: Iterator[float | None]) -> float:
        return statistics.median(math.inf if value is None else value for value in values)

    rows = []
    if fault.seen:
        rows.append(
            Row(what=f"watch, {name}: noticed", now=middle(one.noticed for one in came), goal=NOTICED_S, unit="s")
        )
    if fault.heals:
        after = (None if one.well is None or one.noticed is None else one.well - one.noticed for one in came)
        rows.append(Row(what=f"watch, {name}: well, since noticed", now=middle(after), goal=WELL_S, unit="s"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=", ".join(FAULTS).replace("%", "%%"))
    parser.add_argument("--smoke", action="store_true", help="as small as can be, to see that it works")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--probes", action="store_true", help="only what 1,000 probes a second take")
    asked = parser.parse_args()
    if asked.smoke:
        asked.times, asked.seconds = 1, 8.0
    if unknown := set(asked.faults) - set(FAULTS):
        parser.error(f"there is no fault {', '.join(sorted(unknown))}: see --help")
    names = asked.faults or (["crash of one"] if asked.smoke else list(FAULTS))
    chosen = {} if asked.probes else {name: FAULTS[name] for name in names}
    if any(fault.mounted for fault in chosen.values()) and not mount_apart():
        print("not measured: a disk that fills, since nothing can be mounted here", flush=True)
        chosen = {name: fault for name, fault in chosen.items() if not fault.mounted}
    environment.settle()
    environment.keep_state_apart()
    environment.agree()
    if asked.probes or not asked.faults:
        probes(100 if asked.smoke else 1000, 2.0 if asked.smoke else 10.0)
    if chosen:
        faults(chosen, asked.times, asked.rate, asked.seconds)


def faults(chosen: Mapping[str, Fault], times: int, rate: float, seconds: float) -> None:
    print(f"{rate:.0f} requests a second, {seconds:.0f} s each; {load()}", flush=True)
    wrong = 0
    for name, fault in chosen.items():
        came = [run(fault, rate, seconds) for _ in range(times)]
        for one in came:
            lost = f"lost {one.lost[0]} GET {one.lost[1]} POST of {one.asked}"
            done = ", ".join(one.done) or "nothing"
            print(
                f"{name}: noticed {_s(one.noticed)}; done: {done}; well {_s(one.well)}; {lost}; "
                f"wrong: {', '.join(one.wrong) or 'nothing'}; {load()}",
                flush=True,
            )
        tell(*rows_of(name, fault, came))
        wrong += sum(len(one.wrong) for one in came)
    tell(Row(what="watch: wrong acts", now=wrong, goal=0, unit="acts"))


if __name__ == "__main__":
    main()
