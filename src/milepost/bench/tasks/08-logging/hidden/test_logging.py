import logging

from worker import work


def records(caplog, jobs):
    caplog.set_level(logging.DEBUG)
    work(jobs)
    return [record for record in caplog.records if record.name == "worker"]


def test_levels(caplog):
    levels = [record.levelname for record in records(caplog, {"a": lambda: 1, "b": lambda: 1 / 0})]
    assert levels == ["DEBUG", "INFO", "DEBUG", "ERROR", "INFO"]


def test_jobs_are_named(caplog):
    seen = records(caplog, {"alpha": lambda: 1})
    assert all("alpha" in record.getMessage() for record in seen[:2])


def test_a_failure_has_its_traceback(caplog):
    failed = [record for record in records(caplog, {"b": lambda: 1 / 0}) if record.levelname == "ERROR"]
    assert failed[0].exc_info[0] is ZeroDivisionError


def test_nothing_is_configured():
    assert not logging.getLogger("worker").handlers
    assert logging.getLogger("worker").level == logging.NOTSET


def test_no_jobs(caplog):
    assert records(caplog, {})[-1].getMessage() == "0 done, 0 failed"
