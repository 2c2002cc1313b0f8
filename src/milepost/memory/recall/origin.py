"""Where a lesson comes from, as it stands beside it: others chose these names, so only what is plainly one is told."""

from __future__ import annotations

from collections.abc import Callable

from milepost.memory.lessons.distil import sanitise


def project_mark(project: str) -> str:
    """The name of a project; dots for one that is not to be read."""
    return _held(sanitise.project, project) or sanitise.LEFT_OUT


def task_mark(task: str) -> str:
    """The same for a task."""
    return _held(sanitise.identifier, task) or sanitise.LEFT_OUT


def origin(run: str, task: str) -> str:
    """The run and the task, as far as their names are plain; empty where neither is."""
    named = (("run", _held(sanitise.identifier, run)), ("task", _held(sanitise.identifier, task)))
    return " ".join(f"{what} {name}" for what, name in named if name)


def _held(hold: Callable[[str], str], name: str) -> str:
    try:
        return hold(name)
    except sanitise.CannotQuote:
        return ""
