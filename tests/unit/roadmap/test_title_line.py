"""The line with the box: bold titles, labels, tags, dependencies, paths and series of ids."""

from __future__ import annotations

import pytest

from milepost.core.task import Task
from milepost.roadmap import read


def only(line: str) -> Task:
    (task,) = (task for task in read(f"- [ ] {line}\n- [x] 1.1 x\n- [x] T002 x\n- [x] 3. x\n".encode()).tasks[:1])
    return task


@pytest.mark.parametrize(
    ("line", "title", "text"),
    [
        ("**Parse durations** more words", "Parse durations", "more words"),
        ("**Parse durations**: more words", "Parse durations", "more words"),
        ("**Parse durations:** more words", "Parse durations", "more words"),
        ("**Parse durations** — more *words*\n  and more", "Parse durations", "more *words*\nand more"),
        ("__Parse all durations__ now", "Parse all durations", "now"),
        ("7.1 **Parse durations** now", "Parse durations", "now"),
        ("**7.1** **Parse durations** now", "Parse durations", "now"),
        ("**7.1 Parse durations** now", "Parse durations", "now"),
        ("**Parse** durations", "Parse durations", ""),
        ("Parse **all durations** now", "Parse all durations now", ""),
        ("**Step 1:** Parse durations", "Step 1: Parse durations", ""),
        ("**Phase 2** parse durations", "Phase 2 parse durations", ""),
        ("**S01: Parse them** `risk:high` `depends:[T002]`", "Parse them", "`risk:high`"),
        ("**S01: Parse** `est:30m`", "Parse", "`est:30m`"),
        ("S01: Parse `depends:[T002]` `risk:low`", "Parse", "`risk:low`"),
        ("Use `std:vector`", "Use `std:vector`", ""),
    ],
)
def test_bold_words_that_start_a_line_are_its_title_and_the_rest_is_text(line: str, title: str, text: str) -> None:
    task = only(line)
    assert (task.title, task.text) == (title, text)


@pytest.mark.parametrize(
    ("line", "depends_on"),
    [
        ("Write it (depends: 1.1, T002)", ("1.1", "T002")),
        ("Write it (depends on 1.1 and T002).", ("1.1", "T002")),
        ("Write it (depends on 1.1) in a.py", ("1.1",)),
        ("Write it (blocked by T002)", ("T002",)),
        ("Write it *(blocked by 3)*", ("3",)),
        ("Write it, blocked by #3", ("3",)),
        ("Write it — Blocked by: T002, #3", ("T002", "3")),
        ("Write it `depends:[1.1,T002]` `risk:low`", ("1.1", "T002")),
        ("**S01: Write it** `risk:high` `depends:[1.1]`", ("1.1",)),
        ("**S01: Write it** `risk:high` `depends:[]`", ()),
        ("Write it\n  - Blocked by: #3", ("3",)),
        ("Write it\n  blocked by: 1.1", ("1.1",)),
        ("Write what is blocked by the weather", ()),
        ("Write it (it depends)", ()),
        ("Write it (deps: 1.1)", ("1.1",)),
        ("Write it (depends upon 1.1)", ("1.1",)),
        ("Write it\n  - **Dependencies**: T002, redis", ("T002",)),
        ("Write it\n  Requires: 1.1", ("1.1",)),
        ("Write it\n  Depends-on: 1.1", ("1.1",)),
        ("Write it [depends: 1.1]", ("1.1",)),
        ("Write it [blocked by T002] in a.py", ("T002",)),
        ("Write it. Depends on: 1.1, T002.", ("1.1", "T002")),
        ("Write it ⚠️ Depends on: 1.1", ("1.1",)),
        ("Write it (⚠️ depends on 1.1)", ("1.1",)),
        ("Write it\n  ⚠️ Depends on: 1.1", ("1.1",)),
        ("Write it\n  - ⚠️ **Depends on**: 1.1", ("1.1",)),
    ],
)
def test_a_dependency_is_read_from_the_title_line_in_every_form(line: str, depends_on: tuple[str, ...]) -> None:
    task = only(line)
    assert task.depends_on == depends_on
    assert task.title.startswith("Write")
    assert not (depends_on and "(" in task.title)


@pytest.mark.parametrize(
    ("line", "depends_on"),
    [
        ("Write it, depends on 1.1", ("1.1",)),
        ("Write it (after T002)", ("T002",)),
        ("Write it (requires py3)", ()),
        ("Write what depends on S3", ()),
    ],
)
def test_words_that_end_a_title_are_a_dependency_where_they_name_tasks(line: str, depends_on: tuple[str, ...]) -> None:
    task = only(line)
    assert (task.title, task.depends_on) == (line, depends_on)


def test_an_issue_that_blocks_a_task_and_is_no_task_is_said_and_stops_nothing() -> None:
    roadmap = read(b"- [ ] Write it, blocked by #77\n- [ ] #78 Other\n- [ ] Third (blocked by #78)\n")
    (problem,) = roadmap.problems
    assert (problem.line, problem.fatal) == (1, False)
    assert "#77" in problem.message
    assert roadmap.tasks[2].depends_on == (roadmap.tasks[1].id,)


@pytest.mark.parametrize(
    ("line", "name", "parallel", "story"),
    [
        ("T001 [P] [US1] Write it", "T001", True, "US1"),
        ("T001 [US12] Write it", "T001", False, "US12"),
        ("[P] T001 Write it", "T001", True, ""),
        ("**T001** [P] Write it", "T001", True, ""),
    ],
)
def test_labels_are_read_and_are_not_part_of_the_title(line: str, name: str, parallel: bool, story: str) -> None:
    task = only(line)
    assert (task.id, task.title, task.parallel) == (name, "Write it", parallel)
    assert task.context == (f"Story {story}" if story else "")


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("T001 [P] [US1] Create src/x.py", ("src/x.py",)),
        ("T001 Create the model in src/models/user.py", ("src/models/user.py",)),
        ("T001 Create it in ./src/a.ts and src/b.test.ts.", ("src/a.ts", "src/b.test.ts")),
        ("T001 Write `src/a.go` and `main.go` (depends on T002)", ("src/a.go", "main.go")),
        ("T001 Create the model in src/models/[entity].py", ()),
        ("T001 Contract test in tests/contract/", ()),
        ("T001 Add `foo.bar` and `a/b` to the call", ()),
        ("T001 Read https://x.test/a/b.html", ()),
        ("T001 Support and/or in the parser", ()),
        ("1.1 Create the model in src/models/user.py", ()),
        ("Write `src/a.py`", ()),
        ("T001 Create src/x.py\n  Files: y.py", ("y.py",)),
        ("T001 Create src/x.py\n  Scope: files", ()),
    ],
)
def test_a_path_in_a_numbered_title_is_a_file_only_if_it_can_be_nothing_else(line: str, files: tuple[str, ...]) -> None:
    assert only(line).files == files


def test_a_letter_and_a_number_are_an_id_where_the_roadmap_makes_a_series_of_them() -> None:
    alone = read(b"- [ ] B2 upload\n- [ ] S3 upload\n- [ ] S01: first\n").tasks
    assert [task.title for task in alone] == ["B2 upload", "S3 upload", "first"]
    series = read(b"- [ ] B1 first\n- [ ] **B2** second (depends on B1)\n- [ ] D3 chart\n  - [ ] B3 third\n").tasks
    assert [(task.id, task.title) for top in series for task in top.walk()] == [
        ("B1", "first"),
        ("B2", "second"),
        (series[2].id, "D3 chart"),
        ("B3", "third"),
    ]
    assert series[1].depends_on == ("B1",)


@pytest.mark.parametrize(
    "lines", [("P1 a", "P2 b"), ("Q1 a", "Q2 b"), ("H1 a", "H2 b"), ("x86 a", "x64 b"), ("V1", "V2")]
)
def test_priorities_quarters_headings_and_versions_make_no_series(lines: tuple[str, str]) -> None:
    tasks = read("".join(f"- [ ] {line}\n" for line in lines).encode()).tasks
    assert [task.title for task in tasks] == list(lines)


def test_a_line_longer_than_anybody_reads_keeps_its_end_in_the_text() -> None:
    task = only("word " * 1000 + "END")
    assert len(task.title) <= 2000
    assert task.text.endswith("END")
