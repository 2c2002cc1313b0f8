"""What `make test-quick` runs: unit tests without the longest, and the files of other tests that took least.

`make test TIMES=1 | tee LOG`, then `python -m tests.quick LOG` writes it anew, as arguments of pytest, and the files
that took longest, which tests/order.py has begun with. Nobody edits them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.order import LONGEST

LIST = Path(__file__).with_name("quick.txt")
UNIT = "tests/unit"
LONG_S = 2.0  # what a unit test may take, with all its parameters
OTHERS_S = 30.0  # what all files together may take that are no unit tests
LONGEST_S = 20.0  # what a file takes that others should not wait for
_TIME = re.compile(r"^(?P<seconds>\d+\.\d+)s (?:call|setup|teardown) +(?P<file>tests/[\w/]+\.py)::(?P<name>\w+)")


def arguments(log: Iterable[str]) -> Iterator[str]:
    """The arguments of pytest for what is quick, by a log with its durations."""
    units: dict[str, float] = {}
    others: dict[str, float] = {}
    for line in log:
        if found := _TIME.match(line):
            is_unit = found["file"].startswith(f"{UNIT}/")
            took, key = (units, f"{found['file']}::{found['name']}") if is_unit else (others, found["file"])
            took[key] = took.get(key, 0.0) + float(found["seconds"])
    yield UNIT
    yield from (f"--deselect={name}" for name in sorted(units) if units[name] > LONG_S)
    yield from sorted(_fitting(others))


def longest(log: Iterable[str]) -> list[str]:
    """The files that took long, the longest first."""
    took: dict[str, float] = {}
    for line in log:
        if found := _TIME.match(line):
            took[found["file"]] = took.get(found["file"], 0.0) + float(found["seconds"])
    return sorted((file for file in took if took[file] > LONGEST_S), key=lambda file: (-took[file], file))


def _fitting(took: dict[str, float], seconds: float = OTHERS_S) -> Iterator[str]:
    """The quickest files that fit into so many seconds."""
    for file in sorted(took, key=lambda file: (took[file], file)):
        seconds -= took[file]
        if seconds < 0:
            return
        yield file


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text(errors="replace").splitlines()
    for path, found in ((LIST, arguments(lines)), (LONGEST, longest(lines))):
        path.write_text("".join(f"{line}\n" for line in found))
