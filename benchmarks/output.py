"""What it costs to tell a command that prints 20,000 lines, against the same command with its output discarded.

    python benchmarks/output.py [ROUNDS] [--lines 20000]

The same program on the same terminal: once nobody listens, once somebody does to no end, once its lines are written to
a file, once they are told: written into a database in a file, with secrets taken out. It prints as fast as it can, as
no suite of tests does. The four are interleaved, several rounds each; printed are medians of wall time and of
this process's processor time. The goal is that telling takes at most twice as long as discarding.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measuring import Row, answers, arguments, tell

from milepost.core.commands import Command, CommandResult
from milepost.core.secrets.redact import Redactor
from milepost.engine.records.journal import Journal
from milepost.engine.terminals.command_events import CommandTeller
from milepost.engine.terminals.output_writer import Output
from milepost.sandbox.terminal import WalledTerminal

SECRETS = tuple(f"{name}-Zq9xW7vT5rP3nM1k" for name in ("one", "two", "three", "four", "five"))
PLAIN = "tests/unit/test_of_something.py::test_that_a_line_is_as_long_as_usual[{}] PASSED"
COLOURED = "\x1b[2mtests/unit/test_of_something.py\x1b[0m::test_of_a_usual_line[{}] \x1b[32mPASSED\x1b[0m"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that a command took, and seconds of a processor that this process spent on it."""

    wall_s: float
    cpu_s: float


def main() -> None:
    parser = arguments(__doc__, rounds=9)
    parser.add_argument("--lines", type=int, default=20_000)
    asked = answers(parser)
    lines = 200 if asked.smoke else asked.lines
    print(f"{lines:,} lines a command, wall time and processor time")
    for name, line in (("plain", PLAIN), ("coloured", COLOURED)):
        with tempfile.TemporaryDirectory(prefix="milepost-output-") as folder:
            costs = measured(Path(folder), line, lines, asked.rounds)
        for way, cost in costs.items():
            print(f"{name:9} {way:10} {cost.wall_s * 1000:6.0f} ms {cost.cpu_s * 1000:6.0f} ms")
        told = costs["told"]
        for way, other in costs.items():
            if way == "told":
                continue
            ratio, extra_us = told.wall_s / other.wall_s, (told.cpu_s - other.cpu_s) / lines * 1e6
            print(f"{name:9} told / {way:10} {ratio:5.2f} of wall time, {extra_us:.1f} µs more a line")
        discarded = costs["discarded"]
        what = f"told output, {name}, of discarded"
        tell(Row(what=what, now=told.wall_s * 1000, reference=discarded.wall_s * 1000, goal=2))


def measured(folder: Path, line: str, lines: int, rounds: int) -> dict[str, Cost]:
    """The costs of a command by what is done with its lines."""
    (folder / "tree").mkdir()
    (folder / "scratch").mkdir()
    script = f"import sys\nsys.stdout.writelines({line + chr(10)!r}.format(n) for n in range({lines}))"
    command = Command(argv=(sys.executable, "-c", script), cwd=folder / "tree", scratch=folder / "scratch")
    terminal = WalledTerminal()
    with (
        Journal(folder / "milepost.db") as journal,
        Output(journal, Redactor(SECRETS)) as output,
        (folder / "lines").open("w") as file,
    ):
        teller = CommandTeller(run="r1", task="1", attempt=1, by="agent", output=output, emit=journal.append)
        told = teller.around(terminal)
        ways: dict[str, Callable[[], CommandResult]] = {
            "discarded": lambda: terminal.run(command),
            "heard": lambda: terminal.run(command, lambda _: None),
            "in a file": lambda: terminal.run(command, lambda line: print(line.text, file=file)),
            "told": lambda: told.run(command),
        }
        taken = [{way: cost_of(run) for way, run in ways.items()} for _ in range(rounds)]
    return {way: median([each[way] for each in taken]) for way in ways}


def cost_of(run: Callable[[], CommandResult]) -> Cost:
    began, spent = time.perf_counter(), time.process_time()
    result = run()
    assert result.exit_code == 0, result
    return Cost(time.perf_counter() - began, time.process_time() - spent)


def median(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(each.wall_s for each in costs), statistics.median(each.cpu_s for each in costs))


if __name__ == "__main__":
    main()
