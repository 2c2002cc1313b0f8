"""An edited roadmap, and what it changes for a run that is on."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.task import Plan, Task
from milepost.plan.graph import plan as make_plan
from milepost.plan.planning import Planning
from milepost.plan.replan import follow
from milepost.plan.reshape import with_parts, with_task
from milepost.roadmap import read

ONE = "- [ ] A1 First\n"
TWO = "- [ ] A2 Second\n  - Depends on: A1\n"


def planned(*lines: str) -> Plan:
    return make_plan(read(("# Roadmap\n\n" + "".join(lines)).encode()))


def test_tasks_are_added_changed_and_dropped_as_the_author_writes() -> None:
    seen = planned(ONE, TWO)
    edit = follow(
        seen, seen, planned(ONE + "  - Verify: true\n", "- [ ] A3 Third\n"), begun=frozenset(), wanted=("A1", "A2")
    )
    assert (edit.added, edit.changed, edit.dropped) == (("A3",), ("A1",), ("A2",))
    assert edit.plan.task("A1").verify == ("true",)
    assert edit.plan.waves[-1] == ("A3",)


def test_work_that_began_goes_on_with_the_text_it_began_with() -> None:
    seen = planned(ONE, TWO)
    edit = follow(seen, seen, planned(TWO), begun=frozenset({"A1"}), wanted=("A1", "A2"))
    assert (edit.late, edit.dropped) == (("A1",), ())
    assert edit.plan.task("A1") == seen.task("A1")


def test_an_edit_leaves_what_the_run_made_of_a_task() -> None:
    seen = planned(ONE, TWO)
    steered = with_task(seen, replace(seen.task("A2"), agent="claude", depends_on=("A1", "A0")))
    edit = follow(steered, seen, planned(ONE, TWO + "  A note.\n"), begun=frozenset(), wanted=("A1", "A2"))
    assert edit.changed == ("A2",)
    assert (edit.plan.task("A2").agent, edit.plan.task("A2").depends_on) == ("claude", ("A1", "A0"))


def test_parts_of_a_task_are_not_dropped_because_no_roadmap_has_them() -> None:
    seen = planned(ONE, TWO)
    part = Task(id="A1.a", title="Part", status="open", line=1)
    split = with_parts(seen, "A1", (part,))
    edit = follow(
        split, seen, planned(ONE, TWO, "- [ ] A3 Third\n"), begun=frozenset({"A1"}), wanted=("A1.a", "A1", "A2")
    )
    assert edit.dropped == ()


def test_a_task_that_comes_back_is_added_again() -> None:
    first = planned(ONE, TWO)
    gone = follow(first, first, planned(ONE), begun=frozenset(), wanted=("A1", "A2"))
    back = follow(gone.plan, planned(ONE), first, begun=frozenset(), wanted=("A1", "A2"))
    assert (gone.dropped, back.added) == (("A2",), ("A2",))
    assert len([task for task in back.plan.tasks if task.id == "A2"]) == 1


def test_a_task_ticked_by_hand_is_done_for_those_that_wait_for_it() -> None:
    seen = planned(ONE, TWO)
    edit = follow(seen, seen, planned("- [x] A1 First\n", TWO), begun=frozenset(), wanted=("A1", "A2"))
    assert edit.dropped == ("A1",)
    assert edit.plan.task("A1").status == "done"


def test_a_task_that_is_renamed_while_a_run_is_on_stays_the_same_task() -> None:
    first = make_plan(read(b"- [ ] Parse all durations\n- [ ] Format them\n  - Depends on: Parse all durations\n"))
    parse, form = (task.id for task in first.tasks)
    new = make_plan(
        read(b"- [ ] Parse all durations in hours\n- [ ] Format them\n  - Depends on: Parse all durations in hours\n")
    )
    now = new.tasks[0].id
    edit = follow(first, first, new, begun=frozenset(), wanted=(parse, form))
    assert (edit.added, edit.dropped, edit.renamed) == ((), (), ((parse, now),))
    assert edit.plan.task(parse).title == "Parse all durations in hours"
    assert edit.plan.task(form).depends_on == (parse,)
    begun = follow(first, first, new, begun=frozenset({parse}), wanted=(parse, form))
    assert (begun.added, begun.late, begun.renamed) == ((), (parse,), ((parse, now),))
    again = follow(edit.plan, edit.seen, new, begun=frozenset(), wanted=(parse, form))
    assert (again.added, again.dropped, again.changed) == ((), (), ()), "read again, nothing is new"


def test_an_edit_brings_its_own_order() -> None:
    seen = planned(ONE, "- [ ] A3 Third\n")
    planning = Planning(sequence="outline")
    new = make_plan(read(("# Roadmap\n\n" + ONE + "- [ ] A3 Third\n- [ ] A4 Fourth\n").encode()), planning)
    edit = follow(seen, seen, new, begun=frozenset(), wanted=("A1", "A3"))
    assert edit.changed == ()
    assert [(wait.task, wait.after) for wait in edit.plan.waits] == [("A3", "A1"), ("A4", "A3")]


def test_a_group_stays_what_it_was_when_an_edit_would_make_another() -> None:
    smart = Planning(grouping="section")
    seen = make_plan(read(b"- [ ] A1 First\n- [ ] A2 Second\n"), smart)
    new = make_plan(read(b"- [ ] A1 First\n- [ ] A2 Second\n  - Budget: $1\n"), smart)
    assert (seen.waves, new.waves) == ((("A1",),), (("A1", "A2"),))
    edit = follow(seen, seen, new, begun=frozenset(), wanted=("A1",))
    assert (edit.added, edit.changed, edit.late) == ((), (), ("A1",))
    assert edit.plan.task("A1").members == ("A2",) and edit.plan.waves == (("A1",),)


def test_what_comes_beside_a_group_or_is_left_of_one_is_done_by_itself() -> None:
    section = Planning(grouping="section")
    seen = make_plan(read(b"- [ ] A1 First\n- [ ] A2 Second\n"), section)
    wider = make_plan(read(b"- [ ] A1 First\n- [ ] A2 Second\n- [ ] A3 Third\n"), section)
    assert wider.task("A1").members == ("A2", "A3")
    edit = follow(seen, seen, wider, begun=frozenset({"A1"}), wanted=("A1",))
    assert edit.added == ("A3",) and edit.plan.waves == (("A1",), ("A3",))
    assert edit.plan.task("A1").members == ("A2",)
    ticked = make_plan(read(b"- [x] A1 First\n- [ ] A2 Second\n"), section)
    edit = follow(seen, seen, ticked, begun=frozenset(), wanted=("A1",))
    assert (edit.dropped, edit.added) == (("A1",), ("A2",))
    assert edit.plan.waves == (("A1",), ("A2",))
