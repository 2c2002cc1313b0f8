"""What is worth a look in open tasks before money is spent on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from milepost.core.task import Problem, Task
from milepost.plan.advice.complexity import complexity_of
from milepost.plan.advice.judges import named_as_judges
from milepost.plan.advice.missing import missing_files, missing_programs, unreadable_lines
from milepost.plan.advice.problems import called, problem_of
from milepost.plan.advice.vagueness import vague_words
from milepost.plan.repository_facts import UNSEEN, RepositoryFacts

_REASONS = 4
# The titles that `milepost init` writes for a person to write over; an agent would take them for work.
SAMPLES = ("Describe the first task in one line", "A task that depends on it")


def lint(tasks: Sequence[Task], ground: RepositoryFacts = UNSEEN) -> Iterator[Problem]:
    """The oddities of tasks whose files and checks include those of their subtasks; none is fatal."""
    open_tasks = [task for task in tasks if task.status == "open"]
    yield from _samples(open_tasks)
    yield from _unclear(open_tasks)
    yield from _too_big(open_tasks)
    yield from missing_files(tasks, ground)
    yield from missing_programs(open_tasks, ground)
    yield from unreadable_lines(open_tasks)
    yield from named_as_judges(open_tasks, ground)
    yield from _ticked_too_early(tasks)


def _samples(tasks: Sequence[Task]) -> Iterator[Problem]:
    for task in tasks:
        if task.title in SAMPLES:
            yield problem_of(
                task, f"{called(task)} is the sample of milepost init: write your own task over it", "sample"
            )


def _unclear(tasks: Sequence[Task]) -> Iterator[Problem]:
    """Tasks that can hardly be proven: one problem each, the graver one."""
    for task in tasks:
        if task.verify or task.verify_hidden or task.agent.startswith("pattern:"):
            continue
        words = vague_words(task)
        if words is not None:
            why = f" ({', '.join(words)})" if words else ""
            message = f"{called(task)} is vague{why} and has no Verify: say what to change and how to check it"
            yield problem_of(task, message, "vague")
        else:
            message = f"{called(task)} has no Verify: it ends held unless it makes a failing test pass"
            yield problem_of(task, message, "no verify")


def _too_big(tasks: Sequence[Task]) -> Iterator[Problem]:
    for task in tasks:
        found = complexity_of(task)
        if found.is_too_big:
            why = ", ".join(found.reasons[:_REASONS])
            message = f"{called(task)} is too big for one attempt ({why}): milepost plan --propose splits it"
            yield problem_of(task, message, "too big")


def _ticked_too_early(tasks: Sequence[Task]) -> Iterator[Problem]:
    for task in tasks:
        left = [subtask for subtask in task.walk() if subtask.status == "open"]
        if task.status == "done" and left:
            message = f'{task.id} is ticked, so "{left[0].title}" below it will not be worked on'
            yield Problem(line=left[0].line, message=message, page=task.page, kind="ticked")
