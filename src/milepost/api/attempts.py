"""The attempts at a task: what came of each, and what it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.given import path_of, whose

if TYPE_CHECKING:
    from pathlib import Path

    from milepost.engine.report.changed_files import FilesChanged
    from milepost.engine.report.facts import TaskAttempt
    from milepost.engine.views.attempts import Difference, Tried


def attempts(task: str, roadmap: Path | str | None = None) -> tuple[Tried, ...]:
    """Every attempt at a task in every run, failed or not, oldest first."""
    from milepost.engine.views.attempts import attempts as list_attempts

    return list_attempts(path_of(roadmap), task)


def attempt_story(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> TaskAttempt:
    """What is told of one attempt: why it was refused, its checks before and after, cost, time, what it left.

    The newest attempt at the task is meant, and the newest run, unless others are named; one under way counts.
    """
    from milepost.engine.report.attempt import attempt_story as tell

    return tell(whose(roadmap, run, database), task, attempt)


def attempt_logs(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> tuple[tuple[str, str], ...]:
    """The whole output of each check of one attempt: its name and the text."""
    from milepost.engine.report.attempt import attempt_logs as read_logs

    return read_logs(whose(roadmap, run, database), task, attempt)


def changed_files(
    task: str,
    attempt: int | None = None,
    roadmap: Path | str | None = None,
    *,
    run: str | None = None,
    database: str | None = None,
) -> FilesChanged:
    """The files that one attempt changed, with their text before and after; how much is shown is bounded."""
    from milepost.engine.report.changed_files import changed_files as look

    return look(whose(roadmap, run, database), task, attempt)


def diff(place: str, other: str = "", roadmap: Path | str | None = None, *, stat: bool = False) -> Difference:
    """What a milepost or an attempt changed; with `other`, what differs from the one to the other."""
    from milepost.engine.views.attempts import diff as compare

    return compare(path_of(roadmap), place, other, stat=stat)


def last_agent(task: str, roadmap: Path | str | None = None, *, database: str | None = None) -> str | None:
    """Who tried a task last; None where nobody did, and the settings say who would."""
    from milepost.engine.run.retry import Retry
    from milepost.engine.run.retry import last_agent as look

    return look(Retry(task=task, roadmap=path_of(roadmap), database=database))
