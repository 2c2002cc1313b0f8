"""Which mileposts go together when some are taken back: parts of a task, and what depends on it by the plan. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from milepost.core.task import Task
from milepost.core.task_parts import LONGEST_ID
from milepost.workspace.mileposts import Milepost

_PART_ENDINGS = tuple(f".{letter}" for letter in "abcde")


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """A milepost that is to be taken back. `because` is why, empty for one that was asked for.

    `dependent` ones are taken back only when that is asked for; parts of a task go with it.
    """

    milepost: Milepost
    because: str = ""
    dependent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Who is a part of whom: by the roadmap's nesting, or by a name such as 1.1.b that a split task's parts have."""

    parents: Mapping[str, str]

    @staticmethod
    def of(tasks: Sequence[Task], names: Iterable[str]) -> Family:
        """The family of the tasks of a roadmap and of others that only have a milepost."""
        parents = {child.id: one.id for top in tasks for one in top.walk() for child in one.subtasks}
        listed = {one.id for top in tasks for one in top.walk()}
        names = tuple(names)
        stems = {name[: LONGEST_ID - 2]: name for name in (*names, *listed)}
        for name in names:
            if name not in listed and name.endswith(_PART_ENDINGS) and name[:-2] in stems:
                parents[name] = stems[name[:-2]]
        return Family(parents=parents)

    def above(self, task: str) -> tuple[str, ...]:
        """What a task is a part of, the nearest first."""
        found: list[str] = []
        while (task := self.parents.get(task, "")) and task not in found:
            found.append(task)
        return tuple(found)


def going_with(posts: Sequence[Milepost], tasks: Sequence[Task], asked: Sequence[Going]) -> tuple[Going, ...]:
    """All that goes when some mileposts do, newest first, as `posts` are.

    Only what landed later depends on a milepost: what was there before it did not need it.
    """
    place = {post.commit: number for number, post in enumerate(posts)}
    newest = {post.task: post for post in reversed(posts)}
    family = Family.of(tasks, newest)
    leaders = {member: post.task for post in posts for member in post.members}
    waits_for: dict[str, frozenset[str]] = {}
    for one in (one for top in tasks for one in top.walk()):
        needed = frozenset(leaders.get(name, name) for name in _needs(one, family))
        leader = leaders.get(one.id, one.id)
        waits_for[leader] = (waits_for.get(leader, frozenset()) | needed) - {leader}
    going = {one.milepost.commit: one for one in asked}
    # A whole task takes its parts with it; one that only lost a part keeps the others.
    queue = deque((one.milepost.task, place[one.milepost.commit], True, one.dependent) for one in asked)
    seen = set()

    def add(task: str, since: int, whole: bool, because: str, dependent: bool) -> None:
        post = newest.get(task)
        if post is not None and post.commit not in going:
            going[post.commit] = Going(milepost=post, because=because, dependent=dependent)
        queue.append((task, since if post is None else place[post.commit], whole, dependent))

    while queue:
        task, since, whole, dependent = queue.popleft()
        if (task, whole) in seen:
            continue
        seen.add((task, whole))
        inside = {name for name in (*newest, *family.parents) if task in family.above(name)} if whole else set()
        for name in sorted(inside & newest.keys()):
            if task in newest or place[newest[name].commit] < since:
                add(name, since, True, f"part of {task}", dependent)
        for name in family.above(task):
            add(name, since, False, f"{task} is a part of it", dependent)
        for name, needed in waits_for.items():
            later = name not in newest or place[newest[name].commit] < since
            if later and needed & {task, *inside} and name not in inside:
                add(name, since, True, f"depends on {task}", dependent=True)
    return tuple(sorted(going.values(), key=lambda one: place[one.milepost.commit]))


def _needs(task: Task, family: Family) -> frozenset[str]:
    """What a task or anything below it depends on, beside itself and what it is a part of."""
    members = tuple(task.walk())
    own = {member.id for member in members} | set(family.above(task.id))
    return frozenset(name for member in members for name in member.depends_on) - own
