"""The merge train: verified attempts on their way to the branch, each on top of those before it.

The work of each is merged onto what the branch will be when those before it have landed, and verified there while
they still are. So merged trees are verified side by side, every milepost has evidence for its very tree, and the
first that fails is known at once: those behind it are uncoupled and put on top of what is left. All pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Car:
    """An attempt in the train: its task, the commit it is put on, and the commit of both together.

    `proving` is the workflow that verifies it there, empty when that tree is verified already. A `doubtful` one failed
    there, on top of work that is not proven itself and may be to blame.
    """

    task: str
    on: str
    commit: str
    proving: str = ""
    doubtful: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Train:
    """Those that wait to land, in the order in which they will."""

    cars: tuple[Car, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(car.task for car in self.cars)

    @property
    def proving(self) -> dict[str, str]:
        """The workflows that verify cars, and the task of each."""
        return {car.proving: car.task for car in self.cars if car.proving}

    def end(self, head: str) -> str:
        """The commit that the next car is put on, with the branch at `head`."""
        return self.cars[-1].commit if self.cars else head

    def coupled(self, car: Car) -> Train:
        return Train(cars=(*self.cars, car))

    def proven(self, task: str) -> Train:
        return Train(cars=tuple(replace(car, proving="") if car.task == task else car for car in self.cars))

    def doubted(self, task: str) -> Train:
        """The train in which a task's work failed on top of work that may be to blame itself."""
        doubt = (replace(car, proving="", doubtful=True) if car.task == task else car for car in self.cars)
        return Train(cars=tuple(doubt))

    @property
    def next_to_land(self) -> str:
        """The task whose work may land now, empty while there is none."""
        return self.cars[0].task if self.cars and not self.cars[0].proving and not self.cars[0].doubtful else ""

    def without_first(self) -> Train:
        return Train(cars=self.cars[1:])

    def cut(self, task: str) -> tuple[Train, tuple[str, ...]]:
        """The train before a task's car, and the tasks that were behind it."""
        at = self.tasks.index(task)
        return Train(cars=self.cars[:at]), self.tasks[at + 1 :]
