"""How a run stands in a few numbers, for pages that nobody sees at the moment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import milepost
from milepost.web.page_facts import PageFacts

OUTCOMES = ("passed", "accepted", "held", "failed", "unverified")


class Summaries:
    """Counts a run anew only when something happened in it. Any thread may ask."""

    def __init__(self, site: PageFacts) -> None:
        self._site = site
        self._counted: dict[str, tuple[str, int, dict[str, int]]] = {}

    def of(self, run: str) -> dict[str, Any]:
        """Where the run is, whether a process is at it, what waits, and the verdicts so far."""
        stream = self._site.stream
        epoch, last = stream.epoch, stream.last(run) if run else 0
        known_epoch, known_last, numbers = self._counted.get(run, ("", -1, {}))
        if (epoch, last) != (known_epoch, known_last):
            rows = stream.opening(run, 0).rows if run else ()
            numbers = counted(json.loads(row.body) for row in rows)
            self._counted[run] = epoch, last, numbers
        waiting = len(waiting_in(self._site, run)) if numbers["waiting"] else 0
        return {**numbers, "last": last, "alive": run in stream.at_work(), "waiting": waiting}


def waiting_in(site: PageFacts, run: str) -> list[str]:
    """The questions of a run that nobody has answered, also where the run did not take an answer up yet."""
    waiting = milepost.waiting_gates(site.roadmap, database=site.database or "")
    return [gate.gate for gate in waiting if gate.run == run]


def counted(events: Iterable[dict[str, Any]]) -> dict[str, int]:
    """How tasks ended, the last of each, and the questions whose answer the run did not take up.

    A question about held work outlives the run.
    """
    verdicts: dict[str, str] = {}
    waiting: dict[str, dict[str, Any]] = {}
    for event in events:
        match event.get("event"):
            case "task_finished":
                verdicts[event["task"]] = _outcome(event)
                if event.get("commit"):
                    waiting = {gate: asked for gate, asked in waiting.items() if asked["task"] != event["task"]}
            case "gate_opened":
                waiting[event["gate"]] = event
            case "gate_answered":
                waiting.pop(event["gate"], None)
            case "run_finished":
                waiting = {gate: asked for gate, asked in waiting.items() if asked.get("kind") == "held"}
    numbers = Counter(verdicts.values())
    return {"waiting": len(waiting), **{name: numbers[name] for name in OUTCOMES}}


def _outcome(event: dict[str, Any]) -> str:
    """The verdict; what has a milepost without having passed was accepted by its owner."""
    verdict = event["verdict"] or ""
    return "accepted" if event.get("commit") and verdict != "passed" else verdict
