"""What is learnt from a task that is over, and what its attempts say of the lessons that they were told.

Only what the engine itself verified teaches. Nothing here fails a run: what cannot be learnt is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from milepost.core.attempt import Attempt
from milepost.core.change import ChangedFile
from milepost.core.errors import LeaseLost, MilepostError
from milepost.core.events import AgentSaid
from milepost.core.memories import Lesson
from milepost.core.secrets.files import holds_secrets
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, Verdict
from milepost.engine.memory.episodes import episode_id, judges_agent
from milepost.engine.memory.error_of_attempt import errors_of, failed_with
from milepost.engine.memory.model_lessons import chosen_lessons
from milepost.engine.records.milepost_note import read_note
from milepost.engine.records.run_spec import FinishedAttempt, RunSpec
from milepost.engine.records.suspend import Suspended
from milepost.engine.services import RunServices
from milepost.memory.lessons.experience import CheckRun, Experience, FileChange, VerifiedAttempt
from milepost.memory.lessons.learn import learn, settle
from milepost.repair.diagnosis.classify import classify
from milepost.verify.selection.check import NAME as VERIFY
from milepost.workspace.mileposts import Milepost

MOST_FILES = 50
LARGEST_FILE = 200_000
LARGEST_CHANGE = 2_000_000
MOST_BEFORE = 200  # commits that are looked at for earlier mileposts
MOST_NOTES = 10  # earlier mileposts whose evidence is read


def judge_lessons(services: RunServices, order: RunSpec, task: Task, attempt: Attempt) -> None:
    """Count the end of an attempt back to the lessons that it was told; harmless when repeated."""
    name = episode_id(order, task.id, attempt.number, attempt.agent)
    if not order.memory.writes or not judges_agent(attempt, classify(attempt)):
        return

    def judge() -> None:
        if services.books.memory.lessons.shown_to(name):
            changes = changes_of(services, order, attempt)
            errors = errors_of(attempt, services.redact)
            settle(services.books.memory, name, changes, attempt.evidence.verdict is Verdict.PASSED, errors)

    _quietly(services, order, task, attempt.number, judge)


def learn_from(services: RunServices, order: RunSpec, task: Task, tries: tuple[FinishedAttempt, ...]) -> None:
    """Learn from a task that is over; harmless when repeated."""
    if not order.memory.writes or not tries:
        return
    number = tries[-1].attempt.number
    found: list[Lesson] = []

    def choose() -> None:
        found.extend(chosen_lessons(services, order, task, number, experience_of(services, order, task, tries)))

    if order.memory.distil_with:
        _quietly(services, order, task, number, choose)
    memory = services.books.memory
    _quietly(services, order, task, number, lambda: learn(memory, experience_of(services, order, task, tries), found))


def experience_of(services: RunServices, order: RunSpec, task: Task, tries: tuple[FinishedAttempt, ...]) -> Experience:
    """A task with those of its attempts that tell something, from git and the engine's own checks."""
    told = [one.attempt for one in tries if judges_agent(one.attempt, classify(one.attempt))]
    before = services.mileposts.history(tries[-1].attempt.base, most=MOST_BEFORE)
    return Experience(
        project=order.memory.project,
        task=task.id,
        title=services.redact(task.title),
        text=services.redact(task.text),
        files=task.files,
        tries=tuple(_tried(services, order, task, attempt, _accepted(told)) for attempt in told),
        changed_before=_changed_before(services, order, before),
        commands_before=tuple(dict.fromkeys(_commands_before(services, task, before))),
        at=float(tries[-1].finished_at),
    )


def _accepted(attempts: list[Attempt]) -> Attempt | None:
    return attempts[-1] if attempts and attempts[-1].evidence.verdict is Verdict.PASSED else None


def _tried(
    services: RunServices, order: RunSpec, task: Task, attempt: Attempt, accepted: Attempt | None
) -> VerifiedAttempt:
    failure = classify(attempt)
    error = failed_with(attempt, accepted, services.redact) if failure is not None else None
    return VerifiedAttempt(
        episode=episode_id(order, task.id, attempt.number, attempt.agent),
        agent=attempt.agent,
        passed=attempt.evidence.verdict is Verdict.PASSED,
        signature=error.signature if error else failure.signature if failure else "",
        error_class=error.name if error else failure.kind.value if failure else "",
        known_by=error.known_by if error else (),
        changes=changes_of(services, order, attempt),
        checks=tuple(_check_run(services, check) for check in attempt.evidence.checks if check.outcome != "absent"),
        commit=attempt.commit,
    )


def _check_run(services: RunServices, check: CheckResult) -> CheckRun:
    return CheckRun(
        name=check.name,
        argv=tuple(map(services.redact, check.argv)),
        exit_code=check.exit_code,
        outcome=check.outcome,
        duration_ms=check.duration_ms,
        flaky=tuple(case.id for case in check.cases if case.flaky),
        of_the_task=check.name == VERIFY,
    )


def changes_of(services: RunServices, order: RunSpec, attempt: Attempt) -> tuple[FileChange, ...]:
    """What an attempt changed, with the texts of both sides: without secrets, and not more than can be read."""
    change = services.mileposts.change(attempt.base, attempt.commit, without=order.roadmap)
    found: list[FileChange] = []
    room = LARGEST_CHANGE
    for file in change.files[:MOST_FILES]:
        size = len(file.before or b"") + len(file.after or b"")
        if _is_readable(file) and size <= room:
            room -= size
            found.append(_texts(file, services.shown))
    return tuple(found)


def _is_readable(file: ChangedFile) -> bool:
    sides = [side for side in (file.before, file.after) if side is not None]
    plain = all(len(side) <= LARGEST_FILE and b"\0" not in side for side in sides)
    return plain and not file.is_link and not file.unread and not holds_secrets(file.path)


def _texts(file: ChangedFile, clean: Callable[[str], str]) -> FileChange:
    return FileChange(
        path=file.path,
        before=None if file.before is None else clean(file.text_before),
        after=None if file.after is None else clean(file.text_after),
    )


def _changed_before(services: RunServices, order: RunSpec, posts: tuple[Milepost, ...]) -> tuple[tuple[str, ...], ...]:
    """The files of each earlier milepost, oldest first."""
    files = services.mileposts.changed_by([post.commit for post in posts], order.roadmap)
    return tuple(files[post.commit] for post in reversed(posts) if files[post.commit])


def _commands_before(services: RunServices, task: Task, posts: tuple[Milepost, ...]) -> Iterator[tuple[str, ...]]:
    """The commands of checks that the newest mileposts of other tasks passed by, as their evidence tells."""
    note_of = services.mileposts.notes()
    for post in [post for post in posts if not post.ends(task.id)][:MOST_NOTES]:
        try:
            note = read_note(note_of(post.commit), post)
        except MilepostError:
            continue
        for check in note.evidence.checks if not note.problem else ():
            if check.name != VERIFY and check.argv and check.exit_code == 0:
                yield tuple(map(services.redact, check.argv))


def _quietly(services: RunServices, order: RunSpec, task: Task, attempt: int, act: Callable[[], object]) -> None:
    """Do what a run must not fail of; what goes wrong is told."""
    try:
        act()
    except (LeaseLost, Suspended):
        raise
    except Exception as error:
        text = services.redact(f"nothing is learnt: {type(error).__name__}: {error}")
        said = AgentSaid(run=order.run, task=task.id, attempt=attempt, text=text)
        services.announce(said, f"{task.id}/{attempt}/learning")
