"""How a run stands in a few numbers, for pages that nobody sees at the moment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import milepost


class Summaries:
    """Counts a run anew only when something happened in it."""

    def __init__(self, stream: milepost.EventStream) -> None:
        self._stream = stream
        self._counted: tuple[str, str, int] = ("", "", -1)
        self._numbers: dict[str, int] = {}

    def of(self, run: str) -> dict[str, Any]:
        """Where the run is, whether a process is at it, what waits, and the verdicts so far."""
        last = self._stream.last(run) if run else 0
        stands = (self._stream.epoch, run, last)
        if stands != self._counted:
            rows = self._stream.opening(run, 0).rows if run else ()
            self._numbers = counted(json.loads(row.body) for row in rows)
            self._counted = stands
        return {"last": last, "alive": run in self._stream.at_work(), **self._numbers}


def counted(events: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Verdicts by their names, the last of each task, and the questions that nobody has answered."""
    verdicts: dict[str, str] = {}
    waiting: set[str] = set()
    for event in events:
        match event.get("event"):
            case "task_finished":
                verdicts[event["task"]] = event["verdict"] or ""
            case "gate_opened":
                waiting.add(event["gate"])
            case "gate_answered":
                waiting.discard(event["gate"])
            case "run_finished":
                waiting.clear()
    numbers = Counter(verdicts.values())
    return {"waiting": len(waiting), **{name: numbers[name] for name in ("passed", "failed", "unverified")}}
