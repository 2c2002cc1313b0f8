"""The watcher with a real target, real processes, real Envoys, while users ask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.core.errors import EngineBusy, StateUnwritable
from milepost.core.watching import RemedyKind, TargetView
from milepost.engine.watching.follow import follow
from milepost.engine.watching.records import Healing, RemedyRecord
from milepost.engine.watching.watcher import Heal, Sight, kept, watching
from milepost.ship.local.watched import WatchedLocalTarget
from milepost.watch.heal.situation import RemedyOutcome
from milepost.watch.series import Series
from tests.deploying import Deployed, Users, needs_envoy
from tests.faulty import faulty, inject

pytestmark = needs_envoy
MOST_LOOKS = 150


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Deployed]:
    with faulty(tmp_path, "[watch]\ninterval_s = 0.5\n") as project:
        yield project


def watch(project: Deployed, is_enough: Callable[[Sight], bool], heal: Heal = "auto") -> list[Sight]:
    """Look until it is enough, or it will never be."""
    seen: list[Sight] = []

    def tell(sight: Sight) -> bool:
        seen.append(sight)
        return not is_enough(sight) and len(seen) < MOST_LOOKS

    follow(project.roadmap, "local", "dev", heal, tell)
    return seen


def remedies(project: Deployed) -> list[tuple[RemedyKind, RemedyOutcome]]:
    return [(one.kind, one.outcome) for one in records(project)]


def records(project: Deployed) -> tuple[RemedyRecord, ...]:
    with kept(project.roadmap, "local", "dev") as (_, healing, _):
        return healing.remedies()


def said(project: Deployed, *words: str) -> Any:
    """What a command prints for programs."""
    done = subprocess.run(
        (sys.executable, "-m", "milepost", *words), cwd=project.place.top, capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def is_judged(sight: Sight) -> bool:
    return sight.remedy is not None and sight.remedy.outcome is not RemedyOutcome.UNDER_WAY


def test_errors_of_a_young_release_are_rolled_back_and_no_get_fails(project: Deployed) -> None:
    with Users(project.port) as users:
        watch(project, lambda sight: (sight.values["requests"] or 0) > 20)
        inject(project, "errors", 0.4)
        seen = watch(project, is_judged)
        over = watch(project, lambda sight: sight.incident is None)
    assert remedies(project) == [(RemedyKind.ROLL_BACK, RemedyOutcome.HELPED)]
    assert project.stages() == {1: "live", 2: "rolled back"}
    assert users.failed("GET") == {}
    (remedy,) = records(project)
    assert remedy.before["error_rate"] > 0.05
    assert remedy.after["error_rate"] <= 0.05
    told = {(one.name, one.what) for sight in seen for one in sight.moves}
    assert {("roll back 2", "begun"), ("roll back 2", "helped")} <= told
    assert over[-1].incident is None
    with kept(project.roadmap, "local", "dev") as (_, healing, series):
        (incident,) = healing.incidents()
        assert [said for _, said in incident.timeline][-1] == "it is well again"
        assert any((point.value or 0) > 0.05 for point in series.points("error_rate"))


def test_one_slow_instance_is_exchanged_and_a_suggestion_changes_nothing(project: Deployed) -> None:
    with Users(project.port, users=12) as users:
        inject(project, "slow", 1.6, only=0)
        before = project.pid_of("2.0")
        watch(project, lambda sight: sight.incident is not None, "suggest")
        assert remedies(project) == []
        assert project.pid_of("2.0") == before
        watch(project, is_judged)
    (remedy,) = records(project)
    assert (remedy.kind, remedy.subject, remedy.outcome) == (RemedyKind.RESTART, "2.0", RemedyOutcome.HELPED)
    assert sorted(name for name in project.running() if name.startswith("2.")) == ["2.1", "2.2", "2.3"]
    assert users.failed("GET") == users.failed("POST") == {}


def test_a_watcher_killed_inside_a_remedy_is_followed_by_one_that_ends_it(project: Deployed, tmp_path: Path) -> None:
    with Users(project.port) as users:
        inject(project, "errors", 0.4)
        words = (sys.executable, "-m", "milepost", "watch", "local", "--heal", "auto")
        seen = tmp_path / "seen"
        seen.write_text("")
        environment = os.environ | {"MILEPOST_CHAOS_SEEN": str(seen)}
        killed = subprocess.run(words, cwd=project.place.top, env=environment, capture_output=True, timeout=120)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert seen.read_text().splitlines() == ["remedy 1 begun"]
        assert remedies(project) == [(RemedyKind.ROLL_BACK, RemedyOutcome.UNDER_WAY)]
        watch(project, is_judged)
        once = said(project, "watch", "local", "--once", "--json")
    assert remedies(project) == [(RemedyKind.ROLL_BACK, RemedyOutcome.HELPED)]
    assert project.stages() == {1: "live", 2: "rolled back"}
    assert users.failed("GET") == {}
    assert (once["release"], once["remedy"]["outcome"]) == (1, "helped")
    (incident,) = said(project, "incidents", "local", "--json")
    assert [one["kind"] for one in incident["remedies"]] == ["roll back"]
    assert "a remedy that was left under way was ended" in [line[1] for line in incident["timeline"]]
    helped = {"name": "roll back 2", "what": "helped"}
    assert any(helped.items() <= one.items() for one in said(project, "alerts", "local", "--history", "--json"))


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The disk is full, and nothing can be written down, until it is cleared or this is empty."""
    full = [True]
    look = WatchedLocalTarget.look

    def looks(target: WatchedLocalTarget) -> TargetView:
        return replace(look(target), disk_bytes=1000, disk_free_bytes=10 if full else 900)

    def refusing(write: Callable[..., Any]) -> Callable[..., Any]:
        def write_unless_full(*given: object) -> Any:
            if full:
                raise StateUnwritable("the database cannot be used: the disk is full", "make room")
            return write(*given)

        return write_unless_full

    def clears(_: WatchedLocalTarget) -> int:
        full.clear()
        return 890

    monkeypatch.setattr(WatchedLocalTarget, "look", looks)
    monkeypatch.setattr(WatchedLocalTarget, "clear_disk", clears)
    monkeypatch.setattr(Series, "add", refusing(Series.add))
    monkeypatch.setattr(Healing, "put", refusing(Healing.put))
    return full


def test_a_watcher_whose_own_disk_is_full_makes_room_before_it_writes_that_down(
    project: Deployed, full: list[bool]
) -> None:
    watch(project, is_judged)
    assert full == []
    assert remedies(project) == [(RemedyKind.CLEAR_DISK, RemedyOutcome.HELPED)]


def test_where_nothing_can_be_written_down_a_person_is_called_without_that_and_once(
    tmp_path: Path, full: list[bool]
) -> None:
    told = tmp_path / "told"
    words = json.dumps(["sh", "-c", f"cat >> {told}"])
    with faulty(tmp_path, f"[watch]\ninterval_s = 0.5\ncommand = {words}\n") as project:
        looks = iter(range(3))
        seen = watch(project, lambda _: next(looks, None) is None, "suggest")
    assert [len(sight.moves) for sight in seen] == [1, 0, 0, 0]
    assert told.read_text().count("the disk is full") == 1


def test_there_is_one_watcher_of_a_target(tmp_path: Path) -> None:
    with (
        faulty(tmp_path) as project,
        watching(project.roadmap, "local", "dev", None),
        pytest.raises(EngineBusy, match=rf"local \(dev\) is watched already \(pid {os.getpid()}"),
        watching(project.roadmap, "local", "dev", None),
    ):
        pass
