"""What a task is called: an explicit id, or one derived from its words and its place."""

from __future__ import annotations

import re

import pytest

from milepost.roadmap import read
from milepost.roadmap.reading.ids import LONGEST, Claim, settle


def ids(text: str) -> list[str]:
    return [task.id for top in read(text.encode()).tasks for task in top.walk()]


@pytest.mark.parametrize(
    ("line", "expected", "title"),
    [
        ("1.2.3 Write it", "1.2.3", "Write it"),
        ("1.1: Write it", "1.1", "Write it"),
        ("**1.1** Write it", "1.1", "Write it"),
        ("**1.1 Write** it", "1.1", "Write it"),
        ("**1.1:** Write it", "1.1", "Write it"),
        ("1.1. Write it", "1.1", "Write it"),
        ("1) Write it", "1", "Write it"),
        ("12. Write it", "12", "Write it"),
        ("3: Write it", "3", "Write it"),
        ("2.0 migration", "2.0", "migration"),
        ("T001 Write it", "T001", "Write it"),
        ("T001 - Write it", "T001", "Write it"),
        ("T001 [P] [US1] Write it", "T001", "Write it"),
        ("[T001] Write it", "T001", "Write it"),
        ("[T001](https://x.test/1) Write it", "T001", "Write it"),
        ("**T001**: Write it", "T001", "Write it"),
        ("`T001` Write it", "T001", "Write it"),
        ("**S01: Write it** now", "S01", "Write it"),
        ("ABC-12 Write it", "ABC-12", "Write it"),
        ("TODO-008A Write it", "TODO-008A", "Write it"),
        ("WP0.8 — Write it", "WP0.8", "Write it"),
        ("t1: Write it", "t1", "Write it"),
        ("(3.3) Write it", "3.3", "Write it"),
        ("(T001) Write it", "T001", "Write it"),
        ("[#13](https://x.test/13) Write it", "13", "Write it"),
    ],
)
def test_an_id_at_the_start_of_a_title_is_the_id(line: str, expected: str, title: str) -> None:
    (task,) = read(f"- [ ] {line}\n".encode()).tasks
    assert (task.id, task.title) == (expected, title)


@pytest.mark.parametrize(
    "line",
    [
        "3 retries for a request",
        "Python3 support",
        "v1.2 release",
        "[v2] release",
        "V2 of the API",
        "UTF-8 everywhere",
        "`S3` upload",
        "S3 upload",
        "SHA256 of each file",
        "GPT-4 adapter",
        "IPv6 support",
        "Web3 login",
        "x86 build",
        "P1 bug in the parser",
        "10:30 is parsed",
        "1.2-beta is tagged",
        "1.5x faster start",
        "T001, T002 are merged",
        "i18n of errors",
        "(P1) bug in the parser",
        "(v2) release",
        "[#13] bug in the parser",
    ],
)
def test_words_and_numbers_of_a_sentence_are_no_id(line: str) -> None:
    (task,) = read(f"- [ ] {line}\n".encode()).tasks
    assert task.title == line
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-[a-z2-7]{4}", task.id)


def test_a_derived_id_stays_when_the_box_the_line_and_the_statements_change() -> None:
    (before,) = ids("## Core\n- [ ] Add the parser\n")
    (after,) = ids("Words.\n\n## Core\n\n* [x] **Add** the parser (depends on: none)\n  Verify: true\n")
    assert before == after
    assert before.startswith("add-the-") and len(before) <= 12


def test_numbers_that_count_the_tasks_from_1_are_their_ids_and_others_are_words() -> None:
    assert ids("- [ ] 1 Title\n") == ["1"]
    assert ids("- [ ] 1 Parse\n- [ ] 2. Print\n- [ ] Tidy up\n- [ ] 3 Sort\n")[:2] == ["1", "2"]
    assert read(b"- [ ] 1 Parse hours\n").tasks[0].title == "Parse hours"
    for words in ("2 new tests", "1 new test", "3 Tests", "2 Factor login"):
        (task,) = read(f"- [ ] {words}\n".encode()).tasks
        assert task.title == words and len(task.id) <= 12
    both = read(b"- [ ] 1 Parse\n- [ ] 3 Tests\n").tasks
    assert [task.title for task in both] == ["1 Parse", "3 Tests"]


def test_a_derived_id_has_twelve_characters_at_most_also_of_twins() -> None:
    found = ids("- [ ] Internationalisation of it\n" * 12 + "- [ ] Do it\n- [ ] Do\n")
    assert len({*found}) == 14 and max(map(len, found)) == 12


def test_a_derived_id_tells_places_in_the_outline_apart() -> None:
    found = ids("## A\n- [ ] Tests\n## B\n- [ ] Tests\n- x\n  - [ ] Tests\n- [ ] C\n  - [ ] Tests\n")
    assert len({name.casefold() for name in found}) == len(found) == 5


def test_a_title_without_latin_letters_has_an_id_all_the_same() -> None:
    first, second = ids("- [ ] 解析器\n- [ ] 🚀\n")
    assert first != second
    assert first.startswith("task-")


def test_a_second_task_of_the_same_id_is_renamed_and_both_lines_are_named() -> None:
    roadmap = read(b"- [ ] T1 One\n- [ ] t1: Two\n- [ ] T1-2 Three\n\n## A\n- [ ] Same\n- [ ] Same\n")
    one, two, three, same, again = (task.id for task in roadmap.tasks)
    assert (one, two, three) == ("T1", "t1-3", "T1-2")
    assert again == f"{same}-2"
    first, second = (problem for problem in roadmap.problems)
    assert first.line == 2
    assert "lines 1 and 2" in first.message
    assert "t1-3" in first.message
    assert "lines 6 and 7" in second.message
    assert not first.fatal


def test_a_task_goes_before_a_subtask_of_the_same_explicit_id() -> None:
    assert ids("- [ ] A\n  - [ ] 1) part\n- [ ] 1) whole\n")[1:] == ["1-2", "1"]


def test_a_renamed_id_is_no_longer_than_an_id_may_be() -> None:
    long = Claim(id="a" * LONGEST, explicit=True, top=True)
    names, clashes = settle([long] * 12)
    assert max(map(len, names)) == LONGEST
    assert len(set(names)) == 12
    assert len(clashes) == 11
