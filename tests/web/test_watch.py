"""What is watched, on the page: series with their gaps, alerts, what was done and whether it helped."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milepost.api.watching import overview_to_json
from milepost.core.shipping import Measurement
from milepost.core.watching import RemedyKind, Severity
from milepost.engine.watching.charts import Kept, charts, stretch
from milepost.engine.watching.overview import Overview, ShownAlert
from milepost.engine.watching.records import Incident, RemedyRecord
from milepost.watch.alert_book import AlertMove, KeptAlert
from milepost.watch.alerts import Alert, State
from milepost.watch.heal.situation import RemedyOutcome
from tests.web import axe
from tests.web.chromium import Pages
from tests.web.modules import Modules
from tests.web.scene import began
from tests.web.stage import BEGAN, Stage

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = "<img src=x onerror=alert(1)> \u202egnp\x1b[31m"
SECONDS = 600
NOW = BEGAN + SECONDS
Value = Callable[[int], float | None]

ROLLBACK = RemedyRecord(
    number=1,
    kind=RemedyKind.ROLL_BACK,
    subject="2",
    why="users suffer since a young release",
    release=2,
    at=NOW - 200,
    tick=5.0,
    boot="b",
    incident=1,
    done=True,
    outcome=RemedyOutcome.HELPED,
    before={"well instances": 3.0, "requests": 540.0, "error_rate": 0.31, "p99_ms": 1420.0},
    after={"well instances": 3.0, "requests": 610.0, "error_rate": 0.0, "p99_ms": 38.0},
    ended_at=NOW - 195,
)
INCIDENT = Incident(
    number=1,
    release=2,
    began_at=NOW - 204,
    ended_at=NOW - 180,
    timeline=((NOW - 204, "roll back 2: users suffer"), (NOW - 195, "roll back 2 helped"), (NOW - 180, "well again")),
)


def series(metric: str, value: Value, seconds: range = range(SECONDS)) -> tuple[str, Kept]:
    return metric, Kept(points=[Measurement(metric=metric, value=value(at), at=BEGAN + at) for at in seconds])


def alert(name: str, severity: Severity, status: str, **more: Any) -> ShownAlert:
    kept = Alert(**{"state": State.ACTIVE, "since": NOW - 100, **more})
    return ShownAlert(kept=KeptAlert(name=name, severity=severity, alert=kept), status=status)


def moved(seq: int, name: str, what: str, why: str = "") -> AlertMove:
    return AlertMove(seq=seq, name=name, severity=Severity.INFO, at=NOW - seq, what=what, value=None, said_by=why)


def overview(**more: Any) -> Overview:
    """Ten minutes with a bad release in them, and half a minute in which nobody could tell anything."""

    def bad(well: float, ill: float) -> Value:
        return lambda at: None if 120 <= at < 150 else (ill if 380 <= at < 405 else well) * (1 + 0.2 * math.sin(at / 9))

    def busy(one: int) -> Value:
        return lambda at: 0.2 + 0.1 * one + 0.02 * math.sin(at / 20)

    kept = dict(
        (
            *(series(f"p{share}_ms", bad(*of)) for share, of in ((50, (12, 300)), (95, (25, 900)), (99, (38, 1400)))),
            series("error_rate", bad(0.001, 0.3)),
            series("requests", bad(200, 180)),
            series("disk_free", lambda _: 0.4),
            *(series(f"cpu@2.{one}", busy(one)) for one in range(3)),
            series(f"lines@log {HOSTILE}", lambda at: float(at % 50 == 0)),
        )
    )
    return Overview(
        **{
            "target": "local",
            "environment": "dev",
            "watched": True,
            "looked_at": NOW,
            "since": BEGAN,
            "until": NOW,
            "charts": charts(kept, stretch(SECONDS, NOW), NOW),
            "alerts": (),
            "moves": (),
            "incidents": (),
            **more,
        }
    )


def shown(stage: Stage, pages: Pages, **how: Any) -> Page:
    """The page with what is watched in front."""
    stage.tell(began("1.1"))
    page = pages.open(stage.address, **how)
    page.keyboard.press("5")
    page.get_by_role("button", name="Watch", exact=True).click()
    return page


def says(stage: Stage, *found: Overview) -> None:
    stage.answers["/api/watch"] = lambda _: {"places": [overview_to_json(one) for one in found]}


def test_alerts_and_remedies_are_shown_as_they_come_with_the_measurements_before_and_after(
    stage: Stage, pages: Pages
) -> None:
    from playwright.sync_api import expect

    says(stage, overview())
    page = shown(stage, pages)
    expect(page.locator(".health")).to_have_text("no alert")
    acting = replace(ROLLBACK, outcome=RemedyOutcome.UNDER_WAY, after={}, ended_at=None)
    underway = replace(INCIDENT, ended_at=None, called=True)
    says(stage, overview(alerts=(alert("errors", Severity.ERROR, "active"),), incidents=((underway, (acting,)),)))
    expect(page.locator(".health")).to_have_text("1 alert")
    says(stage, overview(incidents=((underway, (acting,)),)))
    expect(page.locator(".health")).to_have_text("not well")
    late = charts(dict((series("p99_ms", lambda _: 1400.0),)), stretch(SECONDS, NOW), NOW)
    says(stage, overview(charts=late))
    expect(page.locator(".health")).to_have_text("not well")
    says(stage, overview(alerts=(alert("errors", Severity.ERROR, "active"),), incidents=((underway, (acting,)),)))
    expect(page.locator(".alert")).to_contain_text("errorerrorsactive · since")
    expect(page.locator(".incident")).to_contain_text("not over")
    expect(page.locator(".incident")).to_contain_text("a person was called")
    row = page.locator(".effect tbody tr", has_text="errors")
    expect(row).to_have_text("errors31 %not known yet")

    gone = alert("errors", Severity.ERROR, "resolved", state=State.WELL)
    says(
        stage,
        overview(
            alerts=(gone,),
            incidents=((replace(INCIDENT, task="1.3"), (ROLLBACK,)),),
            moves=(moved(1, "roll back 2", "helped"),),
        ),
    )
    expect(page.locator(".remedy .outcome")).to_have_text("helped")
    expect(row).to_have_text("errors31 %0 %")
    expect(page.locator(".alert .status")).to_have_text("resolved")
    expect(page.locator(".health")).to_have_text("no alert")
    expect(page.locator(".incident")).to_contain_text("over after 24 s")
    expect(page.locator(".incident")).to_contain_text("· task 1.3")


def test_no_data_is_a_gap_and_words_and_never_a_zero_or_well(stage: Stage, pages: Pages, modules: Modules) -> None:
    from playwright.sync_api import expect

    drawn = modules.call(
        "series.js", "({path, gaps}, given) => [path(given, 4), gaps([{values: given}], 5)]", [4, 4, None, 0, 2]
    )
    assert drawn == ["M0.0 3.0H60.0V3.0H120.0M180.0 53.0H240.0V28.0H300.0", [[2, 1]]]
    assert modules.call(
        "series.js", "({inUnit}) => [inUnit(null, 'share'), inUnit(0, 'share'), inUnit(undefined, 'ms')]"
    ) == [
        "no data",
        "0 %",
        "no data",
    ]

    says(stage, overview())
    page = shown(stage, pages)
    p99 = page.locator(".series", has_text="p99").first
    expect(p99).to_contain_text("no data for 30 s")
    assert p99.locator(".gap").count() == 1
    memory = page.get_by_role("img", name="memory: now no data")
    expect(memory).to_contain_text("no data")
    assert memory.locator("path").count() == 1  # where an alert begins, and no line

    late = NOW + SECONDS / 2
    kept = dict(
        (series("p99_ms", lambda _: 20.0), series("cpu@2.0", lambda _: 0.2), series("error_rate", lambda _: 0.0))
    )
    when = stretch(SECONDS, late)
    says(stage, overview(watched=False, until=late, since=late - SECONDS, charts=charts(kept, when, late)))
    expect(page.locator(".health")).to_have_text("nobody watches")
    expect(page.locator(".place")).to_contain_text("Nothing is known since then")
    expect(page.locator(".series figcaption b").first).to_have_text("no data")

    unknown = dict((series("p99_ms", lambda _: None), series("error_rate", lambda _: None)))
    says(stage, overview(charts=charts(unknown, stretch(SECONDS, NOW), NOW)))
    expect(page.locator(".health")).to_have_text("no data")
    stage.answers.pop("/api/watch")
    expect(page.get_by_text("The server does not answer")).to_be_visible()


def test_hostile_names_are_only_shown(stage: Stage, pages: Pages) -> None:
    remedy = replace(ROLLBACK, why=HOSTILE, subject=HOSTILE, said=HOSTILE, before={HOSTILE: 1.0})
    says(
        stage,
        overview(
            target=HOSTILE,
            environment=HOSTILE,
            alerts=(alert(HOSTILE, Severity.INFO, "acknowledged", acknowledged_by=HOSTILE),),
            moves=(moved(1, HOSTILE, "active", HOSTILE),),
            incidents=((replace(INCIDENT, timeline=((NOW, HOSTILE),)), (remedy,)),),
        ),
    )
    page = shown(stage, pages)
    page.locator(".timeline summary").click()
    page.locator(".timeline li").wait_for()
    assert page.locator(".p-preview img").count() == 0
    everything = page.locator(".p-preview").evaluate(
        """one => one.textContent
        + [...one.querySelectorAll('*')].flatMap(each => [...each.attributes]).map(({value}) => value)"""
    )
    assert "<img src=x" in everything
    assert "\u202e" not in everything
    assert "\x1b" not in everything


def test_what_is_watched_is_reached_by_keys_and_axe_finds_nothing_in_any_size_and_theme(
    stage: Stage, pages: Pages
) -> None:
    lost = replace(ROLLBACK, number=2, kind=RemedyKind.RESTART, subject="3.1", why="3.1 is slow, others are not")
    lost = replace(lost, outcome=RemedyOutcome.DID_NOT_HELP, incident=2, after={"well instances": 3.0})
    open_one = replace(INCIDENT, number=2, release=3, ended_at=None, called=True)
    first = overview(
        alerts=(
            alert("memory 2.0", Severity.CRITICAL, "active"),
            alert("errors", Severity.ERROR, "acknowledged", acknowledged_by="ada"),
            alert("slow answers", Severity.WARNING, "silenced", silenced_until=NOW + 3600),
            alert("processor 2.1", Severity.WARNING, "no data", state=State.NO_DATA),
            alert("disk", Severity.CRITICAL, "resolved", state=State.WELL),
        ),
        incidents=((open_one, (lost,)), (INCIDENT, (ROLLBACK,))),
        moves=(moved(1, "roll back 2", "helped"), moved(2, "errors", "active"), moved(3, HOSTILE, "no data")),
    )
    says(stage, first, overview(target="shop", environment="prod", watched=False))
    for width, height, dark in ((1440, 900, False), (1440, 900, True), (390, 844, False), (390, 844, True)):
        page = shown(stage, pages, width=width, height=height, dark=dark)
        page.locator(".series").last.wait_for()
        page.locator(".p-preview .panel-tools .segments button").last.focus()
        page.keyboard.press("Tab")
        while not page.evaluate("document.activeElement.matches('.watched')"):
            assert page.evaluate("document.activeElement.closest('.p-preview') !== null")
            page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator(".lengths [aria-pressed=true]", has_text="1 hour").wait_for()
        page.locator(".timeline summary").first.focus()
        page.keyboard.press("Enter")
        page.locator(".timeline[open] li").first.wait_for()
        assert axe.violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.locator(".watched").evaluate("one => one.scrollWidth <= one.clientWidth")
        if folder := os.environ.get("MILEPOST_SCREENSHOTS"):
            page.locator(".watched").evaluate("one => { one.scrollTop = 0; }")
            page.screenshot(path=f"{folder}/watch-{width}-{'dark' if dark else 'light'}.png")
            page.locator(".watched").evaluate("one => { one.scrollTop = 560; }")
            page.screenshot(path=f"{folder}/watch-{width}-{'dark' if dark else 'light'}-below.png")
            page.keyboard.press("Escape")
    assert ("/api/watch", {"run": stage.facts["run"], "length": "1h"}) in stage.asked


def test_where_nothing_was_watched_the_page_says_how(stage: Stage, pages: Pages) -> None:
    says(stage)
    shown(stage, pages).get_by_text("milepost watch local").wait_for()
