"""The check of what changed files of the product were seen to do while tests ran, and did not do at the base."""

from __future__ import annotations

from milepost.core.verdict import CheckResult, Question
from milepost.verify.suites.suite import AuditNote

NAME = "audit"
MOST_QUESTIONS = 10


def audit_check(
    now: tuple[AuditNote, ...] | None, base: tuple[AuditNote, ...] | None, read: tuple[AuditNote, ...] = ()
) -> CheckResult:
    """Held for what the base was not seen to do; None is a run that nobody watched.

    `read` is what the source says that it did not say at the base.
    """
    if now is None:
        return CheckResult(name=NAME, outcome="absent", summary="no run of the tests was watched")
    known = {(note.what, note.path) for note in base or ()}
    new = tuple({(note.what, note.path): note for note in now if (note.what, note.path) not in known}.values())
    new = (*new, *read)
    if not new:
        return CheckResult(name=NAME, outcome="passed", summary="the changed files did nothing unusual under test")
    told = "; ".join(f"{_place(note)} {note.what}" for note in new[:3])
    more = f" and {len(new) - 3} more" if len(new) > 3 else ""
    asked = [(note, "" if note in read else " while tests run") for note in new]
    questions = tuple(
        Question(kind="audit", text=f"{_place(note)} {note.what}{when}", path=note.path, line=note.line)
        for note, when in asked[:MOST_QUESTIONS]
    )
    return CheckResult(name=NAME, outcome="held", summary=f"{told}{more}", questions=questions)


def _place(note: AuditNote) -> str:
    if not note.path:
        return "code that was made at run time"
    return f"{note.path}:{note.line}" if note.line else note.path
