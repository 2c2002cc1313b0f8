from __future__ import annotations

from collections.abc import Callable, Iterable

from milepost.core.shipping import Measurement
from milepost.core.watching import Severity
from milepost.engine.watching.charts import HOLDS_S, SLOTS, Kept, charts, slots, stretch
from milepost.engine.watching.overview import shown_alerts
from milepost.watch.alert_book import AlertMove, KeptAlert
from milepost.watch.alerts import Alert, State
from milepost.watch.series import Minute

LENGTH = 600.0
NOW = 90_000.0
WHEN = stretch(LENGTH, NOW)


def kept(metric: str, value: Callable[[float], float | None], moments: Iterable[float]) -> dict[str, Kept]:
    return {metric: Kept(points=[Measurement(metric=metric, value=value(at), at=at) for at in moments])}


def seconds(first: float, last: float) -> list[float]:
    return [NOW + at for at in range(int(first), int(last))]


def test_the_last_slot_is_that_of_now_and_slots_stay_where_they_are_as_time_goes_on() -> None:
    assert (WHEN.since, WHEN.until, WHEN.slot_s) == (NOW - LENGTH, NOW, 3.0)
    assert stretch(LENGTH, NOW + 0.1) == stretch(LENGTH, NOW + 2.9)
    assert stretch(LENGTH, NOW + 0.1).until == NOW + 3


def test_a_slot_has_its_worst_value_and_none_where_nothing_was_known_or_nobody_looked() -> None:
    (series,) = kept("cpu@1", lambda at: None if at < NOW - 300 else at % 3, seconds(-450, -150)).values()
    found = slots(series, WHEN)
    assert len(found) == SLOTS
    assert set(found[:100]) == {None}
    assert set(found[100:150]) == {2.0}
    assert set(found[150:155]) == {2.0}, "it holds for a while"
    assert set(found[156:]) == {None}
    assert slots(series, WHEN, min)[100] == 0.0


def test_looks_that_are_rare_leave_no_gaps_between_them() -> None:
    (series,) = kept("cpu@1", lambda _: 0.5, [NOW + at for at in range(-600, 0, 10)]).values()
    assert set(slots(series, WHEN)) == {0.5}


def test_what_is_no_number_is_not_drawn() -> None:
    (series,) = kept("queue", lambda at: float("inf") if at == NOW - 100 else 1.0, seconds(-600, 0)).values()
    assert set(slots(series, WHEN)) == {1.0}
    (endless,) = kept("queue", lambda _: float("inf"), seconds(-600, 0)).values()
    assert set(slots(endless, WHEN)) == {None}


def test_older_minutes_stand_with_their_worst_value_and_a_minute_without_one_is_a_gap() -> None:
    day = stretch(3600.0, NOW)
    minute = Minute(at=NOW - 3600, count=60, missing=0, total=1, least=0.1, most=0.9, p50=0.2, p95=0.3, p99=0.4)
    unknown = Minute(at=NOW - 3540, count=0, missing=60, total=0)
    found = slots(Kept(points=(), minutes=(minute, unknown)), day)
    assert found[:3] == (0.9, 0.9, 0.9)
    assert set(found[4:]) == {None}


def test_charts_that_matter_are_there_without_any_measurement() -> None:
    found = charts({}, WHEN, NOW)
    assert [(chart.name, chart.lines) for chart in found] == [
        (name, ()) for name in ("p99", "errors", "processor", "memory")
    ]


def test_a_line_says_nothing_of_now_when_the_last_look_is_too_old_or_told_nothing() -> None:
    old = kept("error_rate", lambda _: 0.0, seconds(-600, -HOLDS_S - 5))
    unknown = kept("p99_ms", lambda at: None if at == NOW - 1 else 5.0, seconds(-600, 0))
    found = {chart.name: chart.lines for chart in charts(old | unknown, WHEN, NOW)}
    assert found["errors"][0].now is None
    assert found["p99"][0].now is None
    assert found["errors"][0].gone
    fresh = kept("error_rate", lambda _: 0.0, seconds(-600, 0))
    assert [charts(fresh, WHEN, now)[1].lines[0].now for now in (NOW, None)] == [0.0, None]


def test_instances_that_are_no_longer_looked_at_are_gone_and_older_ones_are_left_out() -> None:
    series = (
        kept("cpu@1.0", lambda _: 0.1, seconds(-900, -700))
        | kept("cpu@2.0", lambda _: 0.2, seconds(-500, -100))
        | kept("cpu@3.0", lambda _: 0.3, seconds(-100, 0))
    )
    (lines,) = (chart.lines for chart in charts(series, WHEN, NOW) if chart.name == "processor")
    assert [(line.name, line.now, line.gone) for line in lines] == [("2.0", None, True), ("3.0", 0.3, False)]


def test_each_further_series_is_a_chart_of_its_own_name_and_an_alert_is_where_its_rule_has_it() -> None:
    series = (
        kept("ms@http://shop/", lambda _: 4.0, seconds(-600, 0))
        | kept("jobs", lambda _: 7.0, seconds(-600, 0))
        | kept("tls_days@http://shop/", lambda _: 20.0, seconds(-600, 0))
        | kept("up@control", lambda _: 1.0, seconds(-600, 0))
    )
    found = {chart.name: chart for chart in charts(series, WHEN, NOW)}
    assert [*found][4:] == ["jobs", "ms", "tls_days"]
    assert found["ms"].unit == "ms"
    assert (found["tls_days"].limit, found["tls_days"].low) == (14, True)
    assert found["p99"].limit == 1000
    assert found["jobs"].limit is None


def test_alerts_are_shown_by_severity_and_those_that_are_over_only_for_a_while() -> None:
    def alert(name: str, severity: Severity, state: State) -> KeptAlert:
        return KeptAlert(name=name, severity=severity, alert=Alert(state=state))

    def resolved(seq: int, name: str, at: float) -> AlertMove:
        return AlertMove(seq=seq, name=name, severity=Severity.ERROR, at=at, what="resolved", value=None, said_by="")

    alerts = (
        alert("slow answers", Severity.WARNING, State.ACTIVE),
        alert("memory", Severity.CRITICAL, State.NO_DATA),
        alert("errors", Severity.ERROR, State.WELL),
        alert("disk", Severity.CRITICAL, State.WELL),
        alert("restarts", Severity.WARNING, State.PENDING),
    )
    moves = (resolved(2, "errors", NOW - 5), resolved(1, "disk", NOW - 5000))
    found = shown_alerts(alerts, moves, NOW - LENGTH, NOW)
    assert [(one.kept.name, one.status) for one in found] == [
        ("memory", "no data"),
        ("slow answers", "active"),
        ("errors", "resolved"),
    ]
