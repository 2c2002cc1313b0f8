"""What a benchmark adds up to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.bench.report import Report, TaskReport, rows, to_json


def task(name: str, *, milepost: bool, hidden: bool | None, tokens: int | None = None) -> TaskReport:
    return TaskReport(
        id=name,
        title=name,
        milepost=milepost,
        hidden=hidden,
        attempts=2,
        tokens=tokens,
        cost_usd=0.25,
        duration_ms=1500,
        reason="because",
    )


def test_a_milepost_that_the_hidden_checks_refuse_is_a_false_done_and_no_success() -> None:
    report = Report(
        agent="a",
        tasks=(
            task("good", milepost=True, hidden=True, tokens=10),
            task("lie", milepost=True, hidden=False),
            task("unlooked", milepost=True, hidden=None),
            task("refused", milepost=False, hidden=None),
        ),
    )
    assert (report.successes, report.false_done, report.success_rate) == (1, 2, 0.25)
    assert (report.attempts, report.tokens, report.cost_usd, report.duration_ms) == (8, 10, 1.0, 6000)
    assert [row[1] for row in rows(report)] == [
        "ending",
        "done",
        "false done",
        "false done",
        "not done",
        "1 of 4 done",
    ]
    assert to_json(report)["tasks"][1]["false_done"] is True


@pytest.mark.parametrize(("tokens", "shown"), [((None, None), "–"), ((5, None), "5"), ((0, 0), "0")])
def test_tokens_that_nobody_told_are_not_shown_as_none_used(tokens: tuple[int | None, int | None], shown: str) -> None:
    each = tuple(task(f"t{at}", milepost=True, hidden=True, tokens=count) for at, count in enumerate(tokens))
    assert rows(Report(agent="a", tasks=each))[-1][3] == shown


def test_held_work_is_counted_by_itself_and_is_no_success() -> None:
    held = replace(task("asked", milepost=False, hidden=None), held=True)
    report = Report(agent="a", tasks=(task("good", milepost=True, hidden=True), held))
    assert (report.successes, report.false_done, to_json(report)["held"]) == (1, 0, 1)
    assert rows(report)[2][1] == "held" and rows(report)[-1][-1].endswith("0 false done, 1 held")
