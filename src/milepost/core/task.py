"""A task, and the roadmap it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from milepost.core.budget import UNBOUNDED, Allowance

TaskStatus = Literal["open", "done"]
Approve = Literal["", "before", "after", "each", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One item of the roadmap; its subtasks are done with it, in the same attempt.

    `tests_may_change` comes from `Tests: may change`, `changes_nothing` from `Changes: none`, and
    `only_its_files` from `Scope: files`: what the author allows, expects or forbids. `budget` is what the task may
    take (`Budget:`), `timeout_s` the time of one attempt (`Timeout:`), `approve` when a person is asked (`Approve:`),
    `needs` the labels of a worker that can do it (`Needs:`).
    """

    id: str
    title: str
    status: TaskStatus
    line: int
    phase: str = ""
    section: str = ""
    text: str = ""
    depends_on: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    agent: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    subtasks: tuple[Task, ...] = ()
    guess: bool = False
    tests_may_change: bool = False
    changes_nothing: bool = False
    only_its_files: bool = False
    budget: Allowance = UNBOUNDED
    timeout_s: float | None = None
    approve: Approve = ""
    needs: tuple[str, ...] = ()

    def walk(self) -> Iterator[Task]:
        """This task and all below it, in the order of the file."""
        yield self
        for subtask in self.subtasks:
            yield from subtask.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in the roadmap worth a look before money is spent; `fatal` ones stop a run."""

    line: int
    message: str
    fatal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Roadmap:
    """The checklist as it was read: top-level tasks in file order, and what was odd about it."""

    tasks: tuple[Task, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The tasks as a graph: each wave holds the ids that may start once the waves before it are done."""

    tasks: tuple[Task, ...]
    waves: tuple[tuple[str, ...], ...]
    problems: tuple[Problem, ...] = ()

    def task(self, task_id: str) -> Task:
        return next(task for task in self.tasks if task.id == task_id)
