"""All benchmarks, one after the other, and one table of what has a goal.

    python benchmarks/all.py [--smoke [--quick]] [--docs] [NAME …]

With `--smoke` each runs as small as can be, to see that it works; `--quick` leaves out those that take longer then.
With `--docs` the table is written into docs/performance.md. It ends with 1 when a program failed; a goal that is missed
is only said.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring import HERE, ROWS, Row, load

PAGE = HERE.parent / "docs" / "performance.md"
BEGIN, END = "<!-- table: make bench-docs -->\n", "<!-- end of the table -->\n"
HEADS = ("what", "now", "reference", "ratio", "goal", "")


@dataclass(frozen=True, slots=True)
class Program:
    """A benchmark: how it is started; whether it takes but a few seconds when it is small."""

    words: str
    quick: bool = True


PROGRAMS = (
    Program("overhead.py"),
    Program("sandbox.py"),
    Program("agents.py"),
    Program("roadmap.py"),
    Program("context.py"),
    Program("memory.py"),
    Program("output.py"),
    Program("danger.py"),
    Program("engine.py", quick=False),
    Program("train.py", quick=False),
    Program("verify.py", quick=False),
    Program("verify.py --suite", quick=False),
    Program("web.py", quick=False),
    Program("ship.py", quick=False),
    Program("watch.py", quick=False),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    chosen = [
        each for each in PROGRAMS
        if (each.quick or not asked.quick) and (not asked.names or each.words.partition(".")[0] in asked.names)
    ]  # fmt: skip
    about = f"{time.strftime('%Y-%m-%d', time.gmtime())}, {load()} at the begin"
    with tempfile.TemporaryDirectory(prefix="milepost-rows-") as folder:
        rows_file = Path(folder, "rows")
        rows_file.touch()
        failed = [each.words for each in chosen if not ran(each, asked.smoke, rows_file)]
        rows = [Row(**json.loads(line)) for line in rows_file.read_text().splitlines()]
    about += f", {load()} at the end"
    print(f"\n{table(rows)}\n{about}; {sum(row.met for row in rows)} of {len(rows)} goals met")
    if failed:
        print(f"failed: {', '.join(failed)}")
    elif asked.docs:
        PAGE.write_text(with_table(PAGE.read_text(), f"{table(rows)}\n{about[:1].upper()}{about[1:]}.\n"))
    return 1 if failed else 0


def ran(program: Program, smoke: bool, rows: Path) -> bool:
    """Run one; whether it came to its end."""
    print(f"\n== {program.words}", flush=True)
    name, *words = program.words.split()
    argv = [sys.executable, str(HERE / name), *words, *(["--smoke"] if smoke else [])]
    before = os.times()
    done = subprocess.run(argv, env={**os.environ, ROWS: str(rows)})
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"-- {spent:.1f} s of a processor", flush=True)
    return done.returncode == 0


def table(rows: Sequence[Row]) -> str:
    """The rows as a table of Markdown."""
    lines = [HEADS, ("---",) * len(HEADS), *(row.cells() for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def with_table(page: str, made: str) -> str:
    """The page with a table in the place of the one before."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    sys.exit(main())
