from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from milepost.core.errors import Misuse
from milepost.core.shipping import Measurement
from milepost.core.watching import Severity
from milepost.store.database import Database, open_database
from milepost.watch.alert_book import AlertBook
from milepost.watch.alerts import BURN_RULES, DEFAULT_RULES, Alert, Rule, State, after, burn, burn_of

RULE = Rule(name="errors", metric="error_rate", severity=Severity.ERROR, fire=0.05, clear=0.02, for_s=3, keep_s=5)


def states(values: Sequence[float | None], rule: Rule = RULE, alert: Alert | None = None) -> list[str]:
    """One look a second."""
    alert, told = alert or Alert(), []
    for at, value in enumerate(values):
        alert = after(rule, alert, value, float(at), 1000.0 + at)
        told.append(alert.state.value)
    return told


def test_an_alert_needs_its_duration_and_is_resolved_only_after_a_while_below_the_lower_threshold() -> None:
    told = states([0, 0.1, 0.1, 0.1, 0.1, *[0.0] * 7])
    assert told == ["well", *["pending"] * 3, *["active"] * 6, "well", "well"]


def test_between_the_thresholds_it_stays_active_but_is_no_fresh_breach() -> None:
    alert = Alert(state=State.ACTIVE, seen_at=0.0)
    for at in range(1, 30):
        alert = after(RULE, alert, 0.03, float(at), 0.0)
        assert (alert.state, alert.fresh) == (State.ACTIVE, False)
    assert after(RULE, alert, 0.06, 30.0, 0.0).fresh


def test_a_value_that_comes_and_goes_never_fires() -> None:
    assert set(states([0.1, 0.0] * 30)) == {"pending", "well"}


def test_no_data_is_a_state_of_its_own_and_resolves_nothing() -> None:
    assert states([0.0] + [None] * 20)[-1] == "no data"
    assert states([None] * 20)[-1] == "no data"
    assert states([0.1] * 5 + [None] * 60)[-1] == "active"
    assert states([0.0] + [None] * 20 + [0.0])[-1] == "well"
    assert states([0.1, 0.1, None, 0.1, 0.1])[-2:] == ["active", "active"]


def test_a_clock_that_goes_back_restarts_timers_and_keeps_states() -> None:
    pending = Alert(state=State.PENDING, seen_at=5000.0, bad_since=4999.0)
    assert after(RULE, pending, 0.1, 3.0, 0.0).state is State.PENDING
    active = Alert(state=State.ACTIVE, seen_at=5000.0, good_since=4990.0)
    assert after(RULE, active, 0.0, 3.0, 0.0).state is State.ACTIVE


def test_a_gap_counts_for_nothing() -> None:
    pending = Alert(state=State.PENDING, seen_at=0.0, bad_since=0.0)
    assert after(RULE, pending, 0.1, 1000.0, 0.0).state is State.PENDING


def test_low_values_are_bad_where_a_rule_says_so() -> None:
    disk = replace(RULE, fire=0.05, clear=0.08, low=True)
    assert states([0.5, 0.04, 0.04, 0.04, 0.04], disk)[-1] == "active"
    assert states([0.04] * 5 + [0.06] * 20, disk)[-1] == "active"
    assert states([0.04] * 5 + [0.5] * 20, disk)[-1] == "well"


@pytest.mark.parametrize(
    ("metric", "fires", "severity"),
    [
        ("p99_ms", 1001, "warning"),
        ("error_rate", 0.051, "error"),
        ("cpu", 0.81, "warning"),
        ("memory", 0.86, "critical"),
    ],
)
def test_the_defaults_are_those_that_are_documented(metric: str, fires: float, severity: str) -> None:
    (rule,) = (rule for rule in DEFAULT_RULES if rule.metric == metric)
    assert rule.severity == severity
    assert states([fires] * 30, rule)[-1] == "active"
    assert states([rule.fire] * 30, rule)[-1] == "well"


def test_a_budget_that_burns_needs_both_windows() -> None:
    fast = BURN_RULES[0]
    now = 100_000.0

    def totals(long: tuple[float, float], short: tuple[float, float]) -> float | None:
        def total(metric: str, since: float) -> float | None:
            errors, requests = short if since == now - fast.short_s else long
            return errors if metric == "errors" else requests

        return burn_of(fast, 0.999, total, now)

    assert totals((20, 1000), (20, 1000)) == pytest.approx(20)
    assert totals((20, 1000), (0, 1000)) == 0
    assert totals((20, 1000), (0, 0)) is None
    assert burn(0, 0, 0.999) is None
    assert states([20.0], fast.as_rule()) == ["active"]
    assert states([14.0], fast.as_rule()) == ["well"]


@pytest.fixture
def database() -> Iterator[Database]:
    with closing(open_database(Path(":memory:"))) as opened:
        yield opened


def look(book: AlertBook, value: float | None, at: float, metric: str = "error_rate") -> None:
    book.look((RULE,), (Measurement(metric=metric, value=value, at=at),), at, 1000 + at)


def test_alerts_and_their_history_survive_a_restart(database: Database) -> None:
    for at in range(3):
        look(AlertBook(database, "local", "dev"), 0.1, float(at))
    assert AlertBook(database, "local", "dev").all()[0].alert.state is State.PENDING
    look(AlertBook(database, "local", "dev"), 0.1, 3.0)
    book = AlertBook(database, "local", "dev")
    assert [(one.name, one.status(0)) for one in book.all()] == [("errors", "active")]
    assert [(move.what, move.value) for move in book.history()] == [("active", 0.1)]
    assert AlertBook(database, "local", "prod").all() == ()


def test_it_is_told_once_and_again_until_somebody_was_told(database: Database) -> None:
    book = AlertBook(database, "local", "dev")
    for at in range(10):
        look(book, 0.1, float(at))
    assert [move.what for move in book.untold()] == ["active"]
    book.mark_told(book.untold())
    for at in range(10, 30):
        look(book, 0.0, float(at))
    assert [move.what for move in book.untold()] == ["resolved"]


def test_what_is_silenced_is_kept_and_not_told(database: Database) -> None:
    book = AlertBook(database, "local", "dev")
    look(book, 0.0, 0.0)
    book.silence("errors", 5000.0, "ann", 1000.0)
    for at in range(1, 10):
        look(book, 0.1, float(at))
    assert book.untold() == ()
    assert (book.all()[0].status(1010), book.all()[0].status(6000)) == ("silenced", "active")
    assert [(move.what, move.said_by) for move in book.history()] == [("active", ""), ("silenced", "ann")]


def test_who_acknowledges_does_so_until_it_is_resolved(database: Database) -> None:
    book = AlertBook(database, "local", "dev")
    for at in range(5):
        look(book, 0.1, float(at))
    book.acknowledge("errors", "ann", 1005.0)
    assert book.all()[0].status(1005) == "acknowledged"
    for at in range(5, 20):
        look(book, 0.0, float(at))
    for at in range(20, 30):
        look(book, 0.1, float(at))
    assert book.all()[0].status(1030) == "active"
    with pytest.raises(Misuse, match="there is no alert 'other'"):
        book.acknowledge("other", "ann", 0)


def test_each_instance_has_its_own_alert_and_one_that_is_gone_is_resolved(database: Database) -> None:
    book = AlertBook(database, "local", "dev")
    for at in range(5):
        look(book, 0.1, float(at), "error_rate@2.0")
        look(book, 0.0, float(at) + 0.5, "error_rate@2.1")
    assert [(one.name, one.status(0)) for one in book.all()] == [("errors 2.0", "active"), ("errors 2.1", "well")]
    book.drop(lambda name: name.endswith(" 2.0"), 2000.0)
    assert [one.name for one in book.all()] == ["errors 2.1"]
    assert book.history()[0].what == "resolved"


def test_a_person_is_called_once_for_a_reason(database: Database) -> None:
    book = AlertBook(database, "local", "dev")
    for at in range(5):
        book.call("everything is bad", 1000.0 + at)
    book.call("it is blind", 1006.0)
    book.well_again(1007.0)
    book.call("it is blind", 1008.0)
    assert [move.said_by for move in reversed(book.history())] == [
        "everything is bad",
        "it is blind",
        "",
        "it is blind",
    ]
