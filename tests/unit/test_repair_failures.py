from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from milepost.core.errors import StateUnwritable
from milepost.core.failures import Failure, FailureClass
from milepost.repair.failures import FailureLog


def failure(signature: str, kind: FailureClass = FailureClass.TEST_FAILURE, summary: str = "it failed") -> Failure:
    return Failure(kind=kind, severity="medium", signature=signature, summary=summary)


def test_failures_are_counted_by_error_with_what_mended_them(tmp_path: Path) -> None:
    log = FailureLog(tmp_path / "milepost.db")
    log.keep("7f3a", "1.1", 1, failure("aa", summary="older"), at=10.0)
    log.keep("7f3a", "1.1", 2, failure("aa"), at=20.0)
    log.keep("7f3a", "1.2", 1, failure("bb", FailureClass.IMPORT_ERROR), at=15.0)
    log.keep("91c0", "1.1", 1, failure("aa", summary="newest"), at=30.0)
    log.ended("7f3a", "1.1", "attempt 3 by claude", at=25.0)
    log.ended("7f3a", "1.2", "", at=26.0)

    first, second = FailureLog(tmp_path / "milepost.db").stats()

    assert (first.kind, first.signature, first.count, first.last_seen) == (FailureClass.TEST_FAILURE, "aa", 3, 30.0)
    assert first.example == "newest"
    assert first.mended_by == (("attempt 3 by claude", 2),)
    assert (second.signature, second.count, second.mended_by) == ("bb", 1, ())


def test_a_step_that_runs_twice_counts_once_and_a_new_judgement_replaces_the_old(tmp_path: Path) -> None:
    log = FailureLog(tmp_path / "milepost.db")
    for _ in range(2):
        log.keep("7f3a", "1.1", 1, failure("aa"), at=10.0)
        log.ended("7f3a", "1.1", "recipe: missing dependency", at=11.0)
    log.ended("7f3a", "1.1", "somebody else", at=99.0)
    log.keep("7f3a", "1.1", 1, failure("bb", FailureClass.REGRESSION), at=50.0)

    (only,) = log.stats()

    assert (only.kind, only.signature, only.count, only.last_seen) == (FailureClass.REGRESSION, "bb", 1, 10.0)
    assert only.mended_by == (("recipe: missing dependency", 1),)


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    log = FailureLog(tmp_path / "milepost.db", most=3)
    for number in range(1, 6):
        log.keep("7f3a", "1.1", number, failure(f"s{number}"), at=float(number))

    assert [one.signature for one in log.stats()] == ["s5", "s4", "s3"]


def test_looking_makes_nothing_and_a_database_of_others_is_left_as_it_is(tmp_path: Path) -> None:
    nowhere, theirs = tmp_path / "none.db", tmp_path / "milepost.db"
    with sqlite3.connect(theirs) as connection:
        connection.execute("create table runs (run text)")
    connection.close()

    assert FailureLog(nowhere).stats() == FailureLog(theirs).stats() == ()
    FailureLog(theirs).ended("7f3a", "1.1", "x", at=1.0)

    assert not nowhere.exists()
    with sqlite3.connect(theirs) as connection:
        assert connection.execute("select name from sqlite_master").fetchall() == [("runs",)]
    connection.close()


def test_a_file_that_is_no_database_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "milepost.db").write_text("not a database, but long enough to be read as one " * 40)

    with pytest.raises(StateUnwritable, match="failure log"):
        FailureLog(tmp_path / "milepost.db").stats()
