"""The story of one attempt, without gathering the whole run."""

from __future__ import annotations

import time

from milepost.core.errors import TaskUnknown
from milepost.core.events import MilepostMade, StageStarted, TaskFinished
from milepost.engine.records.check_logs import Logs, logs_of
from milepost.engine.records.run_view import RunRef, RunView, redacted, viewed
from milepost.engine.report.bars import bars_of
from milepost.engine.report.facts import TaskAttempt
from milepost.engine.report.tasks import attempt_stories


def attempt_story(whose: RunRef, task: str, number: int | None = None) -> TaskAttempt:
    """What is told of an attempt at a task, the newest unless another is named; one that is under way among them."""
    with viewed(whose) as view:
        return redacted(story_in(view, task, number), view.redact)


def story_in(view: RunView, task: str, number: int | None = None) -> TaskAttempt:
    """The attempt in a run that is looked at."""
    run, entries = view.record.run, view.journal.events_of(view.record.run, task)
    told = [entry.event for entry in entries]
    name = next((event.task for event in told if isinstance(event, StageStarted)), task)
    until = time.time() if view.running else view.journal.last_at(run) or view.record.started_at
    bars = bars_of(entries, until, at_work=view.running).get(name, ())
    stories = attempt_stories(run, name, entries, view.journal.attempts(run, name), bars)
    numbers = tuple(one.number for one in stories)
    found = next((one for one in stories if one.number == (number or max(numbers))), None) if stories else None
    if found is None:
        known = f"its attempts are: {', '.join(map(str, numbers))}" if numbers else "milepost events shows what it did"
        which = f"attempt {number}" if number else "attempt"
        raise TaskUnknown(f"run {run} made no {which} at task {task!r}", known)
    titles = (event.title for event in told if isinstance(event, StageStarted | TaskFinished))
    posts = (event for event in told if isinstance(event, MilepostMade))
    return TaskAttempt(
        run=run,
        task=name,
        title=next((title for title in titles if title), ""),
        attempt=found,
        numbers=numbers,
        milepost=next((post.commit for post in posts if post.attempt == found.number), ""),
    )


def attempt_logs(whose: RunRef, task: str, number: int | None = None) -> tuple[tuple[str, str], ...]:
    """The name and the whole log of each check of an attempt, as far as they are kept on this machine."""
    with viewed(whose) as view:
        kept = view.journal.attempts(view.record.run, task)
        wanted = number or (kept[-1].number if kept else 0)
        found = next((one for one in kept if one.number == wanted), None)
        if found is None:
            raise TaskUnknown(
                f"run {view.record.run} has no attempt {wanted or ''} at task {task!r} that has ended".replace(
                    "  ", " "
                ),
                "milepost attempts lists them",
            )
        logs = logs_of(found.evidence.checks, Logs(view.project.state / "logs"))
        return tuple((view.redact(name), view.redact(text)) for name, text in logs)
