"""The order of tests among several workers: each begins with some of the files that take longest.

`--dist worksteal` gives each worker as many tests that stand together, in the order in which they were collected, and a
worker that has nothing left steals from the end of another's. So what is long comes first in each share, and what is
left at the end is short: without this, the last minutes are one worker's. `python -m tests.quick` writes the list.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import pytest

LONGEST = Path(__file__).with_name("longest.txt")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    files = [item.nodeid.partition("::")[0] for item in items]
    items[:] = [items[position] for position in shared(files, workers, LONGEST.read_text().splitlines())]


def shared(files: Sequence[str], workers: int, longest: Sequence[str]) -> list[int]:
    """The positions of tests, by the file of each, in the order in which so many workers are to be given them."""
    places: dict[str, list[int]] = {}
    for position, file in enumerate(files):
        places.setdefault(file, []).append(position)
    first = [file for file in longest if file in places]
    shares: list[list[int]] = [[] for _ in range(workers)]
    for file, number in zip(first, cycle([*range(workers), *reversed(range(workers))]), strict=False):
        shares[number] += places[file]
    sizes = [(len(files) + number) // workers for number in range(workers)]  # as xdist divides them
    if any(len(share) > size for share, size in zip(shares, sizes, strict=True)):
        return list(range(len(files)))  # too few others to even it out
    rest = iter([position for file in places if file not in first for position in places[file]])
    for share, size in zip(shares, sizes, strict=True):
        share.extend(islice(rest, size - len(share)))
    return [position for share in shares for position in share]
