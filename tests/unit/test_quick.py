"""What is quick is told by the times of a run, and names files that are there."""

from __future__ import annotations

from tests.quick import LIST, LONG_S, OTHERS_S, UNIT, arguments

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
