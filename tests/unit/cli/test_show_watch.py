from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from milepost.cli.show.watch import (
    alert_lines,
    incident_lines,
    is_redrawn,
    news_lines,
    sight_lines,
    sparkline,
    task_lines,
)
from milepost.core.watching import RemedyKind, Severity
from milepost.engine.watching.incident_task import IncidentTask
from milepost.engine.watching.observe import Look, Memory, situation_of
from milepost.engine.watching.records import Incident, RemedyRecord
from milepost.engine.watching.watcher import Sight
from milepost.watch.alert_book import AlertMove, KeptAlert
from milepost.watch.alerts import Alert, State
from milepost.watch.heal.situation import HealLimits, Remedy, RemedyOutcome
from tests.unit.engine.watching.test_observe import FACTS, view

ACTIVE = KeptAlert(name="errors", severity=Severity.ERROR, alert=Alert(state=State.ACTIVE, since=5.0))
REMEDY = RemedyRecord(
    number=1, kind=RemedyKind.ROLL_BACK, subject="2", why="it fails", release=2, at=5.0, tick=5.0, boot="b", incident=1
)


def sight(value: float | None = 0.5, *, remedy: RemedyRecord | None = None, moves: tuple[AlertMove, ...] = ()) -> Sight:
    looks = [Look(at=float(at), clock=float(at), view=view(at, failed=40)) for at in range(1, 6)]
    return Sight(
        target="local",
        environment="dev",
        at=5.0,
        release=2,
        values={"error_rate": value, "requests": 100.0, "cpu@2.0": 0.2},
        alerts=(ACTIVE,),
        situation=situation_of(looks, FACTS, Memory(bad_since=1.0), HealLimits()),
        decision=Remedy(RemedyKind.ROLL_BACK, "2", "most instances are not well"),
        remedy=remedy,
        incident=None,
        moves=moves,
    )


def test_a_series_is_drawn_with_a_dot_where_nothing_was_known() -> None:
    assert sparkline([0.0, 1.0, None, 0.5], 10) == "▁█·▅"
    assert sparkline([0.0, 0.0], 10) == "▁▁"
    assert sparkline([1.0] * 30, 8) == "█" * 8
    assert sparkline([0.1, 0.5, 2.0][:2], 8, 1.0) == "▁▅", "little is drawn as little where a whole is known"
    assert sparkline([], 8) == ""
    assert sparkline([None, None], 8) == "··"


def test_the_table_shows_series_instances_alerts_and_the_decision() -> None:
    lines = sight_lines([sight(None), sight()], 100)
    assert lines[0] == "local (dev)   release 2   not well"
    assert any("errors" in line and "50.0%" in line and line.endswith("·█") for line in lines)
    assert any("2.0" in line and "answers" in line and "cpu" in line for line in lines)
    assert any(line.split() == ["error", "errors", "active"] for line in lines)
    assert " ".join(lines[-1].split()) == "remedy roll back 2: most instances are not well"
    assert "no data" in "\n".join(sight_lines([sight(None)], 100))


def test_each_series_has_its_bars_in_80_columns_and_nothing_that_a_terminal_obeys() -> None:
    at = (0.2, None, 0.9)
    seen = [
        replace(
            sight(),
            target="lo\x1b[31mcal",
            values={"p99_ms": 10.0, "cpu@2.0": cpu, "cpu@2.1": 0.1 if cpu else None, "memory@2.0": cpu},
            alerts=(replace(ACTIVE, name="errors \x1b]0;title\x07\u202e" + "x" * 200),),
        )
        for cpu in at * 40
    ]
    lines = sight_lines(seen, 80)
    rows = {line.split()[0]: line for line in lines}
    assert rows["processor"].endswith("▂·█▂·█") and "90%" in rows["processor"]
    assert rows["memory"].endswith("▂·█▂·█")
    assert rows["p99"].endswith("██") and "10 ms" in rows["p99"]
    assert "no data" in rows["requests"] and rows["requests"].endswith("··")
    assert all(cell_len(line) <= 80 and line.isprintable() for line in lines)


def test_the_table_is_redrawn_at_a_terminal_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert is_redrawn()
    monkeypatch.setenv("TERM", "dumb")
    assert not is_redrawn()


def test_only_what_is_new_is_said_where_nobody_sees_a_table() -> None:
    move = AlertMove(seq=1, name="errors", severity=Severity.ERROR, at=5.0, what="active", value=0.5, said_by="")
    first, then = sight(), sight(moves=(move,), remedy=REMEDY)
    assert len(news_lines([first])) == 1
    said = news_lines([first, then])
    assert [line.partition("  ")[2] for line in said] == ["error  errors  active", "roll back 2: it fails   under way"]
    assert news_lines([first, then, then]) == []


def test_what_is_told_of_an_incident_as_a_task_is_said_once() -> None:
    told = replace(sight(), task="incident 1 is task INC-1 of the roadmap")
    assert sight_lines([told], 100)[-1] == "  incident 1 is task INC-1 of the roadmap"
    assert [line.partition("  ")[2] for line in news_lines([sight(), told])] == [told.task]
    assert news_lines([told, told]) == []
    made = IncidentTask(incident=1, task="INC-1", commit="a" * 40, page="a.md", test="")
    assert task_lines(made) == [
        "incident 1 is task INC-1 of the roadmap (commit aaaaaaa)",
        "  evidence, no reproduction: see a.md",
        "next   milepost run --task INC-1",
    ]


def test_alerts_and_incidents_are_listed() -> None:
    assert alert_lines((), 5.0, "local", "dev") == ["no alert on local (dev)"]
    assert alert_lines((ACTIVE,), 5.0, "local", "dev")[0].split()[:2] == ["error", "active"]
    incident = Incident(number=1, release=2, began_at=5.0, ended_at=9.0, called=True, timeline=((5.0, "it began"),))
    lines = incident_lines([(incident, (REMEDY,))], whole=True)
    assert lines[0].endswith("4 s   a person was called")
    assert " ".join(lines[1].split()) == "roll back 2 under way it fails"
    assert lines[-1].endswith("it began")
    assert not any("--task" in line for line in lines), "a remedy is under way"
    judged = replace(REMEDY, outcome=RemedyOutcome.HELPED)
    assert any("--task 1 " in line for line in incident_lines([(incident, (judged,))], whole=False))
    added = replace(incident, task="INC-1")
    assert incident_lines([(added, (judged,))], whole=False)[-1] == "  it became task INC-1"
    assert incident_lines([], whole=False) == ["no incident"]
