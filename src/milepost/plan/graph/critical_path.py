"""The critical path: the longest chain of tasks that come one after the other."""

from __future__ import annotations

from collections.abc import Mapping

from milepost.core.task import Plan
from milepost.plan.graph.file_claims import normal


def critical_path(plan: Plan, seconds: Mapping[str, float] | None = None) -> tuple[str, ...]:
    """The chain that a run cannot be shorter than: by the time its tasks will take where that is known, else by count.

    Tasks that change one file are one after the other, too. Where chains are equal, the one that starts first.
    """
    known = seconds or {}
    usual = sum(known.values()) / len(known) if known else 1.0
    before = plan.before()
    files = {task.id: task.files for task in plan.tasks}
    longest: dict[str, tuple[float, str]] = {}
    last_on: dict[str, str] = {}
    for name in (name for wave in plan.waves for name in wave):
        on_files = (last_on[file] for file in map(normal, files[name]) if file in last_on)
        others = [other for other in (*before[name], *on_files) if other in longest]
        link = max(others, key=lambda other: longest[other][0], default="")
        longest[name] = (known.get(name, usual) + (longest[link][0] if link else 0.0), link)
        last_on.update(dict.fromkeys(map(normal, files[name]), name))
    name = max(longest, key=lambda name: longest[name][0], default="")
    path: list[str] = []
    while name:
        path.append(name)
        name = longest[name][1]
    return tuple(reversed(path))
