"""What the machine lacks is told as that; what the work broke is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from milepost.core.verdict import CheckResult, Evidence, TestCase, Verdict
from milepost.repair.diagnosis.machine_fault import machine_fault
from milepost.verify.judging.red_base import with_hints

POSTGRES = 'connection to server at "127.0.0.1", port 5432 failed: Connection refused'


def failed(log: str = "", summary: str = "exit 1", **more: Any) -> CheckResult:
    return CheckResult(name="verify", outcome="failed", summary=summary, log=log, **{"exit_code": 1, **more})


@pytest.mark.parametrize(
    ("log", "what"),
    [
        ("OSError: [Errno 28] No space left on device: '/x'", "the disk is full"),
        (
            "HTTPSConnectionPool(host='pypi.org', port=443): Failed to establish a new connection",
            "the package index cannot be reached",
        ),
        ("npm error getaddrinfo EAI_AGAIN registry.npmjs.org", "the package index cannot be reached"),
    ],
)
def test_what_comes_and_goes_is_the_machines_whatever_the_base_was_like(log: str, what: str) -> None:
    for before in ("passed", "failed", None):
        found = machine_fault(failed(log, before=before))
        assert found is not None and found.what == what


@pytest.mark.parametrize(
    ("log", "what"),
    [
        (POSTGRES, "PostgreSQL on port 5432 cannot be reached from the sandbox"),
        (
            "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
            "Redis on port 6379 cannot be reached from the sandbox",
        ),
        ("Error: connect ECONNREFUSED ::1:27017", "MongoDB on port 27017 cannot be reached from the sandbox"),
        ("error: rustup could not choose a version of cargo to run", "no toolchain is chosen"),
        (
            "node: error while loading shared libraries: libssl.so.1: cannot open shared object file",
            "a shared library is missing: libssl.so.1",
        ),
    ],
)
def test_what_lasts_is_the_machines_unless_it_worked_at_the_base(log: str, what: str) -> None:
    found = machine_fault(failed(log, before="failed"))
    assert found is not None and found.what == what
    assert machine_fault(failed(log, before="passed")) is None


def test_a_service_is_told_with_the_two_settings_that_let_it_through() -> None:
    found = machine_fault(failed(POSTGRES))
    assert found is not None
    assert '[sandbox] network = ["127.0.0.1:5432"]' in found.advice and "[surroundings] env" in found.advice


def test_a_case_that_passed_at_the_base_speaks_for_the_machine() -> None:
    broken = TestCase(id="t::a", outcome="failed", message=POSTGRES, before="passed")
    assert machine_fault(failed(cases=(broken,))) is None


@pytest.mark.parametrize(
    ("summary", "before", "is_fault"),
    [
        ("`make test` not found: make", "failed", True),
        ("`greet --help` not found: greet", "failed", False),
        ("`make test` not found: make", "passed", False),
        ("`pytest tests/test_new.py` not found: pytest", None, True),
    ],
)
def test_a_program_of_a_toolchain_is_missed_and_one_that_the_task_makes_is_not(
    summary: str, before: str | None, is_fault: bool
) -> None:
    assert (machine_fault(failed(summary=summary, before=before, exit_code=None)) is not None) is is_fault


@pytest.mark.parametrize(
    "log", ["AssertionError: 1 != 2", "ConnectionRefusedError: [Errno 111] Connection refused", "listening on 5432"]
)
def test_the_rest_is_nobodys_but_the_works(log: str) -> None:
    assert machine_fault(failed(log, before="failed")) is None


def test_a_file_that_git_ignores_and_checkouts_lack_is_the_machines_unless_it_was_there_at_the_base() -> None:
    missing = "exit 1: FileNotFoundError: [Errno 2] No such file or directory: '.env'"
    evidence = Evidence(tree="t", verdict=Verdict.FAILED, checks=(failed(summary=missing, before="failed"),))
    (told,) = with_hints(evidence, {".env": True}.get).checks
    found = machine_fault(told)
    assert found is not None
    assert found.what == "checkouts do not have .env, which git ignores"
    assert found.advice == '[workspace] copy = [".env"] copies it into checkouts'
    absent = machine_fault(with_hints(evidence, {".env": False}.get).checks[0])
    assert absent is not None and absent.advice.startswith("write .env, which is not in your repository either; [work")
    assert machine_fault(replace(told, before="passed")) is None
    assert with_hints(evidence, lambda path: None) == evidence and machine_fault(evidence.checks[0]) is None
