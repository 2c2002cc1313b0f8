"""The numbers of a run for a page that nobody sees."""

from __future__ import annotations

from typing import Any

from milepost.web.summary import counted

HELD = {"event": "gate_opened", "task": "1.1", "gate": "1.1/1/held", "kind": "held"}
OTHER = {"event": "gate_opened", "task": "1.2", "gate": "1.2/before", "kind": "before"}
OVER: dict[str, Any] = {"event": "run_finished"}


def end(task: str, verdict: str | None, commit: str | None = None) -> dict[str, Any]:
    return {"event": "task_finished", "task": task, "verdict": verdict, "commit": commit}


def test_a_question_about_held_work_waits_after_the_run_and_others_do_not() -> None:
    found = counted([HELD, OTHER, end("1.1", "held"), end("1.2", None), OVER])
    assert found == {"waiting": 1, "passed": 0, "accepted": 0, "held": 1, "failed": 0, "unverified": 0}


def test_what_landed_waits_no_more_and_only_what_passed_counts_as_passed() -> None:
    approved = counted([HELD, end("1.1", "held"), OVER, end("1.1", "passed", "abc")])
    assert (approved["waiting"], approved["passed"], approved["held"]) == (0, 1, 0)
    taken = counted([HELD, end("1.1", "unverified"), OVER, end("1.1", "unverified", "abc")])
    assert (taken["waiting"], taken["passed"], taken["accepted"], taken["unverified"]) == (0, 0, 1, 0)


def test_an_answer_ends_the_question() -> None:
    answer = {"event": "gate_answered", "task": "1.1", "gate": "1.1/1/held", "answer": "reject"}
    assert counted([HELD, end("1.1", "held"), OVER, answer])["waiting"] == 0
