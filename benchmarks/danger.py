"""What it costs to judge a command before it runs.

    python benchmarks/danger.py [ROUNDS]

Commands as agents run them, half of them through a shell; printed are the median and the 99th percentile of one
decision, and what a script of 200 lines takes. A decision should stay below a millisecond.
"""

from __future__ import annotations

import statistics
import sys
import time

from milepost.sandbox.danger import danger_of

ROUNDS = 200
COMMANDS = (
    ["pytest", "-q", "tests/test_executor.py"],
    ["git", "push", "--force", "origin", "main"],
    ["rm", "-rf", "build", "dist"],
    ["docker", "run", "--rm", "-v", "./data:/data", "alpine", "ls"],
    ["bash", "-lc", "cd src && for d in build dist; do rm -rf $d; done && make test 2>&1 | tee log.txt"],
    ["bash", "-c", "find . -name '*.pyc' | xargs rm -f && env CI=1 timeout 60 npm test"],
    ["sh", "-c", "sqlite3 app.db <<EOF\nselect 1;\nDROP TABLE users;\nEOF"],
    ["python3", "-c", "import subprocess; subprocess.run(['git', 'status'])"],
)
SCRIPT = ["bash", "-c", "make test && cp a b\n" * 200]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    danger_of(SCRIPT)
    times = [_seconds(argv) for _ in range(rounds) for argv in COMMANDS]
    tail = statistics.quantiles(times, n=100)[98]
    print(f"one command   median {statistics.median(times) * 1e6:.0f} µs   99 % below {tail * 1e6:.0f} µs")
    print(f"a script of 200 lines   {statistics.median(_seconds(SCRIPT) for _ in range(9)) * 1e3:.1f} ms")


def _seconds(argv: list[str]) -> float:
    started = time.perf_counter()
    danger_of(argv)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
