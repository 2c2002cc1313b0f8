"""What one failed check, or the last words of an agent, says: its class, and what it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from milepost.core.attempt import Outcome
from milepost.core.failures import FailureClass, Severity
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, TestCase
from milepost.repair.diagnosis.clues import error_line, missing_file, missing_module, missing_program, source_place
from milepost.repair.diagnosis.error_classes import class_of_error, class_of_give_up
from milepost.repair.diagnosis.service_errors import service_status

LONGEST_READ = 20_000
CASES_READ = 200
PROGRAM_NOT_FOUND = 127
NOT_EXECUTABLE = 126
DENIED = ("401", "402", "403")
LIMITED = "429"

# Which of several classes is the cause of the others.
_CLASSES_BY_CAUSE = (
    FailureClass.SYNTAX_ERROR,
    FailureClass.WRONG_APPROACH,
    FailureClass.IMPORT_ERROR,
    FailureClass.FILE_NOT_FOUND,
    FailureClass.TOOL_FAILURE,
    FailureClass.REGRESSION,
    FailureClass.TIMEOUT,
    FailureClass.INCOMPLETE_IMPLEMENTATION,
    FailureClass.TYPE_ERROR,
    FailureClass.TEST_FAILURE,
)
# What a test can say of the work itself: a regression when it said nothing of the kind before.
_OF_A_TEST = (
    FailureClass.TEST_FAILURE,
    FailureClass.TYPE_ERROR,
    FailureClass.INCOMPLETE_IMPLEMENTATION,
    FailureClass.TIMEOUT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReading:
    """What one failed check says: its class, the text that is signed, and what it is about."""

    kind: FailureClass
    text: str
    subject: str = ""
    severity: Severity | None = None
    flaky: bool = False


def reading_of_outcome(outcome: Outcome) -> CheckReading:
    """What an agent says that stopped by itself."""
    said = outcome.said[-LONGEST_READ:]
    match outcome.status:
        case "timed_out":
            return CheckReading(kind=FailureClass.TIMEOUT, text=said.strip().partition("\n")[0])
        case "limited":
            return CheckReading(kind=FailureClass.API_ERROR, text=LIMITED, subject=LIMITED)
        case "gave_up" | "finished" | "spent":
            return _of_give_up(said)
        case _ as never:
            assert_never(never)


def reading_of_check(check: CheckResult, task: Task | None, changed: tuple[str, ...]) -> CheckReading:
    """What a failed check says of the attempt."""
    name = plain_name(check)
    if name == "files":
        return _of_files(check, task, changed)
    if name in _OF_NAMED:
        return _OF_NAMED[name](check)
    return _of_run(check)


def cause_rank(reading: CheckReading) -> tuple[bool, int]:
    """The smaller, the nearer to the cause."""
    known = reading.kind in _CLASSES_BY_CAUSE
    return reading.flaky, _CLASSES_BY_CAUSE.index(reading.kind) if known else len(_CLASSES_BY_CAUSE)


def plain_name(check: CheckResult) -> str:
    """The name without the folder that it was asked in: `tests (packages/web)` is `tests`."""
    return check.name.partition(" (")[0]


def _of_give_up(said: str) -> CheckReading:
    first = said.strip().partition("\n")[0]
    line = error_line(said)
    if program := missing_program(first):
        return CheckReading(kind=FailureClass.TOOL_FAILURE, text=first, subject=program)
    status = service_status(said)
    if status == "413":
        return CheckReading(kind=FailureClass.CONTEXT_OVERWHELMING, text=line)
    if status:
        severity: Severity | None = "critical" if status in DENIED else None
        return CheckReading(kind=FailureClass.API_ERROR, text=f"{status}: {line}", subject=status, severity=severity)
    kind = class_of_give_up(said)
    return CheckReading(kind=kind, text=line, subject=_subject(kind, said))


def _of_files(check: CheckResult, task: Task | None, changed: tuple[str, ...]) -> CheckReading:
    missing = missing_file(check.summary)
    if not missing:
        return CheckReading(kind=FailureClass.INCOMPLETE_IMPLEMENTATION, text=check.summary)
    named = {file.rstrip("/") for part in task.walk() for file in part.files} if task else set()
    touched = any(path == file or path.startswith(f"{file}/") for path in changed for file in named)
    kind = FailureClass.FILE_NOT_FOUND
    if named and changed:
        kind = FailureClass.PARTIAL_CHANGE if touched else FailureClass.WRONG_FILE
    return CheckReading(kind=kind, text=f"{kind}: not there afterwards", subject=missing)


def _of_agent(check: CheckResult) -> CheckReading:
    """The agent finished, but what it left cannot become a commit."""
    return CheckReading(kind=FailureClass.WRONG_APPROACH, text=check.summary)


def _of_merge(check: CheckResult) -> CheckReading:
    paths = check.summary.partition(" lines of ")[2].partition(" meanwhile")[0]
    return CheckReading(kind=FailureClass.FILE_CONFLICT, text=check.summary, subject=paths.partition(", ")[0])


def _of_syntax(check: CheckResult) -> CheckReading:
    text = _text_of(check)
    return CheckReading(
        kind=FailureClass.SYNTAX_ERROR,
        text=check.summary,
        subject=source_place(check.summary) or source_place(text),
    )


def _of_imports(check: CheckResult) -> CheckReading:
    text = f"{check.log[-LONGEST_READ:]}\n{check.summary}"
    kind = class_of_error(error_line(text))
    kind = kind if kind in (FailureClass.SYNTAX_ERROR, FailureClass.TIMEOUT) else FailureClass.IMPORT_ERROR
    return CheckReading(kind=kind, text=check.summary, subject=_subject(kind, text))


def _of_patch(check: CheckResult) -> CheckReading:
    return CheckReading(kind=FailureClass.CONTEXT_STALE, text=check.summary, subject=source_place(check.summary))


def _always(kind: FailureClass, severity: Severity | None = None) -> Callable[[CheckResult], CheckReading]:
    return lambda check: CheckReading(kind=kind, text=check.summary, severity=severity)


_OF_NAMED: dict[str, Callable[[CheckResult], CheckReading]] = {
    "agent": _of_agent,
    "merge": _of_merge,
    "patch": _of_patch,
    "syntax": _of_syntax,
    "imports": _of_imports,
    "environment": _always(FailureClass.IMPORT_ERROR),
    "names": _always(FailureClass.WRONG_APPROACH),
    "counter-proof": _always(FailureClass.WRONG_APPROACH),
    "audit": _always(FailureClass.WRONG_APPROACH),
    "changed tests": _always(FailureClass.WRONG_APPROACH),
    "own tests": _always(FailureClass.INCOMPLETE_IMPLEMENTATION),
    "done": _always(FailureClass.INCOMPLETE_IMPLEMENTATION),
    "secrets": _always(FailureClass.WRONG_APPROACH, "critical"),
    "scope": _always(FailureClass.SCOPE_CREEP),
    "stubs": _always(FailureClass.INCOMPLETE_IMPLEMENTATION),
    "types": _always(FailureClass.TYPE_ERROR),
    "lint": _always(FailureClass.INCOMPLETE_IMPLEMENTATION, "low"),
    "coverage": _always(FailureClass.INCOMPLETE_IMPLEMENTATION),
    "opinion": _always(FailureClass.INCOMPLETE_IMPLEMENTATION),
    "review": _always(FailureClass.INCOMPLETE_IMPLEMENTATION),
}


def _of_run(check: CheckResult) -> CheckReading:
    """A check that ran something: the project's tests, a Verify line, a build, the program itself."""
    failed = [case for case in check.cases if case.outcome == "failed"]
    broken = [case for case in failed if case.before != "failed"] or failed
    if broken:
        return min((_of_case(case) for case in broken[:CASES_READ]), key=cause_rank)
    return _of_ending(check)


def _of_ending(check: CheckResult) -> CheckReading:
    """How the command ended, where no test case says more.

    The end of a summary may be what the program itself wrote: words count only beside the exit code they go with.
    """
    summary, text = check.summary, _text_of(check)
    kind, subject = _ended_by_force(check)
    if kind is None and plain_name(check) == "tests" and _is_forged(check):
        kind = FailureClass.WRONG_APPROACH
    if kind is None and any(summary.endswith(sign) for sign in _NOTHING_RAN):
        kind = FailureClass.INCOMPLETE_IMPLEMENTATION
    if kind is not None:
        return CheckReading(kind=kind, text=summary, subject=subject)
    kind = class_of_error(error_line(text)) or class_of_error(error_line(summary)) or FailureClass.TEST_FAILURE
    if check.before == "passed" and kind in _OF_A_TEST:
        kind = FailureClass.REGRESSION
    return CheckReading(kind=kind, text=error_line(text) or summary, subject=_subject(kind, f"{text}\n{summary}"))


def _ended_by_force(check: CheckResult) -> tuple[FailureClass | None, str]:
    """The class of a command that could not start or did not come to its own end, and what it lacked."""
    summary = check.summary
    if check.exit_code in (None, PROGRAM_NOT_FOUND) and (program := missing_program(summary)):
        return (FailureClass.FILE_NOT_FOUND if "/" in program else FailureClass.TOOL_FAILURE), program
    if check.exit_code == NOT_EXECUTABLE:
        return FailureClass.TOOL_FAILURE, ""
    if check.exit_code is not None:
        return None, ""
    if "timed out after " in summary or "said nothing" in summary:
        return FailureClass.TIMEOUT, ""
    stopped = ("ended by SIG", "could not start", "was killed", "was stopped")
    return (FailureClass.TOOL_FAILURE if any(sign in summary for sign in stopped) else None), ""


def _is_forged(check: CheckResult) -> bool:
    """Whether the tests failed though none of them did: some are gone, or their answers cannot be trusted."""
    return check.exit_code == 0 or any(sign in check.summary for sign in _FORGED)


_FORGED = (
    *("gone or skipped", "planted", "are patched", "yet it is reported as passed", "where only it may write"),
    *("but never collected", "nothing that the witness says", "collected tests were not run", "came to no outcome"),
    *("exit 0, though", "is not how failed tests end", "out of the checkout lead"),
)
_NOTHING_RAN = ("no test ran", "no tests were collected", "every test was skipped", "Ran 0 tests", "line is empty")


def _of_case(case: TestCase) -> CheckReading:
    line = error_line(case.traceback) if case.traceback.strip() else case.message
    text = f"{case.message}\n{case.traceback[-LONGEST_READ:]}"
    kind = _class_of_case(case, line)
    if case.before == "passed" and kind in _OF_A_TEST:
        kind = FailureClass.REGRESSION
    about_the_test = kind in (*_OF_A_TEST, FailureClass.REGRESSION)
    subject = case.id if about_the_test else _subject(kind, text)
    return CheckReading(kind=kind, text=line or case.message, subject=subject, flaky=case.flaky)


def _class_of_case(case: TestCase, line: str) -> FailureClass:
    match case.kind:
        case "assertion" | "value":
            return FailureClass.TEST_FAILURE
        case "import":
            return FailureClass.IMPORT_ERROR
        case "type":
            return FailureClass.TYPE_ERROR
        case "attribute":
            return FailureClass.INCOMPLETE_IMPLEMENTATION
        case "timeout":
            return FailureClass.TIMEOUT
        case "runtime" | "collection" | "unknown" | None:
            told = class_of_error(line) or class_of_error(case.message)
            return told or FailureClass.TEST_FAILURE
        case _ as never:
            assert_never(never)


def _subject(kind: FailureClass, text: str) -> str:
    """The module or file that a failure of this class is about, where its text names one."""
    match kind:
        case FailureClass.IMPORT_ERROR:
            return missing_module(text)
        case FailureClass.FILE_NOT_FOUND:
            return missing_file(text)
        case FailureClass.SYNTAX_ERROR:
            return source_place(text)
        case _:
            return ""


def _text_of(check: CheckResult) -> str:
    return check.log[-LONGEST_READ:] if check.log.strip() else check.summary
