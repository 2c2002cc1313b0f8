"""What the sandbox costs, beside plain Python and beside what others use.

    python benchmarks/sandbox.py [ROUNDS] [--without-others]

All kinds are interleaved in one run, and each figure is also given as a ratio to a reference of the same run. Others
are smolagents' interpreter and RestrictedPython, installed once into a folder of their own, and bubblewrap, podman and
docker where this machine has them.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from measuring import Row, answers, arguments, levels, others_python, seconds, tell

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.local_executor import LocalExecutor
from milepost.sandbox.walls.warden import WARM

HERE = Path(__file__).parent
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
        self.ms.setdefault(words, []).append(seconds(action) * 1000)

    def median(self, words: str) -> float:
        return statistics.median(self.ms[words])


def main() -> None:
    asked = answers(arguments(__doc__, rounds=30))
    lines, walled = Lines(), levels()
    with contextlib.ExitStack() as stack:
        actions = dict(_programs())
        for level in walled:
            actions.update(_sessions(level, stack))
        local = LocalExecutor(MANY)
        stack.callback(local.close)
        actions["local: call"] = lambda: local.run("1 + 1")
        for _ in range(asked.rounds):
            for words, action in actions.items():
                lines.time(words, action)
        _print_starts(lines, walled)
        _print_work(walled, asked.rounds, SMALL if asked.smoke else SIZES)
        if python := others_python("sandbox", asked):
            _print_others(python, asked.rounds)
    for level in walled:
        _print_room(level, 3 if asked.smoke else SESSIONS)


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


def _print_starts(lines: Lines, levels: list[TrustLevel]) -> None:
    plain = lines.median("python -c pass")
    print(f"{'':32}{'ms':>8}{'of python -c pass':>20}")
    for words in lines.ms:
        if not words.endswith("let go"):
            print(f"{words:32}{lines.median(words):8.2f}{lines.median(words) / plain:20.3f}")
    for level, most in zip(levels, (0.5, 1.0), strict=False):
        for name, goal in (("open", most), ("take a spare", 1 / 15), ("call", 0.05)):
            what = f"{name.replace('open', 'open a session')}, {level.value}, of `python -c pass`"
            tell(Row(what=what, now=lines.median(f"{level.value}: {name}"), reference=plain, goal=goal))


def _print_work(levels: list[TrustLevel], rounds: int, sizes: dict[str, int]) -> None:
    """CPU-bound code, timed where it runs, beside the same code in a plain interpreter."""
    with contextlib.ExitStack() as stack:
        executors = [stack.enter_context(WalledExecutor(MANY, trust=level)) for level in levels]
        for name, template in WORK.items():
            code = _timed(template.format(sizes[name]))
            plain: list[float] = []
            inside: list[list[float]] = [[] for _ in levels]
            for _ in range(max(5, rounds // 3)):
                plain.append(float(_run(sys.executable, "-c", code)))
                for times, executor in zip(inside, executors, strict=True):
                    times.append(float(executor.run(code).output))
            best = min(plain)
            for level, times in zip(levels, inside, strict=True):
                what = f"CPU-bound code in a session, {level.value}, {name}, of plain CPython"
                tell(Row(what=what, now=min(times), reference=best, goal=1.05))


def _print_others(python: str, rounds: int) -> None:
    """Interpreters in the host's own process: what a call costs there, and how slow the code itself becomes."""
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


def _print_room(level: TrustLevel, sessions: int) -> None:
    """What many open sessions take of memory: what is theirs alone, and their share of what they have in common."""
    with contextlib.ExitStack() as stack:
        before = _processes()
        for _ in range(sessions):
            executor = stack.enter_context(WalledExecutor(MANY, trust=level))
            executor.run("1")
        shares = [_share_kb(pid) for pid in _processes() - before]
        each_mb = sum(shares) / 1024 / sessions
        print(f"{level.value}: {sessions} open sessions, {len(shares) / sessions:.0f} processes each")
        tell(Row(what=f"memory of an idle session, {level.value}", now=each_mb, unit="MB", goal=4))


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
