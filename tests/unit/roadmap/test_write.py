"""What is written as a roadmap is read back with every field, or it is not written at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from milepost.core.budget import Allowance
from milepost.core.errors import ManuscriptMisread
from milepost.core.task import Priority, Task
from milepost.roadmap import read
from milepost.roadmap.writing.draft_roadmap import DraftSection, Manuscript, Phase
from milepost.roadmap.writing.write import KEPT, write

WORDS = ("Parse", "durations", "such", "as", "`1h30m`", "schön", "日本語", "🚀", "a_b", "x-y", "(twice)", "e.g.", "C++")
COMMANDS = ("pytest -q", "python3 -c 'print(1)'", "grep -q '`x`' a.md", "echo a | wc -l", "a = 'b,'", "a && b")
PATHS = ("a.py", "src/b.py", "docs/über uns.md", "a,b.txt", "Makefile", "x/y/z.tar.gz", "`tick`.md", "c++/d.cc", "…")
LINES = ("Some text.", "- a point", "1. first", "# a heading", "> quoted", "| a | b |", "    code", "", "x: y", "**b**")

PRIORITIES: tuple[Priority, ...] = ("", "high", "medium", "low")

titles = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(lambda words: " ".join(["Do", *words]))
texts = st.lists(st.sampled_from(LINES), max_size=5).map("\n".join).map(lambda text: text.strip("\n"))
amounts = st.integers(1, 999_999)
budgets = st.builds(
    Allowance,
    usd=st.none() | amounts.map(lambda cents: cents / 100),
    tokens=st.none() | amounts,
    seconds=st.none() | amounts.map(float),
    attempts=st.none() | amounts,
)
agents = st.sampled_from(
    [("", ()), ("claude", ()), ("acp:goose", ()), ("command:./do it.sh --now", ()), ("pattern:bump_version", ())]
) | st.builds(
    lambda values: ("pattern:module_creation", tuple((f"k{at}", value) for at, value in enumerate(values))),
    st.lists(st.sampled_from(["x", "two words", "it's", 'a "b"', "", "$HOME"]), min_size=1, max_size=3),
)


@st.composite
def tasks(draw: st.DrawFn, task_id: str, earlier: tuple[str, ...], depth: int = 0) -> Task:
    agent, inputs = draw(agents)
    below = draw(st.integers(0, 2 - depth))
    subtasks = tuple(draw(tasks(f"{task_id}.{number}", earlier, depth + 1)) for number in range(1, below + 1))
    # A text that is code from its first line on has an indent that cannot be told from the item's.
    text = draw(texts)
    return Task(
        id=task_id,
        title=draw(titles),
        status=draw(st.sampled_from(["open", "done"])),
        line=0,
        text="" if text.startswith(" ") else text,
        depends_on=tuple(draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2))) if earlier else (),
        files=tuple(draw(st.lists(st.sampled_from(PATHS), unique=True, max_size=3))),
        verify=tuple(draw(st.lists(st.sampled_from(COMMANDS), unique=True, max_size=2))),
        agent=agent,
        inputs=inputs,
        budget=draw(budgets),
        timeout_s=draw(st.none() | amounts.map(float)),
        approve=draw(st.sampled_from(["", "before", "after", "each", "never"])),
        needs=tuple(draw(st.lists(st.sampled_from(["gpu", "docker", "x86_64"]), unique=True, max_size=2))),
        parallel=draw(st.booleans()),
        priority=draw(st.sampled_from(PRIORITIES)),
        tests_may_change=draw(st.booleans()),
        changes_nothing=draw(st.booleans()),
        only_its_files=draw(st.booleans()),
        keeps_behaviour=draw(st.booleans()),
        verify_hidden=tuple(draw(st.lists(st.sampled_from(COMMANDS), unique=True, max_size=2))),
        subtasks=subtasks,
    )


@st.composite
def manuscripts(draw: st.DrawFn) -> Manuscript:
    phases = []
    earlier: tuple[str, ...] = ()
    for number in range(1, draw(st.integers(1, 3)) + 1):
        sections = []
        place = 0
        for title in ("", "The `core`", "And more")[draw(st.integers(0, 2)) :]:
            made = []
            for _ in range(draw(st.integers(1, 2))):
                place += 1
                made.append(draw(tasks(f"{number}.{place}", earlier)))
                earlier = (*earlier, f"{number}.{place}")
            sections.append(DraftSection(title=title, tasks=tuple(made)))
        phases.append(
            Phase(
                name=f"Phase {number}: {draw(titles)}",
                goal=draw(st.sampled_from(["", "It works", "# no heading"])),
                priority=draw(st.sampled_from(PRIORITIES)),
                sections=tuple(sections),
            )
        )
    origins = {task: f"a -- b.md:{at}" for at, task in enumerate(earlier) if draw(st.booleans())}
    return Manuscript(title="Roadmap", intro=draw(titles), phases=tuple(phases), origins=origins)


def as_read(text: str) -> list[Task]:
    return [task for top in read(text.encode()).tasks for task in top.walk()]


@settings(max_examples=60)
@given(manuscripts())
def test_every_field_of_every_task_is_read_back(manuscript: Manuscript) -> None:
    text = write(manuscript)

    wanted = [task for top in manuscript.tasks for task in top.walk()]
    for task, found in zip(wanted, as_read(text), strict=True):
        assert {name: getattr(found, name) for name in KEPT} == {name: getattr(task, name) for name in KEPT}
        # What stands below a task is its text as well, its subtasks among it.
        assert found.text == task.text or (task.subtasks and found.text.startswith(task.text))
    assert not [problem for problem in read(text.encode()).problems if problem.fatal]


NASTY = st.text(max_size=40) | st.sampled_from(
    [
        *("- [ ] a box", "a\n- [x] b", "Files: a.py", "x\n\nVerify: rm -rf /", "```", "~~~\n", "<!--", "-->", "<pre>"),
        *("a\r\nb", "\x1b[2J", "\u202e", "  indented", "\ttab", "a|b", "`", "``", "a ` b", "# x", "\n# x\n- [ ] y"),
        *("(depends on 1.2)", "1.2", "**", "__", "\\", "a,", "none", "\ud800", "\0", "===", "---", "> q", "[P]", "-"),
    ]
)


@given(NASTY, NASTY, NASTY, st.lists(NASTY, max_size=2), st.lists(NASTY, max_size=2), NASTY, NASTY)
@example("t", "```", "", ["a"], [], "", "")
@example("t", "- [ ] a", "", [], [], "", "")
def test_whatever_it_is_to_say_it_says_that_or_is_refused(
    title: str, text: str, agent: str, files: list[str], verify: list[str], heading: str, origin: str
) -> None:
    task = Task(
        id="1.1", title=title, status="open", line=0, text=text, agent=agent, files=tuple(files), verify=tuple(verify)
    )
    other = Task(id="1.2", title="Another", status="done", line=0, depends_on=("1.1",))
    section = DraftSection(title=heading, tasks=(task, other))
    manuscript = Manuscript(
        title="T",
        intro=origin,
        phases=(Phase(name="Phase 1: A", goal=heading, sections=(section,)),),
        origins={"1.1": origin},
    )
    try:
        written = write(manuscript)
    except ManuscriptMisread:
        return
    first, second = as_read(written)
    assert (first.title, first.text, first.agent, first.files, first.verify, first.section) == (
        *(title, text, agent, tuple(files), tuple(verify), heading),
    )
    assert (second.title, second.depends_on, second.status) == ("Another", ("1.1",), "done")


PLAIN = Task(id="1.1", title="A title", status="open", line=0)


@pytest.mark.parametrize(
    "task",
    [
        replace(PLAIN, text="A list:\n\n- one\n- two\n\n```python\n- [ ] in a fence\n```\n\nFile names: none"),
        replace(PLAIN, text="# A heading\n\n| a | b |\n|---|---|\n| - [ ] | c |"),
        replace(PLAIN, title="Use `a | b` and <b>c</b> & #4, 100 % `[link](x.md)`"),
        replace(PLAIN, files=("a b.py", "``.py", "c.py")),
        replace(PLAIN, verify=("echo `date` ``x``", "true # [ ]", "**", "a,")),
    ],
)
def test_what_is_odd_and_can_be_written_is(task: Task) -> None:
    write(_only(task))


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (replace(PLAIN, text="- [ ] 1.2 more"), "would be read as a task"),
        (replace(PLAIN, text="Files: b.py"), "files of 1.1"),
        (replace(PLAIN, text="```\nopen", files=("a.py",)), "files of 1.1"),
        (replace(PLAIN, text="a\r\nb"), "the text of 1.1"),
        (replace(PLAIN, title="two\nlines"), "title of 1.1"),
        (replace(PLAIN, title="Nothing (depends on 1.1)"), "title of 1.1"),
        (replace(PLAIN, title="\ud800"), "is not text"),
        (replace(PLAIN, id="../x"), "id of ../x"),
        (replace(PLAIN, depends_on=("9.9",)), "depends_on of 1.1"),
        (replace(PLAIN, verify=("a\nb",)), "verify of 1.1"),
        (replace(PLAIN, budget=Allowance(usd=0.0000001)), "budget of 1.1"),
        (replace(PLAIN, agent="claude", inputs=(("a", "b"),)), "inputs of 1.1"),
    ],
)
def test_what_would_be_read_as_something_else_is_refused_and_named(task: Task, said: str) -> None:
    with pytest.raises(ManuscriptMisread, match=said):
        write(_only(task))


def test_a_roadmap_is_written_as_a_person_would() -> None:
    parse = Task(
        id="1.1",
        title="Parse durations",
        status="done",
        line=0,
        text="Such as `1h30m`.",
        files=("durations/parse.py",),
        verify=("pytest -q tests/test_parse.py",),
        subtasks=(Task(id="1.1.1", title="Hours", status="done", line=0),),
    )
    format_ = Task(id="1.2", title="Format them", status="open", line=0, depends_on=("1.1",), approve="before")
    manuscript = Manuscript(
        title="Durations",
        intro="A small library.",
        phases=(Phase(name="Phase 1: Core", goal="Both ways", sections=(DraftSection(tasks=(parse, format_)),)),),
        origins={"1.2": "PRD.md:12"},
    )
    assert write(manuscript) == (
        "# Durations\n\nA small library.\n\n## Phase 1: Core\n\n> **Goal**: Both ways\n\n"
        "- [x] 1.1 Parse durations\n\n  Such as `1h30m`.\n\n"
        "  - Files: durations/parse.py\n  - Verify: `pytest -q tests/test_parse.py`\n  - [x] 1.1.1 Hours\n"
        "- [ ] 1.2 Format them <!-- from PRD.md:12 -->\n  - Depends on: 1.1\n  - Approve: before\n"
    )


def _only(task: Task) -> Manuscript:
    return Manuscript(title="T", phases=(Phase(name="Phase 1: A", sections=(DraftSection(tasks=(task,)),)),))
