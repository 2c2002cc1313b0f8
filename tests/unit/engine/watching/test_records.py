"""Which incidents are worth a task, and where its files are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.watching import RemedyKind
from milepost.engine.watching.incident_task import FOLDER
from milepost.engine.watching.records import Incident, RemedyRecord, deserves_task
from milepost.verify.judging.paths import is_test_name, is_test_path
from milepost.watch.heal.situation import RemedyOutcome

INCIDENT = Incident(number=1, release=2, began_at=5.0)
REMEDY = RemedyRecord(
    kind=RemedyKind.ROLL_BACK, subject="2", why="it fails", release=2, at=5.0, tick=5.0, boot="b", incident=1
)
BACK = replace(REMEDY, outcome=RemedyOutcome.HELPED)
RESTARTED = replace(BACK, kind=RemedyKind.RESTART)


@pytest.mark.parametrize(
    ("incident", "remedies", "expected"),
    [
        (INCIDENT, [BACK], True),
        (INCIDENT, [replace(BACK, outcome=RemedyOutcome.DID_NOT_HELP)], True),
        (INCIDENT, [REMEDY], False),
        (INCIDENT, [RESTARTED], False),
        (INCIDENT, [RESTARTED, replace(BACK, incident=7)], False),
        (INCIDENT, [], False),
        (replace(INCIDENT, ended_at=9.0), [], False),
        (replace(INCIDENT, called=True), [RESTARTED], True),
        (replace(INCIDENT, called=True), [REMEDY], False),
        (replace(INCIDENT, taken_back=True), [], True),
    ],
)
def test_what_was_not_healed_or_by_a_rollback_is_worth_a_task_once_nothing_is_under_way(
    incident: Incident, remedies: list[RemedyRecord], expected: bool
) -> None:
    assert deserves_task(incident, remedies) is expected


def test_a_reproduction_judges_and_no_runner_collects_it() -> None:
    name = "2026-11-20-local-dev-1.py"
    assert is_test_path(f"{FOLDER}/{name}")
    assert not is_test_name(name)
