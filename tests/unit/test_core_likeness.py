"""A task is found again in a roadmap that was edited."""

from __future__ import annotations

import pytest

from milepost.core.likeness import found_again, likeness
from milepost.core.task import Task
from milepost.roadmap import read
from milepost.roadmap.manner import PLAIN, Manner
from milepost.roadmap.tick import tick_tasks


def task_of(line: str) -> Task:
    return read(f"- [ ] {line}\n".encode()).tasks[0]


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ("1.1 Parse durations", "- [ ] 1.1 Read durations of time\n", "1.1"),
        ("Parse durations", "- [ ] Parse durations such as 1h30m\n- [ ] Format durations\n", "Parse durations such as"),
        ("Parse durations", "- [ ] Parse duratoins\n", "Parse duratoins"),
        ("Add tests", "- [ ] Add docs\n- [ ] Add types\n", None),
        ("Parse durations", "- [ ] Parse durations of time\n- [ ] Parse durations of work\n", None),
        ("1.2 Write the store", "- [ ] 1.2 Name the company\n- [ ] 1.3 Write the store\n", "1.3"),
        ("1.2 Write the store", "- [ ] 1.2 Name the company\n- [ ] 1.3 Paint\n", "1.2"),
        ("Write the store", "- [ ] Above\n  - [ ] Write the store\n", "Write the store"),
        ("Write the store", "", None),
    ],
)
def test_a_task_is_found_by_its_id_its_title_or_by_being_most_alike(before: str, now: str, found: str | None) -> None:
    again = found_again(task_of(before), read(now.encode()).tasks)
    assert (again is None) == (found is None)
    assert again is None or found is None or f"{again.id} {again.title}".find(found) >= 0


def test_the_same_details_tell_a_task_whose_title_is_new() -> None:
    before = read(b"- [ ] Parse times\n  - Files: durations.py\n  - Verify: pytest -k parse\n").tasks[0]
    now = b"- [ ] Read times\n  - Files: durations.py\n  - Verify: pytest -k parse\n- [ ] Write times\n"
    again = found_again(before, read(now).tasks)
    assert again is not None
    assert again.title == "Read times"


def test_what_has_a_name_of_its_own_was_not_renamed() -> None:
    now = read(b"- [ ] 1.2 Parse durations well\n").tasks
    assert found_again(task_of("1.1 Parse durations"), now, taken=("1.2",)) is None
    whole = read(b"- [ ] 1.1 Parse durations\n").tasks
    part = task_of("1.1.1 Parse durations: durations.py")
    assert found_again(part, whole) is None, "a part is not the whole"


def test_likeness_is_the_same_both_ways_and_whole_for_the_same_words() -> None:
    pairs = [("Add tests", "Add the tests"), ("Parse", "parse"), ("", ""), ("数える", "数える"), ("a b", "c d")]
    assert [likeness(*pair) == likeness(*reversed(pair)) for pair in pairs] == [True] * len(pairs)
    assert likeness("Add THE tests", "add the  tests") == 1
    assert likeness("a b", "c d") == 0


NESTED = b"- [ ] All\n  - [x] One\n  - [ ] Two\n    - [ ] Three\n- [ ] Other\n"


def test_what_is_above_is_ticked_with_the_last_of_it_where_the_manner_says_so() -> None:
    three = task_of("Three")
    content, names = tick_tasks(NESTED, [three], (), Manner(parents=True))
    assert content == NESTED.replace(b"[ ] All", b"[x] All").replace(b"[ ] T", b"[x] T")
    assert [name.partition("-")[0] for name in names] == ["all", "two", "three"]
    content, names = tick_tasks(NESTED, [three], (), Manner(parents=False))
    assert content == NESTED.replace(b"[ ] Three", b"[x] Three")


def test_a_task_that_was_renamed_is_ticked_under_its_new_name_and_one_that_is_gone_is_not() -> None:
    content = b"- [ ] Parse durations such as 1h30m\r\n- [ ] Other\r\n"
    ticked, names = tick_tasks(content, [task_of("Parse durations"), task_of("Gone away")], (), PLAIN)
    assert ticked == content.replace(b"[ ] Parse", b"[x] Parse")
    assert len(names) == 1
