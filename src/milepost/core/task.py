"""A task, and the roadmap it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from milepost.core.budget import UNBOUNDED, Allowance

TaskStatus = Literal["open", "done"]
Approve = Literal["", "before", "after", "each", "never"]
Priority = Literal["", "high", "medium", "low"]
Why = Literal["outline", "imports", "whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskElsewhere:
    """A task of another project. `line` is where somebody says that they wait for it; `done` is as it was looked up."""

    project: str
    id: str
    line: int = field(default=0, compare=False)
    done: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.project}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One item of the roadmap; its subtasks are done with it, in the same attempt.

    `tests_may_change` comes from `Tests: may change`, `changes_nothing` from `Changes: none`, `keeps_behaviour` from
    `Behaviour: same`, and `only_its_files` from `Scope: files`: what the author allows, expects or forbids.
    `verify_hidden` are commands that no agent is shown (`Verify hidden:`). `budget` is what the task may
    take (`Budget:`), `timeout_s` the time of one attempt (`Timeout:`), `approve` when a person is asked (`Approve:`),
    `needs` the labels of a worker that can do it (`Needs:`). `context` is what the roadmap says above the task, of its
    phase and section; `parallel` that its author marked it as free to run beside others; `guess` that it was taken by a
    rule of thumb. `members` are the ids of further tasks that are done in the same attempt, as one group. `page` is the
    file that it stands in, where the roadmap is a folder. What is not `tickable` has no place that could say that it is
    done: that is known from its milepost alone. `depends_on` names tasks; `awaits` the very items that its author
    named, subtasks among them, where these are others. `depends_elsewhere` are tasks of other projects.
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
    keeps_behaviour: bool = False
    verify_hidden: tuple[str, ...] = ()
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
    awaits: tuple[str, ...] = ()
    depends_elsewhere: tuple[TaskElsewhere, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """All tasks of the roadmap that are done with this one: itself, and the members of its group."""
        return (self.id, *self.members)

    @property
    def waits_elsewhere(self) -> tuple[TaskElsewhere, ...]:
        """All tasks of other projects that this one waits for, or what is below it."""
        return tuple(dict.fromkeys(other for part in self.walk() for other in part.depends_elsewhere))

    def walk(self) -> Iterator[Task]:
        """This task and all below it, in the order of the file."""
        yield self
        for subtask in self.subtasks:
            yield from subtask.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in the roadmap worth a look before money is spent; `fatal` ones stop a run.

    `page` is the file, where the roadmap is a folder. `kind` is the same for problems that are alike, to count them.
    """

    line: int
    message: str
    fatal: bool = False
    page: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A task that comes after another though nobody stated it, and why.

    `outline`: it stands after it. `imports`: it changes a file that imports what the other changes, and `because` says
    which. `whole`: it is proven by what proves all of the task that both are part of.
    """

    task: str
    after: str
    why: Why
    because: str = ""


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
    """The tasks as a graph: each wave holds the ids that may start once the waves before it are done.

    `waits` are what follows what beside what the tasks state. Members of a group are among the tasks and in no wave.
    `notes` say what could not be looked at. `dialect` is how the roadmap was read.
    """

    tasks: tuple[Task, ...]
    waves: tuple[tuple[str, ...], ...]
    problems: tuple[Problem, ...] = ()
    waits: tuple[Wait, ...] = ()
    notes: tuple[str, ...] = ()
    dialect: str = "boxes"

    def task(self, task_id: str) -> Task:
        return next(task for task in self.tasks if task.id == task_id)

    def before(self) -> dict[str, tuple[str, ...]]:
        """What each task comes after, stated or not, in one look."""
        found = {task.id: list(task.depends_on) for task in self.tasks}
        for wait in self.waits:
            if wait.task in found:
                found[wait.task].append(wait.after)
        return {name: tuple(dict.fromkeys(others)) for name, others in found.items()}
