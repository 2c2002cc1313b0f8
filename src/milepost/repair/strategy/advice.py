"""What a class of failure means for the next attempt, in a line or two."""

from __future__ import annotations

from typing import Literal

from milepost.core.failures import Failure, FailureClass

_ADVICE: dict[FailureClass, str] = {
    FailureClass.CONTEXT_MISSING: (
        "Look for what is missing in the repository before you give up; take the plainest reading of the task."
    ),
    FailureClass.CONTEXT_STALE: "The files are not as you remembered them: read each again right before you edit it.",
    FailureClass.CONTEXT_OVERWHELMING: (
        "There was more text than fits: read only the files that the task names and what they import, in pieces."
    ),
    FailureClass.WRONG_FILE: "None of the files that the task names was changed: put the work into those.",
    FailureClass.FILE_NOT_FOUND: "A file that is needed is not there: create it, or find where it really is.",
    FailureClass.FILE_CONFLICT: "Others changed the same lines meanwhile: do the work again on top of theirs.",
    FailureClass.PARTIAL_CHANGE: "Only some of the files that the task names were done: do all of them.",
    FailureClass.INCOMPLETE_IMPLEMENTATION: (
        "The work was not finished: leave no stub, and nothing called that is not defined."
    ),
    FailureClass.REGRESSION: (
        "Tests that passed before fail now: the change broke something. Fix the change, not the tests."
    ),
    FailureClass.SYNTAX_ERROR: "A file does not parse: look at the line that is named and the one before it.",
    FailureClass.TYPE_ERROR: "A value is of another type than expected: look at the signature and at every caller.",
    FailureClass.IMPORT_ERROR: "An import failed: is the module missing, misnamed, or imported in a circle?",
    FailureClass.TEST_FAILURE: "A test says that the result is wrong: find out why before you change anything.",
    FailureClass.WRONG_APPROACH: (
        "The change is not accepted, whatever the tests say: do the work without touching how it is checked."
    ),
    FailureClass.SCOPE_CREEP: "Files outside the task were changed: change only those that it names.",
    FailureClass.TOOL_FAILURE: "A program, not the work, failed: do not work around it in the code.",
    FailureClass.TIMEOUT: "Time ran out: go straight for the task, and see that nothing waits or loops without end.",
    FailureClass.API_ERROR: "The service failed, not the work.",
    FailureClass.UNKNOWN: "It is not known why this failed: start with what the checks wrote.",
}

# Checks whose failing says more than its class.
_BY_CHECK: dict[str, str] = {
    "changed tests": (
        "A test that says what this task must do was changed or removed: leave it as it was, and make it pass."
    ),
    "counter-proof": (
        "The tests pass without the work, too: write code that computes the result and reads nothing from the tests."
    ),
    "audit": "The code looks at who calls it, or at the test run: it must do the same whoever calls it.",
    "names": "An added module hides one of the standard library or an installed one: give it another name.",
    "hidden tests": "Tests that you cannot see fail: do all that the task says, not only for the examples shown.",
    "independent tests": (
        "Tests that somebody else wrote from the task's text fail: read the task again, and do all that it says."
    ),
    "own tests": "Your tests let faults through: let each check the values that the changed lines compute.",
    "review": "A person read the change and sent it back: do what they say, and keep what they do not object to.",
    "done": "Nothing shows that the work is done: add a test that fails without it and passes with it.",
}


def advice_for(failure: Failure, *, start: Literal["base", "attempt"], number: int = 0) -> str:
    """What the next attempt should mind, and what it starts from."""
    said = _BY_CHECK.get(failure.check.partition(" (")[0]) or _ADVICE[failure.kind]
    about = f" It is about {failure.subject}." if failure.subject and failure.kind in _NAMED else ""
    if start == "attempt":
        return f"{said}{about} You start from what attempt {number} left: go on from there."
    return f"{said}{about}"


_NAMED = (
    FailureClass.WRONG_FILE,
    FailureClass.FILE_NOT_FOUND,
    FailureClass.PARTIAL_CHANGE,
    FailureClass.SYNTAX_ERROR,
    FailureClass.IMPORT_ERROR,
    FailureClass.REGRESSION,
)
