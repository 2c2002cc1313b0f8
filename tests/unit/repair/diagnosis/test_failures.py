from __future__ import annotations

from milepost.core.failures import Failure, FailureClass
from milepost.repair.diagnosis.failure_log import FailureLog
from milepost.store.database import Database


def failure(signature: str, kind: FailureClass = FailureClass.TEST_FAILURE, summary: str = "it failed") -> Failure:
    return Failure(kind=kind, severity="medium", signature=signature, summary=summary)


def test_failures_are_counted_by_error_with_what_mended_them(database: Database) -> None:
    log = FailureLog(database)
    log.keep("7f3a", "1.1", 1, failure("aa", summary="older"), at=10.0)
    log.keep("7f3a", "1.1", 2, failure("aa"), at=20.0)
    log.keep("7f3a", "1.2", 1, failure("bb", FailureClass.IMPORT_ERROR), at=15.0)
    log.keep("91c0", "1.1", 1, failure("aa", summary="newest"), at=30.0)
    log.ended("7f3a", "1.1", "attempt 3 by claude", at=25.0)
    log.ended("7f3a", "1.2", "", at=26.0)

    first, second = FailureLog(database).stats()

    assert (first.kind, first.signature, first.count, first.last_seen) == (FailureClass.TEST_FAILURE, "aa", 3, 30.0)
    assert first.example == "newest"
    assert first.mended_by == (("attempt 3 by claude", 2),)
    assert (second.signature, second.count, second.mended_by) == ("bb", 1, ())


def test_a_step_that_runs_twice_counts_once_and_a_new_judgement_replaces_the_old(database: Database) -> None:
    log = FailureLog(database)
    for _ in range(2):
        log.keep("7f3a", "1.1", 1, failure("aa"), at=10.0)
        log.ended("7f3a", "1.1", "recipe: missing dependency", at=11.0)
    log.ended("7f3a", "1.1", "somebody else", at=99.0)
    log.keep("7f3a", "1.1", 1, failure("bb", FailureClass.REGRESSION), at=50.0)

    (only,) = log.stats()

    assert (only.kind, only.signature, only.count, only.last_seen) == (FailureClass.REGRESSION, "bb", 1, 10.0)
    assert only.mended_by == (("recipe: missing dependency", 1),)


def test_only_the_newest_are_kept(database: Database) -> None:
    log = FailureLog(database, most=3)
    for number in range(1, 6):
        log.keep("7f3a", "1.1", number, failure(f"s{number}"), at=float(number))

    assert [one.signature for one in log.stats()] == ["s5", "s4", "s3"]
