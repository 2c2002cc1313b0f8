"""By which an error is known again."""

from __future__ import annotations

import pytest

from milepost.memory.recall.signature import signatures, telling
from tests.recall.labelled import rows

SAME = [
    (
        "KeyError: 'winter'",
        '  File "/ci/8/dues.py", line 90, in load\n    x["winter"]\nKeyError: \'winter\'\n1 failed in 3.2s',
    ),
    ("app.errors.PageNotFound: page 12", "\x1b[31mPageNotFound: page 977\x1b[0m"),
    ("src/a.ts(1,2): error TS2345: No 'price'.", "> tsc\nsrc/a.ts(88,21): error TS2345: No 'price'.\nFound 1 error."),
    ("OSError: [Errno 98] in use: '/run/1/app.sock'", "OSError: [Errno 98] in use: '/var/run/22/app.sock'"),
    (
        "E  AssertionError: assert 1 == 2\nFAILED tests/t.py::test_a[3]",
        "E  AssertionError: assert 8 == 9\nFAILED t.py::test_a",
    ),
]
OTHER = [
    ("ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'numpy'"),
    ("E  AssertionError: assert 1 == 2\nFAILED t.py::test_a", "E  AssertionError: assert 1 == 2\nFAILED t.py::test_b"),
    ("error TS2345: No 'price'.", "error TS2339: No 'price'."),
    ("OSError: [Errno 98] busy", "OSError: [Errno 13] busy"),
]


@pytest.mark.parametrize(("one", "same"), SAME)
def test_the_same_error_in_another_place_has_a_signature_in_common(one: str, same: str) -> None:
    assert set(signatures(one)) & set(signatures(same))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_an_error_about_something_else_has_none_in_common(one: str, other: str) -> None:
    assert signatures(one) and signatures(other)
    assert not set(signatures(one)) & set(signatures(other))


def test_there_are_two_with_the_place_first_and_one_where_the_other_says_nothing() -> None:
    assert signatures(
        "File \"/x/load.py\", line 3, in f\nimport yaml\nModuleNotFoundError: No module named 'yaml'"
    ) == (
        "load.py: modulenotfounderror: no module named 'yaml'",
        "modulenotfounderror: no module named 'yaml'",
    )
    assert signatures("E  AssertionError: assert 1 == 2\nFAILED tests/t.py::test_a") == (
        "t.py::test_a: assertionerror: assert # == #",
    )
    assert signatures("all is well") == signatures("") == ()


@pytest.mark.parametrize(
    ("signature", "tells"),
    [
        ("1f2e3d4c KeyError: <name>", False),
        ("keyerror: 'winter'", True),
        ("ImportError: cannot import name <name>", False),
    ],
)
def test_a_signature_without_anything_of_its_own_tells_nothing(signature: str, tells: bool) -> None:
    assert telling(signature) == tells


def test_it_is_read_in_time_whatever_is_printed() -> None:
    for text in ("a/" * 500_000, "Error" * 200_000, "x.Error: " + "'" * 300_000, "at (" * 200_000, "_" * 500_000):
        signatures(text)


def test_the_errors_of_the_labelled_set_never_meet_one_of_another() -> None:
    known = {row["id"]: set(signatures(row["error"])) for row in rows("episodes.jsonl") if row.get("error")}
    for query in rows("queries.jsonl"):
        if query["kind"] == "error":
            asked = set(signatures(query["text"]))
            hits = {name for name, found in known.items() if found & asked}
            assert all(name.startswith(query["expected"]) for name in hits), (asked, hits)
