"""The merge queue: verified attempts on their way to the run's branch, each on top of those before it.

The work of each is merged onto what the branch will be when those before it are merged, and verified there while they
still are. So merged trees are verified side by side, every milepost has evidence for its very tree, and the first that
fails is known at once: those behind it leave the queue and are put on top of what is left. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMerge:
    """An attempt in the queue: its task, the commit it is put on, and the commit of both together.

    `proving` is the workflow that verifies it there, empty when that tree is verified already. A `doubtful` one failed
    there, on top of work that is not proven itself and may be to blame.
    """

    task: str
    on: str
    commit: str
    proving: str = ""
    doubtful: bool = False


class MergeQueue:
    """Where the branch is, what is queued on top of it, and the verified tasks that wait for a place in the queue."""

    def __init__(self, head: str) -> None:
        self.head = head
        self.queued: tuple[QueuedMerge, ...] = ()
        self.waiting: list[str] = []

    @property
    def queued_tasks(self) -> tuple[str, ...]:
        return tuple(queued.task for queued in self.queued)

    @property
    def tasks(self) -> tuple[str, ...]:
        """All whose work is verified and not merged yet."""
        return (*self.queued_tasks, *self.waiting)

    @property
    def end(self) -> str:
        """The commit that the next one is put on."""
        return self.queued[-1].commit if self.queued else self.head

    @property
    def proving(self) -> dict[str, str]:
        """The workflows that verify what is queued, and the task of each."""
        return {queued.proving: queued.task for queued in self.queued if queued.proving}

    @property
    def next_to_merge(self) -> str:
        """The task whose work may be merged now, empty while there is none."""
        first = self.queued[0] if self.queued else None
        return first.task if first and not first.proving and not first.doubtful else ""

    def next_to_add(self, wanted: tuple[str, ...], unfinished: frozenset[str], *, ordered: bool) -> str:
        """The waiting task that is queued next, empty where there is none.

        In the order of the plan, where that is asked for, one whose turn it is not waits for those before it.
        """
        if not self.waiting:
            return ""
        if not ordered:
            return self.waiting[0]
        first = min(self.waiting, key=wanted.index)
        before = wanted[: wanted.index(first)]
        held_back = any(task in unfinished and task not in self.queued_tasks for task in before)
        return "" if held_back else first

    def wait(self, task: str) -> None:
        """Let a task's verified work wait for a place in the queue."""
        self.waiting.append(task)

    def add(self, merge: QueuedMerge) -> None:
        self.waiting.remove(merge.task)
        self.queued = (*self.queued, merge)

    def proven(self, task: str) -> None:
        self._change(task, doubtful=False)

    def doubted(self, task: str) -> None:
        """A task's work failed on top of work that may be to blame itself."""
        self._change(task, doubtful=True)

    def merged(self, commit: str) -> None:
        """The work of the first is the branch's now."""
        self.head = commit
        self.queued = self.queued[1:]

    def leave(self, task: str) -> None:
        """Take a task's work out; what was behind it is put on top of what is left."""
        if task in self.waiting:
            self.waiting.remove(task)
            return
        at = self.queued_tasks.index(task)
        self.waiting = [*self.queued_tasks[at + 1 :], *self.waiting]
        self.queued = self.queued[:at]

    def restart(self, head: str = "") -> None:
        """Queue everything anew on top of the branch, which something else moved: to `head`, if that is said."""
        self.head = head or self.head
        self.waiting = [*self.queued_tasks, *self.waiting]
        self.queued = ()

    def _change(self, task: str, *, doubtful: bool) -> None:
        self.queued = tuple(
            replace(one, proving="", doubtful=doubtful or one.doubtful) if one.task == task else one
            for one in self.queued
        )
