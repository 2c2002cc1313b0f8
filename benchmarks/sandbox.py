"""What the sandbox costs, beside plain Python and beside what others use.

    python benchmarks/sandbox.py [ROUNDS] [--without-others]

All kinds are interleaved in one run, and each figure is also given as a ratio to a reference of the same run. Others
are smolagents' interpreter and RestrictedPython, installed once into a folder of their own, and bubblewrap, podman and
docker where this machine has them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.errors import MilepostError
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.levels import require
from milepost.sandbox.local_executor import LocalExecutor
from milepost.sandbox.walls.warden import WARM

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "pipelines"))
from others import installed  # noqa: E402

ROUNDS = 30
SESSIONS = 200
MANY = ExecutionLimits(steps=1_000_000, output_bytes=2_000_000, timeout_s=120)
WORK = {
    "fib": "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib({})",
    "loop": "total = 0\nfor n in range({}):\n    total += n % 7",
    "json": "import json\ntext = json.dumps([{{'n': n, 'text': str(n)}} for n in range(200)])\n"
    "for _ in range({}): json.loads(text)",
}
SIZES = {"fib": 24, "loop": 1_000_000, "json": 1_000}
SMALL = {"fib": 14, "loop": 10_000, "json": 10}
PASS = (sys.executable, "-I", "-S", "-c", "pass")


@dataclass
class Lines:
    """What was measured, in milliseconds, under the words it is printed with."""

    ms: dict[str, list[float]] = field(default_factory=dict)

    def time(self, words: str, action: Callable[[], object]) -> None:
        started = time.perf_counter()
        action()
        self.ms.setdefault(words, []).append((time.perf_counter() - started) * 1000)

    def median(self, words: str) -> float:
        return statistics.median(self.ms[words])


def main() -> None:
    rounds = next((int(text) for text in sys.argv[1:] if text.isdigit()), ROUNDS)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {rounds} rounds, medians\n")
    lines = Lines()
    with contextlib.ExitStack() as stack:
        actions = dict(_programs())
        levels = [level for level in (TrustLevel.ISOLATED, TrustLevel.SANDBOXED) if _holds(level)]
        for level in levels:
            actions.update(_sessions(level, stack))
        actions.update(_local(stack))
        for _ in range(rounds):
            for words, action in actions.items():
                lines.time(words, action)
        _print_starts(lines, levels)
        _print_work(levels, rounds)
        if "--without-others" not in sys.argv:
            _print_others(rounds)
    for level in levels:
        _print_room(level)


def _programs() -> Iterator[tuple[str, Callable[[], object]]]:
    """Programs that are started anew each time."""
    # With site, as anybody starts Python: this is the reference of the goals.
    yield "python -c pass", lambda: _run(sys.executable, "-c", "pass")
    imports = "import " + ", ".join(WARM)
    yield "python -c, the same imports", lambda: _run(sys.executable, "-c", imports)
    if bwrap := shutil.which("bwrap"):
        argv = (bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--die-with-parent")
        if _works(*argv, "true"):
            yield "bubblewrap + python -c pass", lambda: _run(*argv, sys.executable, "-c", "pass")
    for engine in ("podman", "docker"):
        if shutil.which(engine) and (image := _image_with_python(engine)):
            start = (engine, "run", "--rm", "--network", "none", image, "python3", "-c", "pass")
            yield f"{engine} + python3 -c pass", partial(_run, *start)


def _sessions(level: TrustLevel, stack: contextlib.ExitStack) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is done with sessions at one level: opened, taken from the spare ones, asked, made to print."""
    workspace = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    warm = stack.enter_context(WalledExecutor(MANY, trust=level, workspace=workspace))
    warm.open()
    opened: list[WalledExecutor] = []

    def open_one() -> None:
        executor = WalledExecutor(MANY, trust=level, workspace=workspace)
        executor.open()
        opened.append(executor)

    def close_one() -> None:
        opened.pop().close()

    spare = stack.enter_context(WalledExecutor(MANY, trust=level, workspace=workspace, spares=1))
    spare.run("1")

    def take_spare() -> None:
        spare.open()

    def let_go() -> None:
        spare.run("1")
        spare.reset()

    yield f"{level.value}: let go", let_go  # begins the spare one that is taken below, when it is ready
    yield f"{level.value}: open", open_one
    yield f"{level.value}: close", close_one
    yield f"{level.value}: call", lambda: warm.run("1")
    yield f"{level.value}: 1 MB of output", lambda: warm.run("print('x' * 1_000_000)")
    yield f"{level.value}: take a spare", take_spare


def _local(stack: contextlib.ExitStack) -> Iterator[tuple[str, Callable[[], object]]]:
    if _holds(TrustLevel.LOCAL):
        local = LocalExecutor(MANY)
        stack.callback(local.close)
        yield "local: call", lambda: local.run("1 + 1")


def _print_starts(lines: Lines, levels: list[TrustLevel]) -> None:
    plain, imports = lines.median("python -c pass"), lines.median("python -c, the same imports")
    print(f"{'':32}{'ms':>8}{'of python -c pass':>20}")
    for words in lines.ms:
        if not words.endswith("let go"):
            print(f"{words:32}{lines.median(words):8.2f}{lines.median(words) / plain:20.3f}")
    goals = [("isolated: open", "python -c, the same imports", imports, 1 / 10)]
    goals += [("isolated: open", "python -c pass", plain, 1 / 2)]
    if "bubblewrap + python -c pass" in lines.ms:
        bubblewrap = lines.median("bubblewrap + python -c pass")
        goals += [("sandboxed: open", "bubblewrap + python -c pass", bubblewrap, 2 / 3)]
    for level in levels:
        goals += [(f"{level.value}: take a spare", "python -c pass", plain, 1 / 15)]
        goals += [(f"{level.value}: call", "python -c pass", plain, 1 / 20)]
    print(f"\n{'goal':32}{'ratio':>8}{'goal':>8}")
    for words, reference, ms, goal in goals:
        if words in lines.ms:
            ratio = lines.median(words) / ms
            print(f"{words:32}{ratio:8.3f}{goal:8.3f}  {'met' if ratio <= goal else 'missed'}  of {reference}")


def _print_work(levels: list[TrustLevel], rounds: int) -> None:
    """CPU-bound code, timed where it runs, beside the same code in a plain interpreter."""
    print(f"\n{'CPU-bound, ms':32}{'plain':>8}" + "".join(f"{level.value:>12}{'ratio':>8}" for level in levels))
    with contextlib.ExitStack() as stack:
        executors = [stack.enter_context(WalledExecutor(MANY, trust=level)) for level in levels]
        for name, template in WORK.items():
            code = _timed(template.format(SIZES[name]))
            plain: list[float] = []
            inside: list[list[float]] = [[] for _ in levels]
            for _ in range(max(5, rounds // 3)):
                plain.append(float(_run(sys.executable, "-c", code)))
                for times, executor in zip(inside, executors, strict=True):
                    times.append(float(executor.run(code).output))
            best = min(plain)
            row = "".join(f"{min(times):12.1f}{min(times) / best:8.2f}" for times in inside)
            print(f"{name:32}{best:8.1f}{row}   best of {len(plain)}")


def _print_others(rounds: int) -> None:
    """Interpreters in the host's own process: what a call costs there, and how slow the code itself becomes."""
    try:
        python = installed(HERE / "requirements-sandbox.txt")
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"\nothers: not installed: {problem}")
        return
    print(f"\n{'in the host process, ms':32}{'call':>8}" + "".join(f"{name:>10}{'ratio':>8}" for name in WORK))
    works = {name: template.format(SMALL[name]) for name, template in WORK.items()}
    for kind in ("plain", "smolagents", "restricted"):
        argv = (python, str(HERE / "interpreters.py"), kind, str(max(3, rounds // 5)), *works.values())
        said = subprocess.run(argv, capture_output=True, text=True)
        if said.returncode:
            print(f"{kind:32} failed: {said.stderr.strip().splitlines()[-1]}")
            continue
        call, *times = map(float, said.stdout.split())
        if kind == "plain":
            reference = times
        pairs = zip(times, reference, strict=True)
        print(f"{kind:32}{call:8.3f}" + "".join(f"{time:10.2f}{time / plain:8.1f}" for time, plain in pairs))


def _print_room(level: TrustLevel) -> None:
    """What many open sessions take of memory: what is theirs alone, and their share of what they have in common."""
    with contextlib.ExitStack() as stack:
        before = _processes()
        for _ in range(SESSIONS):
            executor = stack.enter_context(WalledExecutor(MANY, trust=level))
            executor.run("1")
        shares = [_share_kb(pid) for pid in _processes() - before]
        total_mb = sum(shares) / 1024
        words = f"{total_mb / SESSIONS:.2f} MB each, {len(shares) / SESSIONS:.0f} processes each"
        print(f"\n{level.value}: {SESSIONS} open sessions take {total_mb:.0f} MB ({words})")


def _holds(level: TrustLevel) -> bool:
    try:
        require(level)
    except MilepostError as problem:
        print(f"{level.value} is left out: {problem}")
        return False
    return True


def _timed(code: str) -> str:
    """The code, in a function of its own, printing the milliseconds it took."""
    body = "\n".join("    " + line for line in code.splitlines())
    clock = "started = time.perf_counter()\nwork()\nprint((time.perf_counter() - started) * 1000)"
    return f"import time\ndef work():\n{body}\n{clock}"


def _run(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def _works(*argv: str) -> bool:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(argv, capture_output=True, timeout=30).returncode == 0
    return False


def _image_with_python(engine: str) -> str | None:
    """An image that is here already and has Python; none is fetched."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run((engine, "images", "--quiet"), capture_output=True, text=True, timeout=20).stdout
        for image in dict.fromkeys(listed.split()):
            if _works(engine, "run", "--rm", "--network", "none", image, "python3", "-c", "pass"):
                return image
    return None


def _processes() -> set[int]:
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()}


def _share_kb(pid: int) -> int:
    with contextlib.suppress(OSError):
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
        return int(found[1]) if found else 0
    return 0


if __name__ == "__main__":
    main()
