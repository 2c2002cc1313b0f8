"""What comes after what though nobody states it: the outline, imports, and never a circle."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.task import Plan, Roadmap, Task
from milepost.plan import blocked, plan, ready
from milepost.plan.graph.critical_path import critical_path
from milepost.plan.options import Planning
from milepost.plan.repository_facts import RepositoryFacts

OUTLINE = Planning(sequence="outline")
NOBODY: frozenset[str] = frozenset()


def task(name: str, *waits_for: str, files: tuple[str, ...] = (), parallel: bool = False, done: bool = False) -> Task:
    return Task(
        id=name,
        title=f"Do {name}",
        status="done" if done else "open",
        line=1,
        depends_on=waits_for,
        files=files,
        parallel=parallel,
        verify=("true",),
    )


def outlined(*tasks: Task) -> Plan:
    return plan(Roadmap(tasks=tasks), OUTLINE)


def importing(imports: dict[str, dict[str, str]], *tasks: Task) -> Plan:
    return plan(Roadmap(tasks=tasks), ground=RepositoryFacts(imports=imports))


def test_in_the_order_of_the_outline_each_waits_for_the_one_before_by_number() -> None:
    assert outlined(task("1.10"), task("1.9", done=True), task("1.2"), task("1.1")).waves == (
        ("1.1",),
        ("1.2",),
        ("1.10",),
    )


def test_neighbours_that_are_marked_parallel_are_one_wave() -> None:
    marked = [task(f"T{number}", parallel=number in (2, 3, 4)) for number in range(1, 7)]
    assert outlined(*marked).waves == (("T1",), ("T2", "T3", "T4"), ("T5",), ("T6",))
    assert outlined(task("T1", parallel=True), task("T2"), task("T3", parallel=True)).waves == (
        ("T1",),
        ("T2",),
        ("T3",),
    )


def test_what_is_stated_goes_before_the_outline() -> None:
    found = outlined(task("T1", "T3"), task("T2"), task("T3"))
    assert found.waves == (("T2",), ("T3",), ("T1",))
    assert not any(problem.fatal for problem in found.problems)


def test_a_task_waits_for_those_that_change_what_its_files_import_and_it_is_said_why() -> None:
    imports = {"cli.py": {"core.py": "", "low.py": "core.py"}}
    found = importing(
        imports, task("1", files=("cli.py",)), task("2", files=("core.py",)), task("3", files=("low.py",))
    )
    assert found.waves == (("2", "3"), ("1",))
    assert {wait.after: wait.because for wait in found.waits} == {
        "2": "cli.py imports core.py",
        "3": "cli.py imports low.py through core.py",
    }
    assert all(not one.depends_on for one in found.tasks), "what its author stated is left as it is"


def test_imports_that_contradict_what_is_stated_or_each_other_order_nothing() -> None:
    stated = importing({"a": {"b": ""}}, task("1", files=("a",)), task("2", "1", files=("b",)))
    assert (stated.waves, stated.waits) == ((("1",), ("2",)), ())
    mutual = importing({"a": {"b": ""}, "b": {"a": ""}}, task("1", files=("a",)), task("2", files=("b",)))
    assert (mutual.waves, mutual.waits) == ((("1", "2"),), ())


def test_what_follows_from_what_is_stated_is_not_said_again() -> None:
    imports = {"cli.py": {"core.py": ""}}
    found = importing(
        imports, task("1", files=("core.py",)), task("2", files=("cli.py",)), task("3", "2", files=("cli.py",))
    )
    assert [(wait.task, wait.after) for wait in found.waits] == [("2", "1")]


def test_imports_can_be_left_out_of_it() -> None:
    tasks = (task("1", files=("a",)), task("2", files=("b",)))
    off = plan(Roadmap(tasks=tasks), Planning(imports=False), RepositoryFacts(imports={"a": {"b": ""}}))
    assert off.waves == (("1", "2"),)


def test_a_failed_import_is_not_waited_for_and_a_failed_one_of_the_outline_is() -> None:
    found = importing({"a": {"b": ""}}, task("1", files=("a",)), task("2", files=("b",)))
    assert [one.id for one in ready(found, NOBODY, NOBODY, NOBODY)] == ["2"]
    assert [one.id for one in ready(found, NOBODY, frozenset({"2"}), NOBODY)] == []
    assert [one.id for one in ready(found, frozenset({"2"}), NOBODY, NOBODY)] == ["1"]
    assert [one.id for one in ready(found, NOBODY, NOBODY, frozenset({"2"}))] == ["1"]
    assert blocked(found, frozenset({"2"})) == {}
    chain = outlined(task("1"), task("2"), task("3"))
    assert ready(chain, NOBODY, NOBODY, frozenset({"1"})) == ()
    assert blocked(chain, frozenset({"1"})) == {"2": "1", "3": "2"}


def test_what_a_run_was_not_asked_for_holds_nobody_up_who_does_not_depend_on_it() -> None:
    chain = outlined(task("1"), task("2"), task("3", "1"))
    some = frozenset({"1"})
    assert [one.id for one in ready(chain, NOBODY, NOBODY, NOBODY, unwanted=some)] == ["2"]
    assert blocked(chain, NOBODY, some) == {"3": "1"}
    found = importing({"a": {"b": ""}}, task("1", files=("a",)), task("2", files=("b",)))
    assert [one.id for one in ready(found, NOBODY, NOBODY, NOBODY, unwanted=frozenset({"2"}))] == ["1"]


def test_who_waits_for_a_person_is_waited_for() -> None:
    found = importing({"a": {"b": ""}}, task("1", files=("a",)), task("2", files=("b",)))
    assert ready(found, NOBODY, NOBODY, NOBODY, asked=frozenset({"2"})) == ()


def test_an_import_that_can_never_be_done_is_not_waited_for() -> None:
    found = importing({"a": {"b": ""}}, task("0"), task("1", files=("a",)), task("2", "0", files=("b",)))
    assert [one.id for one in ready(found, NOBODY, NOBODY, frozenset({"0"}))] == ["1"]


def test_the_critical_path_is_the_longest_chain_by_count_or_by_time() -> None:
    tasks = (task("1"), task("2", "1"), task("3", "2"), task("9", files=("f",)), task("10", files=("f",)))
    found = plan(Roadmap(tasks=tasks))
    assert critical_path(found) == ("1", "2", "3")
    assert critical_path(found, {"1": 1, "2": 1, "3": 1, "9": 60, "10": 5}) == ("9", "10"), "they share a file"
    assert critical_path(plan(Roadmap(tasks=()))) == ()


@st.composite
def plannings(draw: st.DrawFn) -> tuple[Plan, Planning]:
    size = draw(st.integers(min_value=1, max_value=12))
    names = [f"t{number}" for number in range(size)]
    files = st.lists(st.sampled_from(["a", "b", "c", "d/", "d/e"]), max_size=2, unique=True)
    tasks = tuple(
        Task(
            id=name,
            title=draw(
                st.sampled_from(["Parse durations", "Format durations", "Show `table` rows", "Sort `table` rows"])
            ),
            status="done" if draw(st.integers(0, 5)) == 0 else "open",
            line=number,
            section=draw(st.sampled_from(["one", "two"])),
            depends_on=tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True))),
            files=tuple(draw(files)),
            parallel=draw(st.booleans()),
        )
        for number, name in enumerate(names)
    )
    imports = draw(
        st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("abc"), st.just("")), max_size=3)
    )
    planning = Planning(
        sequence=draw(st.sampled_from(["free", "outline"])),
        grouping=draw(st.sampled_from(["none", "section", "smart"])),
    )
    return plan(Roadmap(tasks=tasks), planning, RepositoryFacts(imports=imports)), planning


@given(plannings())
@settings(max_examples=400)
def test_every_open_task_is_in_one_wave_or_in_one_group_and_comes_after_all_it_should(
    found: tuple[Plan, Planning],
) -> None:
    made, planning = found
    placed = [name for wave in made.waves for name in wave]
    wave_of = {name: number for number, wave in enumerate(made.waves) for name in wave}
    members = [name for one in made.tasks for name in one.members]
    opened = {one.id for one in made.tasks if one.status == "open"}
    assert len(placed) == len(set(placed)) and len(members) == len(set(members))
    assert not set(placed) & set(members)
    assert {*placed, *members} <= opened
    bare = plan(Roadmap(tasks=tuple(one for one in made.tasks)), Planning(imports=False))
    if not any(problem.fatal for problem in made.problems):
        assert {*placed, *members} == opened, "only what is on a circle, or waits for it, is in none"
    elif planning.grouping == "none":
        assert set(placed) == {name for wave in bare.waves for name in wave}, (
            "what is inferred makes nobody wait forever"
        )
    before = made.before()
    for name in placed:
        assert all(wave_of[other] < wave_of[name] for other in before[name] if other in wave_of)
    for wave in made.waves:
        roots = [{file.split("/")[0] for file in made.task(name).files} for name in wave]
        assert len(set().union(*roots)) == sum(map(len, roots))
    assert all(len(one.ids) <= 5 for one in made.tasks)
