"""A task is found again in a roadmap that was edited."""

from __future__ import annotations

import pytest

from milepost.core.same_task import found_again, likeness
from milepost.core.task import Task
from milepost.roadmap import read
from milepost.roadmap.editing.tick import tick_tasks
from milepost.roadmap.reading.options import PLAIN, Manner


def task_of(line: str) -> Task:
    return read(f"- [ ] {line}\n".encode()).tasks[0]


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ("1.1 Parse durations", "- [ ] 1.1 Read durations of time\n", "1.1"),
        ("Parse durations of time", "- [ ] Parse durations of times\n- [ ] Format durations\n", "times"),
        ("Parse durations", "- [ ] Parse duratoins\n", "Parse duratoins"),
        ("Parse durations", "- [ ] Parse durations, days and rates of pay\n", None),
        ("Add the login page", "- [ ] Add rate limiting to the login page\n", None),
        ("Add tests", "- [ ] Add docs\n- [ ] Add types\n", None),
        ("Parse all durations", "- [ ] Parse all durations twice\n- [ ] Parse all durations once\n", None),
        ("1.2 Write the store", "- [ ] 1.2 Name the company\n- [ ] 1.3 Write the store\n", "1.3"),
        ("1.2 Write the store", "- [ ] 1.2 Write the shop\n- [ ] 1.3 Write the store\n", "1.3"),
        ("1.2 Write the store", "- [ ] 1.2 Name the company\n- [ ] 1.3 Paint\n", None),
        ("Write the store", "- [ ] Above\n  - [ ] Write the store\n", "Write the store"),
        ("Write the store", "", None),
    ],
)
def test_a_task_is_found_by_its_id_its_title_or_by_being_most_alike(before: str, now: str, found: str | None) -> None:
    task = task_of(before)
    again = found_again(task, read(now.encode()).tasks, [task])
    assert (again is None) == (found is None)
    assert again is None or found is None or f"{again.id} {again.title}".find(found) >= 0


def test_the_same_details_tell_a_task_whose_title_is_new() -> None:
    before = read(b"- [ ] Parse times\n  - Files: durations.py\n  - Verify: pytest -k parse\n").tasks
    now = b"- [ ] Read times\n  - Files: durations.py\n  - Verify: pytest -k parse\n- [ ] Write them down\n"
    again = found_again(before[0], read(now).tasks, before)
    assert again is not None
    assert again.title == "Read times"


def test_who_stayed_as_he_was_is_nobody_else() -> None:
    before = read(b"- [ ] 1.1 Add tests\n- [ ] 2.1 Add tests\n").tasks
    now = read(b"- [ ] 1.1 Add parser tests\n- [ ] 2.1 Add tests\n").tasks
    again = found_again(before[0], now, before)
    assert again is not None and again.id == "1.1"


def test_all_are_found_again_when_one_is_put_before_them_and_all_are_numbered_anew() -> None:
    before = read(b"- [ ] 1.1 Make the x file\n- [ ] 1.2 Make the y file\n").tasks
    now = read(b"- [ ] 1.1 Plan the release\n- [ ] 1.2 Make the x file\n- [ ] 1.3 Make the y file\n").tasks
    assert [again and again.id for again in (found_again(task, now, before) for task in before)] == ["1.2", "1.3"]


def test_what_was_on_no_roadmap_goes_by_its_id_alone() -> None:
    now = read(b"- [ ] 1.1 Invoices\n- [ ] 2.1 Write the invoice parser\n").tasks
    part = task_of("1.1.9 Write the invoice parser afterwards")
    assert found_again(part, now, read(b"- [ ] 1.1 Invoices\n").tasks) is None


def test_likeness_is_the_same_both_ways_and_whole_for_the_same_words() -> None:
    pairs = [("Add tests", "Add the tests"), ("Parse", "parse"), ("", ""), ("数える", "数える"), ("a b", "c d")]
    assert [likeness(*pair) == likeness(*reversed(pair)) for pair in pairs] == [True] * len(pairs)
    assert likeness("Add THE tests", "add the  tests") == 1
    assert likeness("a b", "c d") == 0


NESTED = b"- [ ] All\n  - [x] One\n  - [ ] Two\n    - [ ] Three\n- [ ] Other\n"


def test_what_is_above_is_ticked_with_the_last_of_it_where_the_manner_says_so() -> None:
    three = next(task for top in read(NESTED).tasks for task in top.walk() if task.title == "Three")
    content, names = tick_tasks(NESTED, [three], read(NESTED).tasks, Manner(parents=True))
    assert content == NESTED.replace(b"[ ] All", b"[x] All").replace(b"[ ] T", b"[x] T")
    assert [name.partition("-")[0] for name in names] == ["all", "two", "three"]
    content, names = tick_tasks(NESTED, [three], read(NESTED).tasks, Manner(parents=False))
    assert content == NESTED.replace(b"[ ] Three", b"[x] Three")


def test_a_task_that_was_renamed_is_ticked_under_its_new_name_and_one_that_is_gone_is_not() -> None:
    before = read(b"- [ ] Parse all durations\n- [ ] Gone away\n- [ ] Other\n").tasks
    content = b"- [ ] Parse all durations now\r\n- [ ] Other\r\n"
    ticked, names = tick_tasks(content, before[:2], before, PLAIN)
    assert ticked == content.replace(b"[ ] Parse", b"[x] Parse")
    assert len(names) == 1
