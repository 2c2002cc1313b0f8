"""A roadmap as waves: what waits for what, what shares files, what goes in circles."""

from __future__ import annotations

import time

from milepost.core.task import Plan, Problem, Roadmap, Task
from milepost.plan import plan


def task(
    name: str,
    *waits_for: str,
    files: tuple[str, ...] = (),
    done: bool = False,
    verify: tuple[str, ...] = ("true",),
    agent: str = "",
    subtasks: tuple[Task, ...] = (),
    line: int = 1,
) -> Task:
    return Task(
        id=name,
        title=f"Do {name}",
        status="done" if done else "open",
        line=line,
        depends_on=waits_for,
        files=files,
        verify=verify,
        agent=agent,
        subtasks=subtasks,
    )


def planned(*tasks: Task) -> Plan:
    return plan(Roadmap(tasks=tasks))


def messages(found: Plan) -> list[str]:
    return [problem.message for problem in found.problems]


def test_a_task_is_in_the_first_wave_after_all_it_waits_for() -> None:
    found = planned(task("d", "b", "c"), task("c", "a"), task("b"), task("a"), task("e"))
    assert found.waves == (("b", "a", "e"), ("c",), ("d",))
    assert found.problems == ()


def test_a_done_dependency_is_satisfied_and_done_tasks_are_in_no_wave() -> None:
    found = planned(task("a", done=True), task("b", "a"))
    assert found.waves == (("b",),)
    assert [kept.id for kept in found.tasks] == ["a", "b"]


def test_numbered_tasks_are_in_the_order_of_their_numbers_and_others_in_that_of_the_file() -> None:
    names = ("1.1.10", "zebra", "1.1.2", "T10", "1.2", "apple", "T9", "1.1.2a")
    (wave,) = planned(*map(task, names)).waves
    assert wave == ("1.1.2", "zebra", "1.1.2a", "T9", "1.1.10", "apple", "T10", "1.2")


def test_tasks_that_change_one_file_are_in_different_waves_and_it_is_said() -> None:
    found = planned(
        task("1.1", files=("durations.py", "a.py"), line=3),
        task("1.2", files=("durations.py",), line=5),
        task("1.3", files=("other.py",), line=7),
    )
    assert found.waves == (("1.1", "1.3"), ("1.2",))
    (problem,) = found.problems
    assert problem.line == 5
    assert problem.message == "1.1 and 1.2 both change durations.py: they will not run at the same time"


def test_a_folder_keeps_out_what_is_inside_it_but_not_its_neighbours() -> None:
    found = planned(
        task("1", files=("src/core/",)), task("2", files=("src/core/a/b.py",)), task("3", files=("src/corer.py",))
    )
    assert found.waves == (("1", "3"), ("2",))
    assert planned(task("1", files=("src/a.py",)), task("2", files=("src",))).waves == (("1",), ("2",))


def test_tasks_that_wait_for_each_other_in_turn_may_share_a_file_without_a_word() -> None:
    found = planned(task("a", files=("f",)), task("b", "a", files=("f",)), task("c", "b", files=("f",)))
    assert found.problems == ()


def test_many_tasks_on_one_file_are_one_problem() -> None:
    found = planned(*(task(str(number), files=("f", "g")) for number in range(1, 8)))
    assert messages(found) == ["1, 2, 3, 4 and 3 more all change f and g: they will not run at the same time"]
    assert len(found.waves) == 7


def test_a_task_has_the_files_checks_and_dependencies_of_its_subtasks() -> None:
    inner = task("1.1.1", "z", files=("b", "a"), verify=("v2",))
    outer = task("1.1", files=("a",), verify=("v1", "v2"), subtasks=(inner,))
    found = planned(outer, task("z")).tasks[0]
    assert (found.files, found.verify, found.depends_on) == (("a", "b"), ("v1", "v2"), ("z",))
    assert found.subtasks == (inner,)


def test_a_circle_is_fatal_and_what_hangs_on_it_is_left_out() -> None:
    found = planned(
        task("1.2", "1.1", line=2),
        task("1.1", "1.2", line=1),
        task("1.3", "1.2", line=3),
        task("2.1", "2.1", line=4),
        task("3.1", line=5),
    )
    assert found.waves == (("3.1",),)
    assert [(problem.line, problem.message.split(":")[0], problem.fatal) for problem in found.problems] == [
        (1, "1.1 → 1.2 → 1.1", True),
        (4, "2.1 → 2.1", True),
    ]


def test_an_open_task_that_nothing_can_verify_is_reported_unless_a_pattern_does_it() -> None:
    found = planned(
        task("1", verify=()), task("2", verify=(), done=True), task("3", verify=(), agent="pattern:readme"), task("4")
    )
    assert messages(found) == ['1 "Do 1" has no Verify: it ends held unless it makes a failing test pass']


def test_an_open_subtask_of_a_ticked_task_is_reported() -> None:
    found = planned(task("1", done=True, subtasks=(task("1.1", line=9),)))
    (problem,) = found.problems
    assert (problem.line, problem.message) == (9, '1 is ticked, so "Do 1.1" below it will not be worked on')


def test_what_was_odd_about_the_roadmap_stays_in_the_plan() -> None:
    odd = Problem(line=7, message="odd", fatal=True)
    found = plan(Roadmap(tasks=(task("1", verify=(), line=3),), problems=(odd,)))
    assert [problem.line for problem in found.problems] == [3, 7]


def test_ten_thousand_tasks_in_one_chain_on_one_file_are_planned_at_once() -> None:
    started = time.process_time()
    chain = [task("0")] + [task(str(n), str(n - 1), files=("f", f"src/{n}.py")) for n in range(1, 10_000)]
    assert len(planned(*chain).waves) == 10_000
    circle = [task(str(n), str((n + 1) % 10_000)) for n in range(10_000)]
    assert len(messages(planned(*circle))[0]) < 200
    assert time.process_time() - started < 5
