"""The command: `python -m tests.fuzz TARGET --minutes N`; exits with 1 when something was found."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from pathlib import Path

from tests import environment
from tests.fuzz.run import bound_memory, fuzz, keep
from tests.fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000_000)
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    given = parser.parse_args()
    environment.settle()
    environment.keep_state_apart()
    environment.agree()
    logging.disable()
    bound_memory()
    began = time.monotonic()
    folder = given.findings / given.target
    folder.mkdir(parents=True, exist_ok=True)
    with TARGETS[given.target]() as target:
        report = fuzz(target, seconds=given.minutes * 60, first_seed=given.seed, last=folder / "last.txt")
    minutes = (time.monotonic() - began) / 60
    told = f"{given.target}: {minutes:.1f} minutes, {report.executions} executions, {len(report.findings)} findings"
    sys.stdout.write("\n  ".join((told, *report.findings)) + "\n")
    keep(report, folder)
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
