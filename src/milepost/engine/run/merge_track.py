"""The way to the branch: verified work joins the train, is merged and proven there, and lands in its order."""

from __future__ import annotations

from milepost.engine.run.merge_train import Car, Train


class Track:
    """Where the branch is, the train that is on its way to it, and the tasks that wait to be coupled."""

    def __init__(self, head: str) -> None:
        self.head = head
        self.train = Train()
        self.waiting: list[str] = []

    @property
    def tasks(self) -> tuple[str, ...]:
        """All whose work is verified and not landed yet."""
        return (*self.train.tasks, *self.waiting)

    @property
    def end(self) -> str:
        """The commit that the next car is put on."""
        return self.train.end(self.head)

    def join(self, task: str) -> None:
        """Let a task's verified work wait to be coupled."""
        self.waiting.append(task)

    def couple(self, car: Car) -> None:
        self.waiting.remove(car.task)
        self.train = self.train.coupled(car)

    def proven(self, task: str) -> None:
        self.train = self.train.proven(task)

    def landed(self, commit: str) -> None:
        """The first car's work is the branch's now."""
        self.head = commit
        self.train = self.train.without_first()

    def leave(self, task: str) -> None:
        """Take a task's work off the track; what was behind it is put on top of what is left."""
        if task in self.waiting:
            self.waiting.remove(task)
            return
        self.train, behind = self.train.cut(task)
        self.waiting = [*behind, *self.waiting]

    def uncouple(self) -> None:
        """Put all on top of where the branch is now, anew: it was moved by something else than the train."""
        self.waiting = [*self.train.tasks, *self.waiting]
        self.train = Train()

    def next_to_couple(self, wanted: tuple[str, ...], unfinished: frozenset[str], *, ordered: bool) -> str:
        """The task that is coupled next, empty where there is none.

        In the order of the plan, where that is asked for, one whose turn it is not waits for those before it.
        """
        if not self.waiting:
            return ""
        if not ordered:
            return self.waiting[0]
        first = min(self.waiting, key=wanted.index)
        before = wanted[: wanted.index(first)]
        held_back = any(task in unfinished and task not in self.train.tasks for task in before)
        return "" if held_back else first
