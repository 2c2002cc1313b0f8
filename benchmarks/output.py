"""What it costs to tell a command that prints 20,000 lines, against the same command whose lines nobody tells.

    python benchmarks/output.py [LINES]

The same program on the same terminal, and each time somebody listens to its lines: once to no end, once to write them
into a database in a file, with secrets taken out. It prints as fast as it can, which no suite of tests does. The two
are interleaved, several rounds each; printed are medians of wall time and of this process's own processor time.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from milepost.core.commands import Command
from milepost.core.ports import Terminal
from milepost.core.redact import Redactor
from milepost.engine.journal import Journal
from milepost.engine.output import Output
from milepost.engine.told_terminal import CommandTeller
from milepost.sandbox.terminal import WalledTerminal

ROUNDS = 9
SECRETS = tuple(f"{name}-Zq9xW7vT5rP3nM1k" for name in ("one", "two", "three", "four", "five"))
PLAIN = "tests/unit/test_of_something.py::test_that_a_line_is_as_long_as_usual[{}] PASSED"
COLOURED = "\x1b[2mtests/unit/test_of_something.py\x1b[0m::test_of_a_usual_line[{}] \x1b[32mPASSED\x1b[0m"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that a command took, and seconds of a processor that this process spent on it."""

    wall_s: float
    cpu_s: float


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print(f"{lines:,} lines a command, {ROUNDS} rounds, medians of wall time and processor time")
    for name, line in (("plain", PLAIN), ("coloured", COLOURED)):
        with tempfile.TemporaryDirectory(prefix="milepost-output-") as folder:
            untold, told = measured(Path(folder), line, lines)
        print(f"{name:9} not told {untold.wall_s * 1000:6.0f} ms {untold.cpu_s * 1000:6.0f} ms")
        print(f"{name:9} told     {told.wall_s * 1000:6.0f} ms {told.cpu_s * 1000:6.0f} ms")
        extra_us = (told.cpu_s - untold.cpu_s) / lines * 1e6
        print(f"{name:9} ratio    {told.wall_s / untold.wall_s:6.2f} (goal: at most 2), {extra_us:.1f} µs a line")


def measured(folder: Path, line: str, lines: int) -> tuple[Cost, Cost]:
    """The costs of a command that is not told, and of one that is."""
    (folder / "tree").mkdir()
    (folder / "scratch").mkdir()
    script = f"import sys\nsys.stdout.writelines({line + chr(10)!r}.format(n) for n in range({lines}))"
    command = Command(argv=(sys.executable, "-c", script), cwd=folder / "tree", scratch=folder / "scratch")
    terminal = WalledTerminal()
    with Journal(folder / "milepost.db") as journal, Output(journal, Redactor(SECRETS)) as output:
        teller = CommandTeller(run="r1", task="1", attempt=1, by="agent", output=output, emit=journal.append)
        rounds = [(cost(terminal, command), cost(teller.around(terminal), command)) for _ in range(ROUNDS)]
    untold, told = zip(*rounds, strict=True)
    return median(untold), median(told)


def cost(terminal: Terminal, command: Command) -> Cost:
    began, spent = time.perf_counter(), time.process_time()
    result = terminal.run(command, lambda _: None)
    assert result.exit_code == 0, result
    return Cost(time.perf_counter() - began, time.process_time() - spent)


def median(costs: tuple[Cost, ...]) -> Cost:
    return Cost(statistics.median(each.wall_s for each in costs), statistics.median(each.cpu_s for each in costs))


if __name__ == "__main__":
    main()
