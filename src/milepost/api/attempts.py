"""The attempts at a task: their results and their changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import path_of, whose

if TYPE_CHECKING:
    from pathlib import Path

    from milepost.engine.report.changed_files import FilesChanged
    from milepost.engine.report.facts import TaskAttempt
    from milepost.engine.views.attempts import Difference, Tried


def of_task(task: str, roadmap: Path | str | None = None) -> tuple[Tried, ...]:
    """All attempts at a task in all runs, passed or failed, oldest first."""
    from milepost.engine.views.attempts import attempts

    return attempts(path_of(roadmap), task)


def details(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> TaskAttempt:
    """One attempt: why it was refused, its checks before and after, cost, time, what it left.

    Without a number it is the newest attempt at the task, without a run that of the newest run. It may be in progress.
    """
    from milepost.engine.report.attempt import attempt_story

    return attempt_story(whose(roadmap, run, database), task, attempt)


def logs(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> tuple[tuple[str, str], ...]:
    """The full output of each check of one attempt, as pairs of name and text."""
    from milepost.engine.report.attempt import attempt_logs

    return attempt_logs(whose(roadmap, run, database), task, attempt)


def changed_files(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> FilesChanged:
    """The files that one attempt changed, with their text before and after, up to a size limit."""
    from milepost.engine.report.changed_files import changed_files as look

    return look(whose(roadmap, run, database), task, attempt)


def diff(place: str, other: str = "", roadmap: Path | str | None = None, *, stat: bool = False) -> Difference:
    """The changes of a milepost or an attempt; with `other`, the difference between the two."""
    from milepost.engine.views.attempts import diff as compare

    return compare(path_of(roadmap), place, other, stat=stat)


def last_agent(task: str, roadmap: Path | str | None = None, *, database: str | None = None) -> str | None:
    """The agent of the newest attempt at a task; None if there was none, and the settings decide."""
    from milepost.engine.run.retry import Retry
    from milepost.engine.run.retry import last_agent as look

    return look(Retry(task=task, roadmap=path_of(roadmap), database=database))
