"""What is quick, and what comes first, is told by the times of a run, and names files that are there."""

from __future__ import annotations

from tests.order import LONGEST, shared
from tests.quick import LIST, LONG_S, LONGEST_S, OTHERS_S, UNIT, arguments, longest

LOG = f"""\
============ slowest durations ============
{OTHERS_S}s call     tests/integration/test_slow.py::test_a[tests/integration/test_x.py::x]
0.50s setup    tests/integration/test_fast.py::test_a
0.25s call     tests/integration/test_fast.py::test_b
0.10s teardown tests/recall/test_index.py::test_a
{LONG_S}s call     tests/unit/engine/test_a.py::test_long[one]
0.01s call     tests/unit/engine/test_a.py::test_long[two]
{LONG_S}s call     tests/unit/engine/test_a.py::test_short
1.00s wall of something else
"""


def test_long_unit_tests_and_files_that_do_not_fit_are_left_out() -> None:
    assert list(arguments(LOG.splitlines())) == [
        UNIT,
        "--deselect=tests/unit/engine/test_a.py::test_long",
        "tests/integration/test_fast.py",
        "tests/recall/test_index.py",
    ]
    assert list(arguments([])) == [UNIT]


def test_the_list_names_tests_that_are_there() -> None:
    first, *others = LIST.read_text().splitlines()
    assert first == UNIT
    for path, _, name in (line.removeprefix("--deselect=").partition("::") for line in others):
        assert f"def {name or 'test_'}" in (LIST.parents[1] / path).read_text(), (path, name)


def test_the_longest_files_are_told_with_the_longest_first() -> None:
    log = [
        f"{LONGEST_S}s call     tests/e2e/test_b.py::test_a",
        "1.00s setup    tests/e2e/test_b.py::test_b",
        f"{LONGEST_S}s call     tests/e2e/test_c.py::test_a",
        f"{LONGEST_S * 2}s call     tests/web/test_a.py::test_a",
    ]
    assert longest(log) == ["tests/web/test_a.py", "tests/e2e/test_b.py"]


def test_each_worker_begins_with_some_of_the_longest_and_ends_with_short_ones() -> None:
    files = [*"aabbccdd", *"xxxxxxxxxx"]
    order = shared(files, 2, ["d", "b", "a", "gone"])
    assert sorted(order) == list(range(len(files)))
    halves = ["".join(files[position] for position in half) for half in (order[:9], order[9:])]
    assert halves == ["ddccxxxxx", "bbaaxxxxx"]


def test_a_few_tests_of_long_files_stay_as_they_were_collected() -> None:
    assert shared([*"aab"], 3, ["a"]) == [0, 1, 2]
    assert shared([*"aab"], 1, ["b"]) == [2, 0, 1]


def test_the_longest_files_are_there() -> None:
    named = LONGEST.read_text().splitlines()
    assert named and all((LONGEST.parents[1] / file).is_file() for file in named)
