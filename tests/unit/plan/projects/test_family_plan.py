"""Tasks that wait for tasks of other projects: how they are written, and what may start when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.core.task import Plan, Roadmap
from milepost.plan.graph.build_graph import plan
from milepost.plan.projects.cross_project_waits import (
    looked_up,
    may_start,
    met,
    saying_what_waits,
    statuses,
    waiting_elsewhere,
)
from milepost.plan.projects.joint_plan import FamilyPlan, ProjectPlan, joint_plan, to_json
from milepost.roadmap import read
from milepost.roadmap.reading.options import Manner

CALLS = (("api", "@acme/api"), ("@acme/api", "@acme/api"), ("packages/api", "@acme/api"), ("web", ""))


def roadmap(text: str, calls: tuple[tuple[str, str], ...] = CALLS) -> Roadmap:
    return read(text.encode(), Manner(projects=calls))


def made(text: str, **elsewhere: str) -> Plan:
    calls = tuple((name, name) for name in elsewhere)
    return looked_up(plan(roadmap(text, calls)), {name: statuses(roadmap(other)) for name, other in elsewhere.items()})


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] 2.1 It (depends: api:1.2)",
        "- [ ] 2.1 It (depends on api/1.2)",
        "- [ ] 2.1 It\n  - Depends on: api:1.2",
        "- [ ] 2.1 It\n  - Depends on: `@acme/api:1.2`",
        "- [ ] 2.1 It\n  - Depends on: @acme/api/1.2",
        "- [ ] 2.1 It\n  - Depends on: packages/api/1.2.",
        "- [ ] 2.1 It\n  - Blocked by: API: 1.2",
        "- [ ] 2.1 It\n  - Depends on: web:1.1 and api:1.2",
        "- [ ] 2.1 It\n  - Depends on: 1.1 api:1.2",
        "- [ ] 2.1 It\n  - [ ] Part\n    - Depends on: api:1.2",
    ],
)
def test_a_task_of_another_project_may_be_named_in_many_ways(line: str) -> None:
    found = roadmap(f"- [ ] 1.1 Here\n{line}\n")
    assert not found.problems
    assert [str(other) for other in found.tasks[1].waits_elsewhere] == ["@acme/api:1.2"]
    assert found.tasks[1].waits_elsewhere[0].line == len(line.splitlines()) + 1


@pytest.mark.parametrize("name", ["other:1.2", "api:", "api", "web:9.9", "api:../x", "api 1.2"])
def test_what_names_no_project_and_no_task_is_a_problem_as_ever(name: str) -> None:
    found = roadmap(f"- [ ] 1.1 Here\n- [ ] 2.1 It\n  - Depends on: {name}\n")
    assert [(problem.line, problem.fatal) for problem in found.problems] == [(3, True)]


def test_without_other_projects_nothing_is_read_as_one_and_a_title_goes_before_them() -> None:
    assert roadmap("- [ ] 1.1 It (depends: api:1.2)\n", calls=()).problems[0].fatal
    titled = roadmap("- [ ] 1.1 api: 1.2\n- [ ] 1.2 It\n  - Depends on: api: 1.2\n")
    assert titled.tasks[1].depends_on == ("1.1",)


@given(st.text(st.sampled_from("api:/@.1 2,;&\n#`*()[]\x1b"), max_size=40))
def test_whatever_a_dependency_says_reading_does_not_fail(value: str) -> None:
    for task in roadmap(f"- [ ] 1.1 A\n  - Depends on: {value}\n").tasks:
        assert all(other.project == "@acme/api" for other in task.waits_elsewhere)


def test_what_waits_elsewhere_does_not_start_nor_what_waits_for_it() -> None:
    text = "- [ ] 1.1 A (depends: api:1.1)\n- [ ] 1.2 B (depends: 1.1)\n- [ ] 1.3 C\n- [ ] 1.4 D (depends: api:1.3)\n"
    found = made(text, api=API)
    assert not [problem for problem in found.problems if problem.fatal]
    assert met(found) == ("api:1.3",), "what is below a ticked task is done"
    assert waiting_elsewhere(found, met(found)) == {"1.1": "api:1.1"}
    assert may_start(found, (), met(found)) == ("1.3", "1.4")
    assert may_start(found, (), ("api:1.1",)) == ("1.1", "1.3", "1.2")
    assert may_start(found, ("1.1",), ("api:1.1", "api:1.3"), given_up=("1.3",)) == ("1.4", "1.2")
    said = [problem.message for problem in saying_what_waits(found).problems if "waits for" in problem.message]
    assert said == ["1.1 waits for api:1.1, which is still open in that project: a run skips it"]


API = "- [ ] 1.1 A\n- [x] 1.2 B\n  - [ ] 1.3 C\n"


def test_a_task_that_the_other_project_has_not_is_a_problem_at_the_line_that_names_it() -> None:
    found = made("- [ ] 1.1 A\n  - Files: a\n  - Depends on: api:7\n- [x] 1.2 Done (depends: api:8)\n", api=API)
    fatal = [(problem.line, problem.message) for problem in found.problems if problem.fatal]
    assert fatal == [(3, "1.1 depends on 'api:7', but api has no task 7")]


def joint(**texts: str) -> FamilyPlan:
    names = {name: name for name in texts}
    known = {name: statuses(roadmap(text)) for name, text in texts.items()}
    plans = {name: looked_up(plan(roadmap(text, tuple(names.items()))), known) for name, text in texts.items()}
    projects = [
        ProjectPlan(
            name=name,
            folder=name,
            roadmap="",
            plan=one,
            places={task.id: tuple(f"/repo/{file}" for file in task.files) for task in one.tasks},
        )
        for name, one in plans.items()
    ]
    return joint_plan(projects, names)


def test_one_plan_has_waves_over_all_projects() -> None:
    found = joint(
        api="- [ ] 1.1 A\n- [ ] 1.2 B (depends: web:1.1)\n- [x] 1.3 Done\n",
        web="- [ ] 1.1 C\n  - [ ] Part (depends: api:1.1)\n- [ ] 1.2 D (depends: api:1.3)\n",
    )
    assert found.waves == ((("api", "1.1"), ("web", "1.2")), (("web", "1.1"),), (("api", "1.2"),))
    assert to_json(found)["waves"][1] == [{"project": "web", "id": "1.1"}]
    assert found.task(("web", "1.2")).title == "D"


def test_projects_of_one_repository_that_change_one_file_do_not_run_together() -> None:
    found = joint(api="- [ ] 1.1 A\n  - Files: lock\n", web="- [ ] 1.1 B\n  - Files: lock\n- [ ] 1.2 C\n")
    assert found.waves == ((("api", "1.1"), ("web", "1.2")), (("web", "1.1"),))


def test_a_circle_through_several_projects_is_told_once_with_its_way() -> None:
    found = joint(api="- [ ] 1.1 A (depends: web:1.1)\n", web="\n- [ ] 1.1 B (depends: api:1.1)\n- [ ] 1.2 C\n")
    fatal = [(one.project, one.problem.line, one.problem.message) for one in found.problems if one.problem.fatal]
    assert fatal == [("api", 1, "api:1.1 → web:1.1 → api:1.1: each waits for the next, so none can start")]
    assert found.waves == ((("web", "1.2"),),)
