"""What the page is told of all that is watched, from what the watcher wrote down."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from milepost.core.shipping import Measurement
from milepost.core.watching import RemedyKind
from milepost.engine.deploys.place import Place
from milepost.engine.project.project import Project
from milepost.engine.project.state_directory import make_state
from milepost.engine.project.state_lock import StateLock
from milepost.engine.watching.records import Healing, Incident, RemedyRecord
from milepost.events import open_stream
from milepost.store.database import open_database
from milepost.watch.alert_book import AlertBook
from milepost.watch.alerts import DEFAULT_RULES
from milepost.watch.series import Series
from milepost.web import read_routes
from milepost.web.page_facts import PageFacts
from tests.integration.repositories import new_place


@pytest.fixture
def project(tmp_path: Path) -> Project:
    place = new_place(tmp_path)
    found = Project.find(place.top / "ROADMAP.md")
    make_state(found.state)
    return found


@pytest.fixture
def page(project: Project) -> Iterator[TestClient]:
    with open_stream(project.roadmap) as stream:
        yield TestClient(Starlette(routes=read_routes.routes(PageFacts(roadmap=project.roadmap, stream=stream))))


def wrote_down(project: Project, now: float) -> None:
    """Twenty seconds of a bad release: the last five without any data."""
    with closing(open_database(project.database)) as database:
        series, book = Series(database, "local", "dev"), AlertBook(database, "local", "dev")
        for second in range(20):
            at = now - 20 + second
            found = [
                Measurement(metric=metric, value=value if second < 15 else None, at=at)
                for metric, value in (("error_rate", 0.4), ("p99_ms", float("nan")), ("cpu@2.0", float("inf")))
            ]
            series.add(found)
            book.look(DEFAULT_RULES, found, float(second), at)
        healing = Healing(database, "local", "dev")
        incident = healing.put(Incident(release=2, began_at=now - 10, timeline=((now - 10, "it began"),)))
        healing.begin(
            RemedyRecord(
                kind=RemedyKind.ROLL_BACK,
                subject="2",
                why="it fails",
                release=2,
                at=now - 9,
                tick=1.0,
                boot="b",
                incident=incident.number,
                before={"error_rate": 0.4},
            )
        )


def test_the_page_is_told_of_series_alerts_and_what_was_done(project: Project, page: TestClient) -> None:
    assert page.get("/api/watch").json() == {"places": []}
    wrote_down(project, time.time())
    (found,) = page.get("/api/watch").json()["places"]
    assert (found["target"], found["environment"], found["watched"]) == ("local", "dev", False)
    charts = {chart["name"]: chart["lines"] for chart in found["charts"]}
    (errors,) = charts["errors"]
    assert 0.4 in errors["values"]
    assert errors["now"] is None, "the last looks could tell nothing"
    assert set(charts["p99"][0]["values"]) == set(charts["processor"][0]["values"]) == {None}
    assert charts["memory"] == []
    (alert,) = (one for one in found["alerts"] if one["alert"] == "errors")
    assert (alert["severity"], alert["status"]) == ("error", "active")
    (incident,) = found["incidents"]
    assert (incident["ended_at"], incident["remedies"][0]["outcome"]) == (None, "under way")
    assert incident["remedies"][0]["before"] == {"error_rate": 0.4}
    assert any(move["what"] == "active" for move in found["moves"])


def test_the_page_is_told_whether_somebody_watches_now_and_looks_back_as_far_as_it_is_asked(
    project: Project, page: TestClient
) -> None:
    wrote_down(project, time.time() - 900)
    folder = Place(project=project, target="local", environment="dev").folder / "watch"
    folder.mkdir(parents=True)
    with StateLock(folder):
        (found,) = page.get("/api/watch").json()["places"]
    assert found["watched"]
    assert {chart["name"]: chart["lines"] for chart in found["charts"]}["errors"] == []
    (found,) = page.get("/api/watch?length=1h").json()["places"]
    (errors,) = {chart["name"]: chart["lines"] for chart in found["charts"]}["errors"]
    assert 0.4 in errors["values"]
    assert not found["watched"]
    assert page.get("/api/watch?length=9y").status_code == 422
