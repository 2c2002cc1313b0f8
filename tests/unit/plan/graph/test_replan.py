"""An edited roadmap, and what it changes for a run that is on."""

from __future__ import annotations

from dataclasses import replace

from milepost.core.task import Plan, Task
from milepost.plan.graph.build_graph import plan as make_plan
from milepost.plan.graph.regroup import dissolved
from milepost.plan.graph.replan import Replanned, follow
from milepost.plan.graph.reshape import with_parts, with_task
from milepost.plan.graph.schedule import ready
from milepost.plan.options import Planning
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


SECTION = Planning(grouping="section")
GROUP = "- [ ] 1.1 Fix a\n- [ ] 1.2 Fix b\n- [ ] 1.3 Fix c\n"
AFTER = "\n## Later\n\n- [ ] 2.1 Use it\n  - Depends on: 1.2\n"


def edited(before: str, after: str, *begun: str, planning: Planning = SECTION) -> Replanned:
    """What an edit changes for a run of groups that wants all."""
    plan = make_plan(read(before.encode()), planning)
    alone = replace(planning, grouping="none")
    seen, new = (make_plan(read(text.encode()), alone) for text in (before, after))
    wanted = tuple(name for wave in plan.waves for name in wave)
    return follow(plan, seen, new, begun=frozenset(begun), wanted=wanted)


def test_what_comes_new_is_done_by_itself_and_leads_nobody_of_the_run() -> None:
    for begun in ((), ("1.1",)):
        edit = edited(GROUP + AFTER, "- [ ] 1.0 Fix z\n" + GROUP + AFTER, *begun)
        assert (edit.added, edit.changed, edit.late) == (("1.0",), (), ())
        assert (edit.plan.task("1.0").members, edit.plan.task("1.1").members) == ((), ("1.2", "1.3"))
        assert edit.plan.task("2.1").depends_on == ("1.1",)
        assert edit.plan.waves == (("1.1",), ("2.1",), ("1.0",))


def test_a_group_that_has_not_begun_loses_who_is_ticked_or_off_the_roadmap() -> None:
    for after in ("- [ ] 1.1 Fix a\n- [ ] 1.3 Fix c\n", GROUP.replace("[ ] 1.2", "[x] 1.2")):
        edit = edited(GROUP, after)
        assert (edit.dropped, edit.added, edit.late) == (("1.2",), (), ())
        assert (edit.plan.task("1.1").members, edit.plan.task("1.1").title) == (("1.3",), "Fix a; Fix c")
    late = edited(GROUP, "- [ ] 1.1 Fix a\n- [ ] 1.3 Fix c\n", "1.1")
    assert (late.dropped, late.late) == ((), ("1.2",))
    assert late.plan.task("1.1").members == ("1.2", "1.3")


def test_a_group_that_loses_its_leader_is_none_any_more() -> None:
    for after in ("- [ ] 1.2 Fix b\n- [ ] 1.3 Fix c\n", GROUP.replace("[ ] 1.1", "[x] 1.1")):
        edit = edited(GROUP + AFTER, after + AFTER)
        assert edit.dropped == ("1.1",)
        assert (edit.plan.task("1.1").title, edit.plan.task("1.1").members) == ("Fix a", ())
        assert edit.plan.waves == (("1.1",), ("2.1",), ("1.2", "1.3"))
        assert edit.plan.task("2.1").depends_on == ("1.2",)


def test_who_asks_for_something_of_its_own_now_leaves_the_group() -> None:
    edit = edited(GROUP, GROUP + "  - Budget: $1\n")
    assert (edit.changed, edit.plan.task("1.1").members) == (("1.3",), ("1.2",))
    assert edit.plan.waves == (("1.1",), ("1.3",)) and edit.plan.task("1.3").budget.usd == 1


def test_a_group_that_a_task_comes_to_stand_in_the_middle_of_is_none_any_more() -> None:
    between = (
        "- [ ] 1.1 Fix a\n- [ ] 1.2 Fix b\n- [ ] 1.3 Fix c\n  - Depends on: 1.9\n- [ ] 1.9 Mid\n  - Depends on: 1.1\n"
    )
    edit = edited(GROUP, between)
    assert (edit.plan.task("1.1").members, edit.plan.task("1.3").depends_on) == ((), ("1.9",))
    assert edited(GROUP, between, "1.1").plan.task("1.9").depends_on == ("1.1",)


def test_what_is_put_between_the_members_of_a_group_waits_for_no_circle() -> None:
    outline = replace(SECTION, sequence="outline")
    edit = edited(GROUP, GROUP.replace("- [ ] 1.2", "- [ ] 1.1b Mid\n- [ ] 1.2"), planning=outline)
    assert edit.added == ("1.1b",)
    assert [task.id for task in ready(edit.plan, frozenset(), frozenset(), frozenset())][:1] == ["1.1"]


def test_a_group_that_is_dissolved_is_its_tasks_as_they_are_written() -> None:
    text = GROUP + "  - Depends on: 1.1\n" + AFTER
    plan, seen = (make_plan(read(text.encode()), planning) for planning in (SECTION, Planning()))
    apart = dissolved(plan, seen, "1.1")
    assert apart.tasks == seen.tasks
    assert apart.waves == (("1.1",), ("2.1",), ("1.2", "1.3"))
