"""What a person is asked about held work."""

from __future__ import annotations

from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Question, judge
from milepost.engine.gates.held_question import held_question, held_shown

TASK = Task(id="1.1", title="Round prices", status="open", line=1)


def test_each_question_is_three_lines_before_the_diff() -> None:
    changed = Question(
        kind="changed test", text="test_price expects another", path="t.py", line=7, before="a ==\n 1", after="a == 2"
    )
    gone = Question(kind="removed test", text="test_old is gone", path="t.py")
    held = CheckResult(
        name="changed tests", outcome="held", summary="two expectations changed", questions=(changed, gone)
    )
    evidence = judge("tree", (held,))
    assert held_question(TASK, evidence).splitlines()[0] == "two expectations changed"
    assert held_shown(evidence, "c0ffee", "+x\n").splitlines() == [
        "test_price expects another (t.py:7)",
        "  was: a == 1",
        "  now: a == 2",
        "test_old is gone (t.py)",
        "",
        "commit c0ffee",
        "+x",
    ]


def test_what_could_not_be_verified_says_so_first() -> None:
    evidence = judge("tree", ())
    first = held_question(TASK, evidence).splitlines()[0]
    assert first == "could not be verified: no check could say whether this is done"
    assert held_shown(evidence, "c0ffee", "+x\n") == "commit c0ffee\n+x\n"
