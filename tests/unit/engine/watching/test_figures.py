from __future__ import annotations

from dataclasses import replace

from milepost.core.watching import RemedyKind
from milepost.engine.watching.figures import figures
from milepost.watch.heal.situation import RemedyOutcome
from tests.unit.cli.test_show_watch import sight


def test_a_look_is_told_in_base_units_and_without_what_nobody_could_tell() -> None:
    values = {
        "p99_ms": 250.0,
        "error_rate": None,
        "cpu@2.0": 0.2,
        "burn 14.4": 3.0,
        "jobs_total": 7.0,
        "tls_days@x": 2.0,
    }
    told = {
        (one.of.name, one.facts.get("subject", "")): one.value
        for one in figures(replace(sight(), values=values, alerts=()))
    }
    assert told == {
        ("milepost.p99_seconds", ""): 0.25,
        ("milepost.cpu", "2.0"): 0.2,
        ("milepost.burn", "14.4"): 3.0,
        ("milepost.scraped", "jobs_total"): 7.0,
        ("milepost.tls_seconds", "x"): 172_800.0,
    }


def test_active_alerts_and_what_came_of_remedies_are_told_with_where_it_was() -> None:
    judged = {(RemedyKind.ROLL_BACK, RemedyOutcome.HELPED): 2}
    alert, remedies = figures(replace(sight(), values={}, judged=judged))
    assert alert.of.name == "milepost.alert_active"
    assert alert.facts == {"target": "local", "environment": "dev", "alert": "errors", "severity": "error"}
    assert (remedies.of.name, remedies.of.kind, remedies.value) == ("milepost.remedies", "total", 2)
    assert remedies.facts == {"target": "local", "environment": "dev", "kind": "roll back", "outcome": "helped"}
