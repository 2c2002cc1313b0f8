"""A proposed roadmap becomes one that can be written, in the detail that is wanted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.task import Task
from milepost.roadmap import read
from milepost.roadmap.prose.answers import NewPhase, NewRoadmap, NewSection, NewTask
from milepost.roadmap.writing.compose import Style, manuscript_of, objections
from milepost.roadmap.writing.write import write

TASKS: list[dict[str, Any]] = [
    {
        "title": "Write the parser",
        "text": "It reads.",
        "files": ["a.py"],
        "verify": ["pytest"],
        "subtasks": ["One", "Two"],
    },
    {"title": "Write the printer", "depends_on": ["write the  parser"]},
]


def proposal(*tasks: dict[str, Any], **more: Any) -> NewRoadmap:
    section = {"tasks": list(tasks or TASKS)}
    return NewRoadmap.model_validate({"title": "T", "phases": [{"name": "Core", "sections": [section]}], **more})


def written(given: NewRoadmap, style: Style = "detailed") -> tuple[Task, ...]:
    manuscript, _ = manuscript_of(given, style)
    return read(write(manuscript).encode()).tasks


@pytest.mark.parametrize(
    ("style", "text", "subtasks"),
    [("minimal", "", []), ("standard", "It reads.", []), ("detailed", "It reads.", ["1.1.1", "1.1.2"])],
)
def test_a_style_says_how_much_is_told_of_a_task(style: Style, text: str, subtasks: list[str]) -> None:
    first, second = written(proposal(), style)
    assert (first.id, first.files, first.verify, second.depends_on) == ("1.1", ("a.py",), ("pytest",), ("1.1",))
    assert first.text.startswith(text) and [one.id for one in first.subtasks] == subtasks


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"title": "A", "depends_on": ["B"]}, "'A' depends on 'B', but no task has this title"),
        ({"title": "A", "depends_on": ["A"]}, "these tasks wait for each other: A → A"),
        ({"title": "A", "files": ["/etc/passwd"]}, "'A' names the file '/etc/passwd', which is not inside the project"),
        ({"title": "A", "files": ["a/../../b"]}, "which is not inside the project"),
    ],
)
def test_what_cannot_be_is_objected_to_and_left_out(task: dict[str, Any], said: str) -> None:
    [objection] = objections(proposal(task))
    assert said in objection
    [found] = written(proposal(task))
    assert (found.depends_on, found.files) == ((), ())


@pytest.mark.parametrize("command", ["pytest\nrm -rf /", "echo \x1b[2J", "true \u202e# tset"])
def test_a_command_of_several_lines_or_with_signs_that_cannot_be_seen_is_no_answer(command: str) -> None:
    with pytest.raises(ValueError, match="one line of signs that can be seen"):
        NewTask(title="A", verify=[command])


def test_phases_are_numbered_once_and_sections_keep_their_titles() -> None:
    section = {"title": "", "tasks": [{"title": "A"}]}
    phases = [
        {"name": "Phase 1: Core", "goal": "It\nruns", "sections": [section, section]},
        {"name": "2. More", "sections": [section]},
    ]
    tasks = written(NewRoadmap.model_validate({"title": "Phase 1", "phases": phases}))
    assert [(task.id, task.phase, task.section) for task in tasks] == [
        ("1.1", "Phase 1: Core", ""),
        ("1.2", "Phase 1: Core", "More"),
        ("2.1", "Phase 2: More", ""),
    ]


# What moves the cursor or turns the writing direction.
HARMFUL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
WORDS = st.text(min_size=1, max_size=40) | st.sampled_from(
    [
        "- [ ] x",
        "Files: a.py",
        "```",
        "# x",
        "x #",
        "**x",
        "(depends on 1.2)",
        "[P] x",
        "<!--",
        "1.1",
        "Phase 2",
        "T001 x",
    ]
)
TITLES = WORDS.filter(lambda text: bool(text.strip()))
PROPOSALS = st.builds(
    NewRoadmap,
    title=TITLES,
    phases=st.lists(
        st.builds(
            NewPhase,
            name=TITLES,
            goal=WORDS,
            sections=st.lists(
                st.builds(
                    NewSection,
                    title=WORDS,
                    tasks=st.lists(
                        st.builds(
                            NewTask,
                            title=TITLES,
                            text=WORDS,
                            files=st.lists(TITLES.filter(str.isprintable), max_size=2),
                            verify=st.lists(st.sampled_from(["a", "`b`", "c,", "**"]), max_size=2),
                            depends_on=st.lists(WORDS, max_size=2),
                            subtasks=st.lists(TITLES, max_size=2),
                        ),
                        min_size=1,
                        max_size=2,
                    ),
                ),
                min_size=1,
                max_size=2,
            ),
        ),
        min_size=1,
        max_size=2,
    ),
)


@settings(max_examples=80)
@given(PROPOSALS, st.sampled_from(["minimal", "standard", "detailed"]))
def test_whatever_is_proposed_can_be_written(given_: NewRoadmap, style: Style) -> None:
    manuscript, _ = manuscript_of(given_, style)
    text = write(manuscript)
    assert not HARMFUL.search(text)
    found = read(text.encode())
    assert len(found.tasks) == sum(1 for _ in given_.tasks())
    assert not [problem for problem in found.problems if problem.fatal]
