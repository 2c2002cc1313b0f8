from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.replay.cassette_file import read as read_cassette
from milepost.engine.chaos.report import ChaosReport, KillCosts, findings, rows, to_json
from milepost.engine.chaos.sample import CASSETTE, REGISTER, ROADMAP, is_shared, sample_files, task_id
from milepost.engine.chaos.subject import quietened
from milepost.engine.chaos.trace import MODEL, TOOL, of_kind, read_trace, steps
from milepost.plan.graph.build_graph import plan
from milepost.roadmap import read


def told(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_what_is_made_after_it_was_recorded_was_done_twice() -> None:
    act, model, tool = "ab12/1.1/prove/1 1 act", "ab12/1.1/1 1 model", "ab12/1.1/1 2 tool"
    lines = (f"made {act}", f"made {model}", f"recorded {model}", f"made {tool}", f"recorded {tool}", f"recorded {act}")
    account = read_trace(told(*lines, f"made {model}", f"made {tool}", f"made {act}"))
    assert (steps(account.again), of_kind(account.again, MODEL), of_kind(account.again, TOOL)) == (
        (act,),
        (model,),
        (tool,),
    )
    assert account.in_flight == () and account.calls == 1


def test_what_a_kill_cut_short_and_was_begun_again_is_told_apart() -> None:
    model, wait = "ab12/1.1/1 1 model", "ab12 2 news"
    account = read_trace(told(f"made {wait}", f"made {model}", f"made {wait}", f"made {model}", f"recorded {model}"))
    assert account.in_flight == (model,), "to wait again is not to work again"
    assert account.again == ()


def test_a_record_that_is_read_again_in_each_life_is_one_record() -> None:
    account = read_trace(told("made r 1 survey", "recorded r 1 survey", "recorded r 1 survey") + "made r 2 la")
    assert account.recorded == ("r 1 survey",) and account.again == ()


@pytest.mark.parametrize(
    "field", [name for name, value in KillCosts.__dataclass_fields__.items() if value.default == ()]
)
def test_each_thing_that_must_not_be_fails_the_report_and_is_told(field: str) -> None:
    clean = report(KillCosts(kills=3, in_flight_steps=2))
    assert clean.passed and findings(clean) == []
    found: dict[str, Any] = {field: ("ab12 1.1",)}
    bad = report(KillCosts(kills=3) + KillCosts(**found))
    assert not bad.passed
    assert len(findings(bad)) == 1 and "ab12 1.1" in findings(bad)[0]
    assert to_json(bad)["passed"] is False and to_json(bad)["every_boundary"][field] == ["ab12 1.1"]
    assert json.dumps(to_json(bad))
    assert rows(bad) != rows(clean)


def report(toll: KillCosts) -> ChaosReport:
    return ChaosReport(
        roadmap="",
        tasks=3,
        parallel=1,
        seed=0,
        mileposts=3,
        boundaries=3,
        model_calls=12,
        calm_s=1.0,
        every_boundary=toll,
        random=None,
    )


def test_the_sample_is_a_plan_that_its_cassette_does(tmp_path: Path) -> None:
    files = sample_files(23)
    assert files == sample_files(23)
    made = plan(read(files[ROADMAP].encode()))
    assert made.problems == () and len(made.tasks) == 23 and len(made.waves) > 1
    (tmp_path / CASSETTE).write_text(files[CASSETTE])
    cassette = read_cassette(tmp_path / CASSETTE)
    assert set(cassette.attempts) == {task.id for task in made.tasks} == {task_id(number) for number in range(1, 24)}
    assert files[REGISTER].count("open") == 23 and any(is_shared(number) for number in range(1, 6))


def test_settings_of_a_copy_reach_nobody_outside_of_it() -> None:
    text = (
        '[run]\nagent = "replay:c.json"\ndatabase = "postgresql://x"\napprove = "each"\n\n[telemetry]\nendpoint = "y"\n'
    )
    assert quietened(text) == '[run]\nagent = "replay:c.json"\n\n'
    assert quietened('[run]\nagent = "replay:c.json"\n') is None
