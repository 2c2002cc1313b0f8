"""The pipeline on Prefect: a flow run a task, five task runs in it, each with its result kept.

The address of its server is in PREFECT_API_URL, as Prefect has it; PLACE is the server's database.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipeline import STEPS, Probe, asked, result_of
from prefect import flow, task  # type: ignore[import-not-found]


def step(name: str) -> Any:
    return task(name=name, persist_result=True)(lambda number: result_of(number, name))


def pipeline_of(steps: list[Any]) -> Callable[[int], int]:
    def pipeline(number: int) -> int:
        for one in steps:
            one(number)
        return number

    return pipeline


def main() -> None:
    _, place, number = asked()
    one = flow(name="pipeline", persist_result=True)(pipeline_of([step(name) for name in STEPS]))
    one(-1)
    Probe(place, number).measure(lambda: [one(count) for count in range(number)])


if __name__ == "__main__":
    main()
