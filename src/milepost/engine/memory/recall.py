"""What an attempt is told of earlier ones: looked up once, noted with the attempt, and told as an event."""

from __future__ import annotations

from milepost.core.attempt import Attempt
from milepost.core.events import AgentSaid, LessonsTold
from milepost.core.memories import Lessons, Query
from milepost.engine.memory.episodes import episode_id
from milepost.engine.records.call_log import AttemptKey
from milepost.engine.records.run_spec import AttemptSpec, FinishedAttempt
from milepost.engine.records.values_json import dump, load
from milepost.engine.services import RunServices
from milepost.repair.diagnosis.classify import classify

NOTE = "lessons"
LONGEST_ERROR = 4_000
MOST_ERRORS = 6


def lessons_for(
    services: RunServices, effort: AttemptSpec, tries: tuple[FinishedAttempt, ...], files: tuple[str, ...]
) -> tuple[str, ...]:
    """The lines for an attempt: the same in each of its lives, whatever was learnt meanwhile."""
    order = effort.order
    if order.memory.mode == "off":
        return ()
    key = AttemptKey(run=order.run, task=effort.task.id, attempt=effort.number)
    episode = episode_id(order, effort.task.id, effort.number, effort.agent)
    noted = services.books.calls.noted(key, NOTE)
    if noted and noted["episode"] == episode:
        told = load(Lessons, noted["lessons"])
    else:
        told = _recalled(services, effort, query_for(effort, tries, files, episode))
        services.books.calls.note(key, NOTE, {"episode": episode, "lessons": dump(told)})
    lines = tuple(map(services.redact, told.lines))
    if told.shown or told.held_out:
        event = LessonsTold(
            run=order.run,
            task=effort.task.id,
            attempt=effort.number,
            lessons=told.shown,
            lines=lines,
            held_out=told.held_out,
        )
        services.emit(event, f"{effort.task.id}/{effort.number}/lessons/{episode}")
    return lines


def query_for(effort: AttemptSpec, tries: tuple[FinishedAttempt, ...], files: tuple[str, ...], episode: str) -> Query:
    """What lessons are wanted for: the task, and before a repair what failed.

    Where nothing is written, nobody is told that somebody was shown a lesson.
    """
    task, remembering = effort.task, effort.order.memory
    failures = [failure for one in reversed(tries) if (failure := classify(one.attempt)) is not None]
    return Query(
        project=remembering.project,
        text=f"{task.title}\n{task.text}".strip(),
        task=task.id,
        files=files,
        errors=errors_of(tries[-1].attempt) if tries else (),
        signatures=tuple(dict.fromkeys(failure.signature for failure in failures)),
        episode=episode if remembering.writes else "",
    )


def errors_of(attempt: Attempt) -> tuple[str, ...]:
    """What an attempt failed with, as it was printed: tests first, which say most."""
    failed = [check for check in attempt.evidence.checks if check.outcome == "failed"]
    cases = [case for check in failed for case in check.cases if case.outcome == "failed"]
    texts = [*(case.traceback or case.message for case in cases), *(check.log or check.summary for check in failed)]
    return tuple(text[-LONGEST_ERROR:] for text in texts if text.strip())[:MOST_ERRORS]


def _recalled(services: RunServices, effort: AttemptSpec, query: Query) -> Lessons:
    """What is recalled; work does not stop where that cannot be done, but it is said."""
    try:
        return services.recall(query)
    except Exception as error:
        text = services.redact(f"nothing is recalled: {type(error).__name__}: {error}")
        said = AgentSaid(run=effort.order.run, task=effort.task.id, attempt=effort.number, text=text)
        services.announce(said, f"{effort.task.id}/{effort.number}/recall")
        return Lessons()
