"""What a watcher shows to Prometheus, read by Prometheus' own tools."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from milepost.cli.show.watch import Metrics
from milepost.core.watching import RemedyKind, Severity
from milepost.engine.watching.figures import KNOWN, figures
from milepost.engine.watching.follow import exporting
from milepost.engine.watching.watcher import Sight
from milepost.watch.alert_book import KeptAlert
from milepost.watch.alerts import Alert, State
from milepost.watch.heal.situation import RemedyOutcome
from tests.integration.repositories import new_place
from tests.integration.test_telemetry import collecting
from tests.tools import needs
from tests.unit.cli.test_show_watch import sight

HOSTILE = 'a "name" \\ with\nlines, <b>, \x1b[31m and \u202e'


def whole() -> Sight:
    """A look in which everything was measured that there is, below names that others chose."""
    values = {f"{name}@{HOSTILE}" if name != "burn" else "burn 14.4": 1.0 for name in KNOWN}
    others = {"http_requests_total": 5.0, "latencyMs": 4.0, HOSTILE: float("inf"), "error_rate": None}
    alert = KeptAlert(name=HOSTILE, severity=Severity.ERROR, alert=Alert(state=State.ACTIVE))
    judged = {(kind, RemedyOutcome.HELPED): 1 for kind in RemedyKind}
    return replace(sight(), values=values | others, alerts=(alert,), judged=judged)


@pytest.fixture
def shown() -> str:
    metrics, registry = Metrics(), CollectorRegistry()
    registry.register(metrics)
    assert generate_latest(registry) == b""
    metrics.sight = whole()
    return generate_latest(registry).decode()


def test_the_metrics_are_those_of_the_newest_look_and_leave_out_what_nobody_could_tell(shown: str) -> None:
    told = {family.name: family for family in text_string_to_metric_families(shown)}
    assert len(told) == len(KNOWN) + 3
    assert told["milepost_p99_seconds"].samples[0].value == 0.001
    assert [one.labels["subject"] for one in told["milepost_error_rate"].samples] == [HOSTILE]
    assert {one.labels["subject"] for one in told["milepost_scraped"].samples} == {
        "http_requests_total",
        "latencyMs",
        HOSTILE,
    }
    assert told["milepost_alert_active"].samples[0].labels["alert"] == HOSTILE
    assert told["milepost_remedies"].type == "counter"
    assert {one.labels["kind"] for one in told["milepost_remedies"].samples} == {kind.value for kind in RemedyKind}


def test_a_collector_is_told_the_same_where_one_is_named_and_nothing_where_none_is(tmp_path: Path) -> None:
    roadmap = new_place(tmp_path).top / "ROADMAP.md"
    with collecting() as collector:
        with exporting(roadmap, {}) as export:
            export(whole())
        assert collector.requests == 0
        with exporting(roadmap, {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}) as export:
            export(whole())
    assert {one.of.name for one in figures(whole())} == set(collector.metrics)


@needs("promtool")
def test_promtool_accepts_the_metrics(shown: str) -> None:
    done = subprocess.run(("promtool", "check", "metrics"), input=shown, text=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
