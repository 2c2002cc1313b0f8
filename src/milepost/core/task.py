"""A task, and the roadmap it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from milepost.core.budget import UNBOUNDED, Allowance

TaskStatus = Literal["open", "done"]
Approve = Literal["", "before", "after", "each", "never"]
Priority = Literal["", "high", "medium", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One item of the roadmap; its subtasks are done with it, in the same attempt.

    `tests_may_change` comes from `Tests: may change`, `changes_nothing` from `Changes: none`, and
    `only_its_files` from `Scope: files`: what the author allows, expects or forbids. `budget` is what the task may
    take (`Budget:`), `timeout_s` the time of one attempt (`Timeout:`), `approve` when a person is asked (`Approve:`),
    `needs` the labels of a worker that can do it (`Needs:`). `context` is what the roadmap says above the task, of its
    phase and section; `parallel` that its author marked it as free to run beside others; `guess` that it was taken by a
    rule of thumb. `members` are the ids of further tasks that are done in the same attempt, as one group. `page` is the
    file that it stands in, where the roadmap is a folder. What is not `tickable` has no place that could say that it is
    done: that is known from its milepost alone.
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
    context: str = ""
    priority: Priority = ""
    parallel: bool = False
    members: tuple[str, ...] = ()
    page: str = ""
    tickable: bool = True

    @property
    def ids(self) -> tuple[str, ...]:
        """All tasks of the roadmap that are done with this one: itself, and the members of its group."""
        return (self.id, *self.members)

    def walk(self) -> Iterator[Task]:
        """This task and all below it, in the order of the file."""
        yield self
        for subtask in self.subtasks:
            yield from subtask.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in the roadmap worth a look before money is spent; `fatal` ones stop a run.

    `page` is the file, where the roadmap is a folder.
    """

    line: int
    message: str
    fatal: bool = False
    page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Why a line of the roadmap was taken for a task, or was not."""

    line: int
    taken: bool
    why: str
    page: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roadmap:
    """The checklist as it was read: top-level tasks in file order, and what was odd about it.

    `dialect` is how it says what is a task and what is done; `remarks` explain the reading line by line.
    """

    tasks: tuple[Task, ...]
    problems: tuple[Problem, ...] = ()
    dialect: str = "boxes"
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The tasks as a graph: each wave holds the ids that may start once the waves before it are done."""

    tasks: tuple[Task, ...]
    waves: tuple[tuple[str, ...], ...]
    problems: tuple[Problem, ...] = ()

    def task(self, task_id: str) -> Task:
        return next(task for task in self.tasks if task.id == task_id)
