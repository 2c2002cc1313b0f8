"""What a person's yes makes of evidence."""

from __future__ import annotations

from milepost.core.approval import (
    accepted,
    acceptor,
    approved,
    approver,
    carried_over,
    end_reason,
    may_land,
    verdict_words,
)
from milepost.core.verdict import CheckResult, Question, Verdict, judge

ASKED = Question(kind="changed test", text="test_f expects another result", path="t.py", line=3, before="1", after="2")
HELD = judge("tree", (CheckResult(name="changed tests", outcome="held", summary="it changed", questions=(ASKED,)),))
UNKNOWN = judge("tree", ())
PASSED = judge("tree", (CheckResult(name="tests", outcome="passed", summary="2 tests", decisive=True),))
FAILED = judge("tree", (CheckResult(name="tests", outcome="failed", summary="1 failed"),))


def test_held_work_that_was_approved_has_passed_and_keeps_its_questions() -> None:
    yes = approved(HELD, "Ann\nOwner")
    assert (yes.verdict, approver(yes), acceptor(yes), yes.questions) == (Verdict.PASSED, "Ann Owner", "", (ASKED,))
    assert may_land(yes) and verdict_words(yes) == end_reason(yes) == "held, approved by Ann Owner"


def test_what_nothing_proves_is_accepted_and_never_passed() -> None:
    for evidence, taken in ((UNKNOWN, approved(UNKNOWN, "Ann")), (HELD, accepted(HELD, "Ann", "I read it"))):
        assert taken.verdict is evidence.verdict and acceptor(taken) == "Ann" and approver(taken) == ""
        assert may_land(taken) and verdict_words(taken) == "accepted by Ann, not verified"
    assert "I read it" in accepted(HELD, "Ann", "I read it").checks[-1].summary
    assert accepted(PASSED, "Ann") == PASSED, "nobody needs to take what is proven"


def test_without_a_word_of_a_person_only_what_passed_lands() -> None:
    assert [may_land(one) for one in (PASSED, HELD, UNKNOWN, FAILED)] == [True, False, False, False]
    assert not may_land(accepted(FAILED, "Ann"))
    assert verdict_words(PASSED) == "passed" and end_reason(PASSED) == "2 tests"


def test_an_answer_holds_for_the_same_work_on_another_base_unless_it_fails_there() -> None:
    yes = approved(HELD, "Ann")
    assert carried_over(yes, FAILED) == FAILED and carried_over(yes, PASSED) == PASSED
    assert carried_over(yes, HELD) == yes
    assert verdict_words(carried_over(yes, UNKNOWN)) == "accepted by Ann, not verified"
    assert verdict_words(carried_over(accepted(UNKNOWN, "Ann"), HELD)) == "accepted by Ann, not verified"
    assert carried_over(HELD, UNKNOWN) == UNKNOWN
