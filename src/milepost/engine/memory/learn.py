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
from milepost.engine.records.milepost_note import recorded_note
from milepost.engine.records.run_spec import Order, Try
from milepost.engine.records.suspend import Parked
from milepost.engine.services import Rooms
from milepost.memory.lessons.experience import CheckRun, Experience, FileChange, Tried
from milepost.memory.lessons.learn import learn, settle
from milepost.repair.diagnosis.classify import classify
from milepost.verify.checks.commands import NAME as VERIFY
from milepost.verify.checks.secrets import without_credentials

MOST_FILES = 50
LARGEST_FILE = 200_000
LARGEST_CHANGE = 2_000_000
MOST_BEFORE = 200  # commits that are looked at for earlier mileposts
MOST_NOTES = 10  # earlier mileposts whose evidence is read


def judge_lessons(here: Rooms, order: Order, task: Task, attempt: Attempt) -> None:
    """Count the end of an attempt back to the lessons that it was told; harmless when repeated."""
    name = episode_id(order, task.id, attempt.number, attempt.agent)
    if not order.memory.writes or not judges_agent(attempt, classify(attempt)):
        return

    def judge() -> None:
        if here.books.memory.lessons.shown_to(name):
            changes = changes_of(here, order, attempt)
            errors = errors_of(attempt, here.redact)
            settle(here.books.memory, name, changes, attempt.evidence.verdict is Verdict.PASSED, errors)

    _quietly(here, order, task, attempt.number, judge)


def learn_from(here: Rooms, order: Order, task: Task, tries: tuple[Try, ...]) -> None:
    """Learn from a task that is over; harmless when repeated."""
    if not order.memory.writes or not tries:
        return
    number = tries[-1].attempt.number
    found: list[Lesson] = []

    def choose() -> None:
        found.extend(chosen_lessons(here, order, task, number, experience_of(here, order, task, tries)))

    if order.memory.distil_with:
        _quietly(here, order, task, number, choose)
    memory = here.books.memory
    _quietly(here, order, task, number, lambda: learn(memory, experience_of(here, order, task, tries), found))


def experience_of(here: Rooms, order: Order, task: Task, tries: tuple[Try, ...]) -> Experience:
    """A task with those of its attempts that tell something, from git and the engine's own checks."""
    told = [one.attempt for one in tries if judges_agent(one.attempt, classify(one.attempt))]
    return Experience(
        project=order.memory.project,
        task=task.id,
        title=here.redact(task.title),
        text=here.redact(task.text),
        files=task.files,
        tries=tuple(_tried(here, order, task, attempt, _accepted(told)) for attempt in told),
        changed_before=_changed_before(here, order, tries),
        commands_before=tuple(dict.fromkeys(_commands_before(here, task, tries))),
        at=float(tries[-1].finished_at),
    )


def _accepted(attempts: list[Attempt]) -> Attempt | None:
    return attempts[-1] if attempts and attempts[-1].evidence.verdict is Verdict.PASSED else None


def _tried(here: Rooms, order: Order, task: Task, attempt: Attempt, accepted: Attempt | None) -> Tried:
    failure = classify(attempt)
    error = failed_with(attempt, accepted, here.redact) if failure is not None else None
    return Tried(
        episode=episode_id(order, task.id, attempt.number, attempt.agent),
        agent=attempt.agent,
        passed=attempt.evidence.verdict is Verdict.PASSED,
        signature=error.signature if error else failure.signature if failure else "",
        error_class=error.name if error else failure.kind.value if failure else "",
        known_by=error.known_by if error else (),
        changes=changes_of(here, order, attempt),
        checks=tuple(_check_run(here, check) for check in attempt.evidence.checks if check.outcome != "absent"),
        commit=attempt.commit,
    )


def _check_run(here: Rooms, check: CheckResult) -> CheckRun:
    return CheckRun(
        name=check.name,
        argv=tuple(map(here.redact, check.argv)),
        exit_code=check.exit_code,
        outcome=check.outcome,
        duration_ms=check.duration_ms,
        flaky=tuple(case.id for case in check.cases if case.flaky),
        of_the_task=check.name == VERIFY,
    )


def changes_of(here: Rooms, order: Order, attempt: Attempt) -> tuple[FileChange, ...]:
    """What an attempt changed, with the texts of both sides: without secrets, and not more than can be read."""
    change = here.mileposts.change(attempt.base, attempt.commit, without=order.roadmap)
    found: list[FileChange] = []
    room = LARGEST_CHANGE
    for file in change.files[:MOST_FILES]:
        size = len(file.before or b"") + len(file.after or b"")
        if _is_readable(file) and size <= room:
            room -= size
            found.append(_texts(file, lambda text: without_credentials(here.redact(text))))
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


def _changed_before(here: Rooms, order: Order, tries: tuple[Try, ...]) -> tuple[tuple[str, ...], ...]:
    """The files of each earlier milepost below the last attempt, oldest first."""
    base = tries[-1].attempt.base
    posts = here.mileposts.history(base, most=MOST_BEFORE)
    files = here.mileposts.changed_by([post.commit for post in posts], order.roadmap)
    return tuple(files[post.commit] for post in reversed(posts) if files[post.commit])


def _commands_before(here: Rooms, task: Task, tries: tuple[Try, ...]) -> Iterator[tuple[str, ...]]:
    """The commands of checks that the newest mileposts of other tasks passed by, as their evidence tells."""
    posts = here.mileposts.history(tries[-1].attempt.base, most=MOST_BEFORE)
    for post in [post for post in posts if not post.ends(task.id)][:MOST_NOTES]:
        try:
            note = recorded_note(here.mileposts, post)
        except MilepostError:
            continue
        for check in note.evidence.checks if not note.problem else ():
            if check.name != VERIFY and check.argv and check.exit_code == 0:
                yield tuple(map(here.redact, check.argv))


def _quietly(here: Rooms, order: Order, task: Task, attempt: int, act: Callable[[], object]) -> None:
    """Do what a run must not fail of; what goes wrong is told."""
    try:
        act()
    except (LeaseLost, Parked):
        raise
    except Exception as error:
        text = here.redact(f"nothing is learnt: {type(error).__name__}: {error}")
        said = AgentSaid(run=order.run, task=task.id, attempt=attempt, text=text)
        here.announce(said, f"{task.id}/{attempt}/learning")
