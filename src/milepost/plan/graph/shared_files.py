"""Tasks that would change one file at the same time, by what they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from milepost.core.task import Problem, Task
from milepost.plan.advice.problems import listed, problem_of
from milepost.plan.graph.alike_tasks import names_in
from milepost.plan.repository_facts import RepositoryFacts

_ENDINGS = (
    "c cc cfg cjs conf cpp cs css csv cts dart env ex exs go gradle h hpp html ini ipynb java jl js json jsx kt less "
    "lock lua md mjs mk mod mts php pl proto ps1 py pyi r rb rs rst sass scala scss sh sql svelte svg swift tf toml ts "
    "tsx txt vue xml yaml yml zig"
)
_FOLDERS, _NAME = r"(?:[\w.@-]+/)", r"[\w.@-]+\."
_PATH = re.compile(rf"{_FOLDERS}*{_NAME}(?:{'|'.join(_ENDINGS.split())})|{_FOLDERS}+{_NAME}\w+", re.IGNORECASE)


def sharing(tasks: Sequence[Task], ground: RepositoryFacts) -> Iterator[Problem]:
    """One problem a group of tasks that change the same files without waiting for one another.

    Those that claim a file are kept apart; those that only speak of it are not, and it is said what to write.
    """
    claimed = _by_name((task, task.files) for task in tasks)
    for group, files in _groups(claimed):
        names = [task.id for task in group]
        both = "both" if len(names) == 2 else "all"
        message = f"{listed(names)} {both} change {listed(files)}: they will not run at the same time"
        yield problem_of(group[1], message, "shared file")
    spoken = _by_name((task, _spoken(task, ground)) for task in tasks)
    for name, group in list(spoken.items()):
        if all(name in task.files for task in group):
            del spoken[name]
    for group, files in _groups(spoken):
        names = [task.id for task in group]
        both = "both" if len(names) == 2 else "all"
        message = f"{listed(names)} {both} mention {listed(files)}: write `Files:` below them, or they may conflict"
        yield problem_of(group[1], message, "spoken file")


def _by_name(named: Iterable[tuple[Task, Sequence[str]]]) -> dict[str, list[Task]]:
    found: dict[str, list[Task]] = {}
    for task, names in named:
        for name in names:
            found.setdefault(name, []).append(task)
    return found


def _groups(by_name: dict[str, list[Task]]) -> Iterator[tuple[list[Task], list[str]]]:
    """The tasks that share names without an order among them, with all names that the same ones share."""
    groups: dict[tuple[str, ...], tuple[list[Task], list[str]]] = {}
    for name, group in by_name.items():
        if len(group) > 1 and not _is_chain(group):
            groups.setdefault(tuple(task.id for task in group), (group, []))[1].append(name)
    yield from groups.values()


def _is_chain(group: Sequence[Task]) -> bool:
    return all(before.id in after.depends_on or after.id in before.depends_on for before, after in pairwise(group))


def _spoken(task: Task, ground: RepositoryFacts) -> tuple[str, ...]:
    """The files that a task claims, or those that it quotes as code where it claims none."""
    if task.files:
        return task.files
    quoted = (name.removeprefix("./") for part in task.walk() for name in names_in(f"{part.title}\n{part.text}"))
    return tuple(dict.fromkeys(name for name in quoted if _is_path(name, ground)))


def _is_path(name: str, ground: RepositoryFacts) -> bool:
    if ground.files is not None and name in ground.files:
        return True
    return _PATH.fullmatch(name) is not None
