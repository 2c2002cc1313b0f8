"""Small tasks in groups: several of one section become one attempt, led by the first of them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from milepost.core.budget import UNBOUNDED
from milepost.core.task import Task
from milepost.plan.advice.traits import traits_of
from milepost.plan.graph.alike_tasks import Kinship, names_in
from milepost.plan.graph.attempt_units import union
from milepost.plan.graph.cycles import circles_of
from milepost.plan.graph.order import in_order
from milepost.plan.options import Planning

MOST_MEMBERS, LONGEST_TITLE = 5, 100
# Tasks are compared with those that stand near before them: the farther ones belong to something else.
_NEAR = 30


def grouped(tasks: tuple[Task, ...], planning: Planning) -> tuple[Task, ...]:
    """The tasks with the first of each group in the place of all of it; the others stay as they are.

    Whoever depends on a member depends on its leader. No group is made that would wait for itself.
    """
    if planning.grouping == "none":
        return tasks
    ranked = {name: position for position, name in enumerate(in_order([task.id for task in tasks]))}
    in_turn = sorted((task for task in tasks if task.status == "open"), key=lambda task: ranked[task.id])
    stuck = on_circles(tasks)
    groups = _without_circles(list(_groups([task for task in in_turn if task.id not in stuck], planning)), tasks)
    leader_of = {task.id: group[0].id for group in groups for task in group}
    leaders = {group[0].id: as_one(group) for group in groups}
    return tuple(with_leaders(leaders.get(task.id, task), leader_of) for task in tasks)


def _groups(tasks: Sequence[Task], planning: Planning) -> Iterator[list[Task]]:
    """Two to five tasks each that may be done in one attempt."""
    sections: dict[tuple[str, str, str], list[Task]] = {}
    turn = {task.id: position for position, task in enumerate(tasks)}
    for task in tasks:
        if is_small(task):
            sections.setdefault((task.page, task.phase, task.section), []).append(task)
    for section in sections.values():
        found = _of_section(section) if planning.grouping == "section" else _of_kin(section)
        for group in found:
            yield from _together(group, turn) if planning.sequence == "outline" else [group]


def is_small(task: Task) -> bool:
    """Whether a task may share its attempt: nothing of its own is asked for or bounded, and it is not much."""
    own = task.agent or task.approve or task.needs or task.budget != UNBOUNDED or task.timeout_s is not None
    if own or task.changes_nothing or task.tests_may_change or task.only_its_files:
        return False
    traits = traits_of(task)
    return not traits.risky and traits.size != "large"


def _of_section(section: Sequence[Task]) -> Iterator[list[Task]]:
    groups: dict[tuple[bool, ...], list[Task]] = {}
    for task in section:
        group = groups.setdefault(_terms(task), [])
        if len(group) == MOST_MEMBERS:
            yield group
            groups[_terms(task)] = group = []
        group.append(task)
    yield from groups.values()


def _of_kin(section: Sequence[Task]) -> list[list[Task]]:
    """Each task with the group of the nearest one before it that it shares a file, a name or most words with."""
    kinship = Kinship(section)
    by_key: dict[str, list[Task]] = {}
    near: deque[tuple[Task, list[Task]]] = deque(maxlen=_NEAR)
    groups: list[list[Task]] = []
    for task in section:
        keys = [*(f"file {file}" for file in task.files), *(f"name {name}" for name in names_in(task.title))]
        found = [by_key[key] for key in keys if key in by_key]
        found += [group for other, group in reversed(near) if kinship.alike(task, other)]
        group = next((group for group in found if len(group) < MOST_MEMBERS and _terms(group[0]) == _terms(task)), None)
        if group is None:
            group = []
            groups.append(group)
        group.append(task)
        by_key.update(dict.fromkeys(keys, group))
        near.append((task, group))
    return groups


def _terms(task: Task) -> tuple[bool, ...]:
    """What the author allows or forbids must be the same for all of a group."""
    return task.tests_may_change, task.only_its_files, task.keeps_behaviour


def _together(group: Sequence[Task], turn: Mapping[str, int]) -> Iterator[list[Task]]:
    """The stretches of a group that nothing stands between, where the order of the roadmap is kept."""
    stretch: list[Task] = []
    for task in group:
        if stretch and turn[task.id] != turn[stretch[-1].id] + 1:
            yield stretch
            stretch = []
        stretch.append(task)
    yield stretch


def _without_circles(groups: list[list[Task]], tasks: Sequence[Task]) -> list[list[Task]]:
    """The groups that no task outside of them stands in the middle of."""
    groups = [group for group in groups if len(group) > 1]
    while groups:
        stuck = on_circles(tasks, {task.id: group[0].id for group in groups for task in group})
        kept = [group for group in groups if group[0].id not in stuck]
        if len(kept) == len(groups):
            break
        groups = kept
    return groups


def on_circles(tasks: Sequence[Task], leader_of: Mapping[str, str] | None = None) -> frozenset[str]:
    """The tasks that wait for themselves, directly or through others, when each stands for its group."""
    led = leader_of or {}
    before: dict[str, list[str]] = {led.get(task.id, task.id): [] for task in tasks}
    for task in tasks:
        own = led.get(task.id, task.id)
        others = ((name, led.get(name, name)) for name in task.depends_on)
        before[own] += [other for name, other in others if other in before and (other != own or name == task.id)]
    circle = circles_of(before)
    sizes = Counter(circle.values())
    return frozenset(name for name, others in before.items() if sizes[circle[name]] > 1 or name in others)


def as_one(group: Sequence[Task]) -> Task:
    """One task for all of a group: what they ask for together, each told as it is written."""
    first, *others = group
    names = {task.id for task in group}
    return replace(
        first,
        title=_title(group),
        text="\n\n".join(["All of this belongs together and is done at once:", *map(_told, group)]),
        files=union(task.files for task in group),
        verify=union(task.verify for task in group),
        verify_hidden=union(task.verify_hidden for task in group),
        depends_on=tuple(name for name in union(task.depends_on for task in group) if name not in names),
        subtasks=(*first.subtasks, *others),
        members=tuple(task.id for task in others),
        parallel=all(task.parallel for task in group),
        guess=any(task.guess for task in group),
    )


def _title(group: Sequence[Task]) -> str:
    shared = [file for file in group[0].files if all(file in task.files for task in group)]
    start = f"Implement {shared[0].rpartition('/')[2] or shared[0]}: " if shared else ""
    titles = [task.title for task in group]
    for count in range(len(titles), 0, -1):
        more = f"; and {len(titles) - count} more" if count < len(titles) else ""
        title = f"{start}{'; '.join(titles[:count])}{more}"
        if len(title) <= LONGEST_TITLE:
            return title
    return f"{start}{titles[0]}"[: LONGEST_TITLE - 1] + "…"


def _told(task: Task) -> str:
    lines = [f"{task.id} {task.title}"]
    lines += [f"   {line}".rstrip() for line in task.text.splitlines()]
    return "\n".join(lines)


def with_leaders(task: Task, leader_of: Mapping[str, str]) -> Task:
    """The task waiting for the leader of each group that it waits for a task of."""
    waits = tuple(dict.fromkeys(leader_of.get(name, name) for name in task.depends_on))
    own = leader_of.get(task.id, task.id)
    waits = tuple(name for name in waits if name != own or task.id in task.depends_on)
    return task if waits == task.depends_on else replace(task, depends_on=waits)
