"""The projects of a family: what each is called, whom it depends on, and in which order they come."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from milepost.plan.projects.order import in_sequence
from milepost.sources.manifests.project import Kind, Manifest
from milepost.sources.manifests.python import normalised

# What manifests allow as names, and no more: a name is printed, and written into roadmaps.
_NAME = re.compile(r"@?[A-Za-z0-9_~.][A-Za-z0-9_~./+-]{0,119}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFolder:
    """A folder of a project: its way from the family's own folder, its last name, its manifests, its roadmap."""

    folder: str
    title: str
    manifests: tuple[Manifest, ...] = ()
    roadmap: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sibling:
    """A project of a family. `folder` is the way from the family's own; `roadmap` is empty where it has none."""

    name: str
    folder: str
    kinds: tuple[Kind, ...] = ()
    roadmap: str = ""
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The projects that are planned as one, each after those that it depends on; and what is odd about them."""

    folder: str
    siblings: tuple[Sibling, ...] = ()
    circles: tuple[tuple[str, ...], ...] = ()
    problems: tuple[str, ...] = ()

    def named(self, name: str) -> Sibling | None:
        return next((one for one in self.siblings if one.name == name), None)

    def of_roadmap(self, roadmap: str) -> Sibling | None:
        return next((one for one in self.siblings if one.roadmap == roadmap), None)

    def ways_to_call(self, own: str = "") -> tuple[tuple[str, str], ...]:
        """What each project with a roadmap may be called, folded, with its name; that of `own` is empty.

        Its name and its folder, and the last part of either where nothing else has that.
        """
        known = [one for one in self.siblings if one.roadmap]
        calls: dict[str, str] = {}
        for one in known:
            for call in (one.name, *((one.folder,) if one.folder != "." else ())):
                calls.setdefault(call.casefold(), one.name)
        shorter = {one.name: {_last(one.name).casefold(), _last(one.folder).casefold()} - {".", ".."} for one in known}
        count = Counter(call for calls_of_one in shorter.values() for call in calls_of_one)
        for name, calls_of_one in shorter.items():
            for call in sorted(calls_of_one):
                if count[call] == 1:
                    calls.setdefault(call, name)
        return tuple((call, "" if name == own else name) for call, name in calls.items())


def related(folder: str, found: Sequence[ProjectFolder], problems: Sequence[str] = ()) -> Family:
    """The family that some projects are."""
    names = _names(found)
    depends = _dependencies(found, names)
    siblings = {
        name: Sibling(
            name=name,
            folder=one.folder,
            kinds=tuple(dict.fromkeys(manifest.kind for manifest in one.manifests)),
            roadmap=one.roadmap,
            depends_on=depends[name],
        )
        for name, one in zip(names, found, strict=True)
    }
    sequence, circles = in_sequence({name: one.depends_on for name, one in siblings.items()})
    left = [name for name in siblings if name not in set(sequence)]
    told = [f"{one.folder}: {manifest.problem}" for one in found for manifest in one.manifests if manifest.problem]
    told += [f"{' → '.join((*circle, circle[0]))}: each depends on the next" for circle in circles]
    return Family(
        folder=folder,
        siblings=tuple(siblings[name] for name in (*sequence, *left)),
        circles=tuple(circles),
        problems=(*problems, *told),
    )


def to_json(family: Family) -> dict[str, Any]:
    """The family in lists and strings; `order` is that of their dependencies."""
    return {
        "folder": family.folder,
        "projects": [
            {
                "name": one.name,
                "folder": one.folder,
                "kinds": list(one.kinds),
                "roadmap": one.roadmap or None,
                "depends_on": list(one.depends_on),
            }
            for one in family.siblings
        ],
        "order": [one.name for one in family.siblings],
        "circles": [list(circle) for circle in family.circles],
        "problems": list(family.problems),
    }


def _names(found: Sequence[ProjectFolder]) -> list[str]:
    """A name for each that no other has: the manifest's or the folder's, else the way to it."""
    wanted = [_stated(one) or one.title for one in found]
    count = Counter(name.casefold() for name in wanted)
    free = {name.casefold() for name in wanted if count[name.casefold()] == 1}
    return [
        name if name.casefold() in free else f"./{one.folder}" if one.folder.casefold() in free else one.folder
        for name, one in zip(wanted, found, strict=True)
    ]


def _stated(one: ProjectFolder) -> str:
    stated = (manifest.name for manifest in one.manifests)
    return next((name for name in stated if _NAME.fullmatch(name)), "")


def _dependencies(found: Sequence[ProjectFolder], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each the names of the others that its manifests depend on, by name or by path."""
    by_name: dict[tuple[Kind, str], str] = {}
    for one, name in zip(found, names, strict=True):
        for manifest in one.manifests:
            by_name.setdefault((manifest.kind, _compared(manifest.kind, manifest.name)), name)
    by_folder = {posixpath.normpath(one.folder): name for one, name in zip(found, names, strict=True)}

    def others(one: ProjectFolder) -> Iterator[str | None]:
        for manifest in one.manifests:
            yield from (by_name.get((manifest.kind, _compared(manifest.kind, need))) for need in manifest.needs)
            yield from (by_folder.get(posixpath.normpath(posixpath.join(one.folder, way))) for way in manifest.paths)

    return {
        name: tuple(dict.fromkeys(other for other in others(one) if other is not None and other != name))
        for one, name in zip(found, names, strict=True)
    }


def _compared(kind: Kind, name: str) -> str:
    return normalised(name) if kind == "python" else name


def _last(way: str) -> str:
    return way.rstrip("/").rpartition("/")[2]
