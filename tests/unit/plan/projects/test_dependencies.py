"""Families of projects: what they are called, whom they depend on, in which order they come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.plan.projects.dependencies import Family, ProjectFolder, related
from milepost.plan.projects.order import in_sequence
from milepost.sources.manifests.project import Kind, Manifest


def project(
    folder: str, name: str = "", *, kind: Kind = "javascript", needs: tuple[str, ...] = (), paths: tuple[str, ...] = ()
) -> ProjectFolder:
    manifest = Manifest(kind=kind, name=name, needs=needs, paths=paths)
    return ProjectFolder(
        folder=folder, title=folder.rpartition("/")[2], manifests=(manifest,), roadmap=f"/{folder}/ROADMAP.md"
    )


def depends(family: Family) -> dict[str, tuple[str, ...]]:
    return {one.name: one.depends_on for one in family.siblings}


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (project("web", "web", needs=("@acme/api",)), project("api", "@acme/api"), ("@acme/api",)),
        (project("web", "web", paths=("../api",)), project("api", "other"), ("other",)),
        (project("web", "web", needs=("api",)), project("api", "api", kind="rust"), ()),
        (
            project("web", "web", kind="python", needs=("acme-api",)),
            project("a", "Acme.API", kind="python"),
            ("Acme.API",),
        ),
        (project("web", "web", needs=("web",), paths=(".",)), project("api", "api"), ()),
    ],
)
def test_a_project_depends_on_what_its_manifest_names(
    one: ProjectFolder, other: ProjectFolder, found: tuple[str, ...]
) -> None:
    assert depends(related("/", [one, other]))["web"] == found


def test_projects_come_after_those_that_they_depend_on_and_circles_are_told() -> None:
    chain = [project("c", "c", needs=("b",)), project("b", "b", needs=("a",)), project("a", "a")]
    assert [one.name for one in related("/", chain).siblings] == ["a", "b", "c"]
    circle = related("/", [project("a", "a", needs=("b",)), project("b", "b", needs=("a",)), project("c", "c")])
    assert circle.circles == (("a", "b"),)
    assert circle.problems == ("a → b → a: each depends on the next",)
    assert [one.name for one in circle.siblings] == ["c", "a", "b"]


def test_no_two_projects_have_one_name() -> None:
    family = related("/", [project("x/api", "app"), project("y/api", "App"), project("z", "y/api"), project("w")])
    assert [one.name for one in family.siblings] == ["x/api", "./y/api", "y/api", "w"]
    hostile = related("/", [project("a", "\x1b[31mred"), project("b", "../../etc"), project("c", "x" * 500)])
    assert [one.name for one in hostile.siblings] == ["a", "../../etc", "c"], "a name is printed; it is never a path"


def test_a_project_is_called_by_its_name_its_folder_or_what_only_it_ends_with() -> None:
    family = related(
        "/", [project("packages/api", "@acme/server"), project("libs/api", "lib"), project("web", "@acme/ui")]
    )
    calls = dict(family.ways_to_call("lib"))
    assert calls == {
        "@acme/server": "@acme/server",
        "packages/api": "@acme/server",
        "server": "@acme/server",
        "lib": "",
        "libs/api": "",
        "@acme/ui": "@acme/ui",
        "web": "@acme/ui",
        "ui": "@acme/ui",
    }, "`api` could be either"


@given(st.dictionaries(st.integers(0, 12), st.sets(st.integers(0, 12), max_size=4), max_size=13))
def test_all_that_can_be_reached_comes_after_what_it_waits_for(graph: dict[int, set[int]]) -> None:
    sequence, circles = in_sequence(graph)
    place = {one: number for number, one in enumerate(sequence)}
    assert len(place) == len(sequence)
    for one in sequence:
        assert all(place[other] < place[one] for other in graph[one] if other in graph)
    for circle in circles:
        assert all(after in graph[one] for one, after in zip(circle, (*circle[1:], circle[0]), strict=True))
    assert bool(circles) == (len(sequence) < len(graph))
