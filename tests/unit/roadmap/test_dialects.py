"""Roadmaps without boxes: what is a task, what says that it is done, and what a tick changes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.core.folder_roadmap import bound
from milepost.core.task import Roadmap, Task
from milepost.roadmap import read, tick, untick
from milepost.roadmap.editing.reopen import open_boxes, reopened
from milepost.roadmap.reading.box import with_boxes
from milepost.roadmap.reading.explain import explain
from milepost.roadmap.reading.options import Dialect, Manner
from milepost.roadmap.reading.read import survey

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
DIALECTS: tuple[Dialect, ...] = (
    *("auto", "boxes", "emoji", "table", "words", "todo.txt", "bullets", "backlog", "task-master"),
)


def everyone(roadmap: Roadmap) -> list[Task]:
    return [task for top in roadmap.tasks for task in top.walk()]


def outline(tasks: tuple[Task, ...]) -> list[object]:
    """Each task as its sign and title, with its subtasks in a list after it."""
    found: list[object] = []
    for task in tasks:
        found.append(f"{'x' if task.status == 'done' else '-'} {task.title}")
        found += [outline(task.subtasks)] if task.subtasks else []
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    text: str
    dialect: Dialect
    tasks: list[object]
    name: str = "ROADMAP.md"
    ticked: dict[str, str] = field(default_factory=dict)
    """A title, and the text after ticking it; ticking back gives the text again."""


CASES = {
    "emoji before items, and an item that has none": Case(
        text="# Plan\n\n- ✅ Parse\n- ⏳ Format\n- 🚧 Print\n- Ship\n- ⏳ Sing\n- ⏳ Rest\n",
        dialect="emoji",
        tasks=["x Parse", "- Format", "- Print", "- Ship", "- Sing", "- Rest"],
        ticked={"Format": "# Plan\n\n- ✅ Parse\n- ✅ Format\n- 🚧 Print\n- Ship\n- ⏳ Sing\n- ⏳ Rest\n"},
    ),
    "no sign says open": Case(
        text="1. ✔️ **Parse** it\n2. Format\n3. Print\n",
        dialect="emoji",
        tasks=["x Parse it", "- Format", "- Print"],
        ticked={"Format": "1. ✔️ **Parse** it\n2. ✔️ Format\n3. Print\n"},
    ),
    "emoji after items, nested": Case(
        text="* Parse ✅\n  * hours ✅\n  * minutes 🔜\r\n* Print 🔜\r\n",
        dialect="emoji",
        tasks=["x Parse", ["x hours", "- minutes"], "- Print"],
        ticked={"minutes": "* Parse ✅\n  * hours ✅\n  * minutes ✅\r\n* Print 🔜\r\n"},
    ),
    "headings with prose below them": Case(
        text="# Roadmap\n\n## ✅ Plugins\n\nThin core.\n\n## ⚪ Memory\n\nDurable.\n\nFiles: `memory.py`\n\n"
        "## ⚪ Queues ##\n",
        dialect="emoji",
        tasks=["x Plugins", "- Memory", "- Queues"],
        ticked={
            "Memory": "# Roadmap\n\n## ✅ Plugins\n\nThin core.\n\n## ✅ Memory\n\nDurable.\n\nFiles: `memory.py`\n\n"
            "## ⚪ Queues ##\n"
        },
    ),
    "headings that are numbered, done at their end": Case(
        text="## Notes\n\n## Phase 1: Core ✓ (COMPLETE)\n- a\n\n## Phase 2: More\n- b\n\n## Phase 3: Rest\n",
        dialect="emoji",
        tasks=["x Phase 1: Core", "- Phase 2: More", "- Phase 3: Rest"],
        ticked={
            "Phase 2: More": "## Notes\n\n## Phase 1: Core ✓ (COMPLETE)\n- a\n\n## Phase 2: More ✓ (COMPLETE)\n- b\n\n"
            "## Phase 3: Rest\n"
        },
    ),
    "what stands below a task is no other task": Case(
        text="# Roadmap\n\n## Phase 1 ✅\n\nx\n\n## Phase 2\n\n- a\n- b\n- c\n- Files: `d`\n- Files: `e`\n",
        dialect="emoji",
        tasks=["x Phase 1", "- Phase 2"],
    ),
    "a heading above items with signs is no task": Case(
        text="## 🚧 Phase 1\n- ✅ a\n- ⏳ b\n\n## ⏳ Phase 2\n\nSome day.\n",
        dialect="emoji",
        tasks=["x a", "- b", "- Phase 2"],
    ),
    "emoji that adorn are no signs": Case(
        text="# 🚀 Getting started\n\n## 📋 Overview\n\n- 🚀 Fast\n- 💡 Clever\n", dialect="boxes", tasks=[]
    ),
    "a single heading with a tick among others is adorned": Case(
        text="## 🎯 Goal\n\nx\n\n## ✅ State\n\ny\n\n## ⚙️ Parts\n\nz\n", dialect="boxes", tasks=[]
    ),
    "a legend is no list of tasks": Case(
        text="- ✅ Done\n- ⏳ In progress\n\n## Work\n\n- ✅ Parse\n- ⏳ Print\n",
        dialect="emoji",
        tasks=["x Parse", "- Print"],
    ),
    "GitHub's codes for emoji": Case(
        text="- :white_check_mark: Parse\n- :construction: Print\n- :construction: Ship\n",
        dialect="emoji",
        tasks=["x Parse", "- Print", "- Ship"],
        ticked={"Print": "- :white_check_mark: Parse\n- :white_check_mark: Print\n- :construction: Ship\n"},
    ),
    "skipped counts as done": Case(
        text="- ✅ Parse\n- ⏭️ Sing\n- ⏳ Print\n", dialect="emoji", tasks=["x Parse", "x Sing", "- Print"]
    ),
    "a status table": Case(
        text="| ID | Task | Status | Depends on | Files |\n|----|------|:------:|---|---|\n"
        "| T1 | Parse | Done | | a.py |\n| T2 | Print \\| it | Todo | T1 | `b.py` |\n"
        "| T3 | Ship | Todo | T1, T2 | - |\n",
        dialect="table",
        tasks=["x Parse", "- Print | it", "- Ship"],
        ticked={
            "Print | it": "| ID | Task | Status | Depends on | Files |\n|----|------|:------:|---|---|\n"
            "| T1 | Parse | Done | | a.py |\n| T2 | Print \\| it | Done | T1 | `b.py` |\n"
            "| T3 | Ship | Todo | T1, T2 | - |\n"
        },
    ),
    "the bars of a table stay below each other": Case(
        text="| 기능  | 상태      |\n|-------|-----------|\n| 등록  | ✅ 완료   |\n| 목록  | ⏳ 진행중 |\n"
        "| 채팅  | ⏳ 진행중 |\n",
        dialect="table",
        tasks=["x 등록", "- 목록", "- 채팅"],
        ticked={
            "목록": "| 기능  | 상태      |\n|-------|-----------|\n| 등록  | ✅ 완료   |\n| 목록  | ✅ 완료   |\n"
            "| 채팅  | ⏳ 진행중 |\n"
        },
    ),
    "boxes and words of a table in its own way": Case(
        text="Feature | Done?\n--- | ---\nParse | yes\nPrint | no\n",
        dialect="table",
        tasks=["x Parse", "- Print"],
        ticked={"Print": "Feature | Done?\n--- | ---\nParse | yes\nPrint | yes\n"},
    ),
    "struck rows of a table": Case(
        text="| # | Problem | Fix |\n|---|---|---|\n| 1a | ~~It fails~~ | gone |\n| 1b | It stalls | wake it |\n",
        dialect="table",
        tasks=["x It fails", "- It stalls"],
        ticked={
            "It stalls": "| # | Problem | Fix |\n|---|---|---|\n| 1a | ~~It fails~~ | gone |\n"
            "| 1b | ~~It stalls~~ | wake it |\n"
        },
    ),
    "a table of states is none of tasks": Case(
        text="| State | Meaning |\n|---|---|\n| active | it runs |\n| completed | it is over |\n",
        dialect="boxes",
        tasks=[],
    ),
    "a table and plans beside it": Case(
        text="## v1\n\n| Item | Status |\n|---|---|\n| Parse | Implemented |\n\n"
        "## Later — not yet scheduled\n\n- TUI\n",
        dialect="table",
        tasks=["x Parse", "- TUI"],
    ),
    "TODO and DONE in lines": Case(
        text="Some words.\n\nTODO: Parse hours\nand minutes\nDONE: Print\nFIXME: Crash\n",
        dialect="words",
        tasks=["- Parse hours", "x Print", "- Crash"],
        ticked={"Parse hours": "Some words.\n\nDONE: Parse hours\nand minutes\nDONE: Print\nFIXME: Crash\n"},
    ),
    "words in items": Case(
        text="- [DONE] Parse\n- **TODO:** Print\n- Ship (in progress)\n- Sing - DONE\n",
        dialect="words",
        tasks=["x Parse", "- Print", "- Ship", "x Sing"],
        ticked={"Print": "- [DONE] Parse\n- **DONE:** Print\n- Ship (in progress)\n- Sing - DONE\n"},
    ),
    "struck items": Case(
        text="- ~~Parse~~\n- ~~Print~~ in v1\n- Ship `it`\n",
        dialect="words",
        tasks=["x Parse", "x Print in v1", "- Ship `it`"],
        ticked={"Ship `it`": "- ~~Parse~~\n- ~~Print~~ in v1\n- ~~Ship `it`~~\n"},
    ),
    "todo.txt by its name": Case(
        text="(A) 2024-01-02 Call Mum +family @phone due:2024-02-01 id:mum\n"
        "x 2024-01-03 2024-01-01 Pay rent\n\nWrite dep:mum\n",
        dialect="todo.txt",
        name="todo.txt",
        tasks=["- Call Mum +family @phone due:2024-02-01", "x Pay rent", "- Write"],
        ticked={
            "Write": "(A) 2024-01-02 Call Mum +family @phone due:2024-02-01 id:mum\n"
            "x 2024-01-03 2024-01-01 Pay rent\n\nx Write dep:mum\n"
        },
    ),
    "todo.txt by its form": Case(
        text="(B) Parse +core\nx 2024-01-02 Print\nsee http://example.org\n",
        dialect="todo.txt",
        name="list",
        tasks=["- Parse +core", "x Print", "- see http://example.org"],
    ),
    "plain lists below headings": Case(
        text="# Thing\n\n## Features\n\n- fast\n\n## 📋 Planned (soon)\n\n1. Parse\n   more\n2. Print\n\n"
        "## Done\n\n- Sing\n",
        dialect="bullets",
        tasks=["- Parse", "- Print", "x Sing"],
    ),
    "a list that a line announces": Case(
        text="# TODO\n\n## Loop\n\nIt works so:\n\n- one\n\nRemaining work:\n\n- two\n",
        dialect="bullets",
        tasks=["- two"],
    ),
    "nothing but a list in a file named so": Case(
        text="- buy milk\n- fix the login\n", dialect="bullets", name="TODO.md", tasks=["- buy milk", "- fix the login"]
    ),
    "areas below the one word TODO": Case(
        text="# TODO\n\n## Backend\n\n- a\n\n## Frontend\n\n- b\n", dialect="bullets", tasks=["- a", "- b"]
    ),
    "a table of contents": Case(
        text="- [Next](#next)\n- [Why](#why)\n\n# Things\n\n## Next\n\n- [a](b.md) it\n- [all](c.md)\n",
        dialect="bullets",
        tasks=["- a it"],
    ),
    "other languages": Case(
        text="## Próximos pasos\n\n- uno\n\n## Offene Punkte\n\n- zwei\n\n## 待办事项\n\n- 三\n\n## 할 일\n\n- 넷\n",
        dialect="bullets",
        tasks=["- uno", "- zwei", "- 三", "- 넷"],
    ),
    "numbered headings below a plan": Case(
        text="## Migration Plan\n\n### 1. Define it\n\n- Agent\n\n### 2. Move it\n\nx\n\n## Goals\n\n- fast\n",
        dialect="bullets",
        tasks=["- Define it", "- Move it"],
    ),
    "prose": Case(text="# Product\n\n## Motivation\n\n- because\n\nWe want it.\n", dialect="boxes", tasks=[]),
    "a history": Case(text="# Log\n\n## Changelog\n\n- 1.0 first\n", dialect="boxes", tasks=[]),
    "boxes go before all else": Case(
        text="- [x] Parse\n\n| Task | Status |\n|---|---|\n| Print | Done |\n\n- ✅ Ship\n",
        dialect="boxes",
        tasks=["x Parse"],
    ),
    "task-master": Case(
        text='{"tasks": [\n {"id": 1, "title": "Parse", "status": "done", "dependencies": []},\n'
        ' {"id": 2, "title": "Print", "status" : "in-progress", "dependencies": [1], "priority": "high",\n'
        '  "details": "So.\\n\\nVerify: `make`", "subtasks": [{"id": 1, "title": "é", "status": "pending"},\n'
        '  {"id": 2, "title": "b", "status": "pending", "dependencies": [1]}]},\n'
        ' {"id": 3, "title": "Sing", "status": "cancelled"}]}\n',
        dialect="task-master",
        name="tasks.json",
        tasks=["x Parse", "- Print", ["- é", "- b"], "x Sing"],
        ticked={
            "b": '{"tasks": [\n {"id": 1, "title": "Parse", "status": "done", "dependencies": []},\n'
            ' {"id": 2, "title": "Print", "status" : "in-progress", "dependencies": [1], "priority": "high",\n'
            '  "details": "So.\\n\\nVerify: `make`", "subtasks": [{"id": 1, "title": "é", "status": "pending"},\n'
            '  {"id": 2, "title": "b", "status": "done", "dependencies": [1]}]},\n'
            ' {"id": 3, "title": "Sing", "status": "cancelled"}]}\n'
        },
    ),
    "task-master with tags": Case(
        text='{"old": {"tasks": [{"id": 9, "title": "No"}]}, "master": {"tasks": ['
        '{"id": 1, "title": "Yes"}], "metadata": {}}}',
        dialect="task-master",
        name="tasks.json",
        tasks=["- Yes"],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_dialect_is_known_by_its_form_and_ticked_in_its_own_way(case: Case) -> None:
    content, manner = case.text.encode(), Manner(name=case.name)
    roadmap = read(content, manner)
    assert (roadmap.dialect, outline(roadmap.tasks)) == (case.dialect, case.tasks)
    for title, after in case.ticked.items():
        task = next(task for task in everyone(roadmap) if task.title == title)
        ticked = tick(content, task.id, manner)
        assert ticked.decode() == after
        again = next(one for one in everyone(read(ticked, manner)) if one.id == task.id)
        assert again.status == "done"
        assert tick(ticked, task.id, manner) == ticked
        assert untick(ticked, task.id, manner) == content


def test_a_dialect_that_is_named_is_used_though_another_is_surer() -> None:
    content = b"- [ ] a box\n\n| Task | Status |\n|---|---|\n| a row | Todo |\n"
    assert [task.title for task in read(content).tasks] == ["a box"]
    assert [task.title for task in read(content, Manner(dialect="table")).tasks] == ["a row"]


def test_what_is_told_of_a_task_is_understood_in_every_dialect() -> None:
    below = "Files: `a.py`\nVerify: `make`\n"
    heading = read(f"## ✅ 1.1 Parse\n\n## ⏳ 1.2 Print (depends: 1.1)\n\n{below}".encode())
    item = read("- ✅ 1.1 Parse\n- ⏳ 1.2 Print (depends: 1.1)\n  Files: `a.py`\n  Verify: `make`\n".encode())
    planned = read(b"## Next\n\n- 1.1 Parse\n- 1.2 Print (depends: 1.1)\n  - Files: `a.py`\n  - Verify: `make`\n")
    table = read(
        b"| # | Task | Status | Deps | Files | Verify | Priority |\n|--|--|--|--|--|--|--|\n"
        b"| 1.1 | Parse | done | | | | P1 |\n| 1.2 | Print | open | 1.1 | `a.py` | `make` | Low |\n"
    )
    for roadmap in (heading, item, planned, table):
        task = next(task for task in roadmap.tasks if task.id == "1.2")
        assert (task.title, task.depends_on, task.files, task.verify) == ("Print", ("1.1",), ("a.py",), ("make",))
        assert task.text == "" and task.guess
        assert {problem.kind for problem in roadmap.problems} <= {"no box"}
    assert [task.priority for task in table.tasks] == ["high", "low"]


def test_fields_that_a_form_has_are_read() -> None:
    listed = read(b"(A) Call id:m.1 p:m.2\n(C) Write id:m.2\n", Manner(name="todo.txt"))
    assert [(task.id, task.priority, task.depends_on) for task in listed.tasks] == [
        ("m.1", "high", ("m.2",)),
        ("m.2", "low", ()),
    ]
    master = read(CASES["task-master"].text.encode(), Manner(name="tasks.json"))
    task = master.tasks[1]
    assert (task.id, task.priority, task.depends_on, task.text, task.verify) == ("2", "high", ("1",), "So.", ("make",))
    assert [part.id for part in task.subtasks] == ["2.1", "2.2"]
    assert [problem.message for problem in master.problems] == ["skipped, which counts as done: 3"]


def test_the_list_with_the_current_tag_of_task_master_is_read_under_names_of_its_own() -> None:
    text = (
        b'{"master": {"tasks": [{"id": 1, "title": "Old"}]}, "new look": {"tasks": [{"id": 1, "title": "Draw"},'
        b' {"id": "2", "title": "Paint", "dependencies": [1], "subtasks": [{"id": 1, "title": "Red"}]}]}}'
    )
    current = read(text, Manner(name="tasks.json", tag="new look"))
    assert [(task.id, task.depends_on) for task in everyone(current)] == [
        ("new-look-1", ()),
        ("new-look-2", ("new-look-1",)),
        ("new-look-2.1", ()),
    ]
    (told,) = (problem.message for problem in current.problems if problem.kind == "list")
    assert "“new look” is read, and not “master” (1)" in told
    gone = read(text, Manner(name="tasks.json", tag="gone"))
    assert [task.id for task in gone.tasks] == ["1"]
    assert "no list has it" in next(problem.message for problem in gone.problems if problem.kind == "list")
    assert read(b'{"\xe5\xbe\x85": {"tasks": [{"id": 1, "title": "a"}]}}').tasks[0].id.endswith("-1")


BACKLOG = {
    "back-1 - Parse.md": b"---\nid: BACK-1\ntitle: Parse it\nstatus: Done\ndependencies: []\n---\n\nBody\n",
    "back-2 - Print.md": "---\r\nid: BACK-2\r\ntitle: 'Print: é'\r\nstatus: \"In Progress\"\r\nassignee: []\r\n"
    "priority: high\r\nlabels:\r\n  - ui\r\ndependencies:\r\n  - BACK-1\r\n---\r\n\r\n## Description\r\n\r\nSo.\r\n"
    "\r\n- [ ] #1 crit\r\n".encode(),
    "back-2.1 - Part.md": b"\xef\xbb\xbf---\nid: BACK-2.1\ntitle: Part\nstatus: To Do\nparent_task_id: BACK-2\n---",
    "notes.md": b"# Notes\n\n- [ ] not a task\n",
}


def test_a_folder_has_a_task_in_each_file_with_such_front_matter() -> None:
    content = bound(BACKLOG)
    roadmap = read(content)
    assert (roadmap.dialect, outline(roadmap.tasks)) == ("backlog", ["x Parse it", "- Print: é", ["- Part"]])
    task = roadmap.tasks[1]
    assert (task.id, task.page, task.line, task.priority) == ("BACK-2", "back-2 - Print.md", 3, "high")
    assert (task.depends_on, task.text) == (("BACK-1",), "## Description\n\nSo.\n\n- [ ] #1 crit")
    assert not roadmap.problems
    ticked = tick(content, "BACK-2")
    assert ticked == content.replace(b'"In Progress"', b'"Done"').replace(b"status: To Do", b"status: Done")
    assert untick(ticked, "BACK-2") == content.replace(b'"In Progress"', b'"To Do"')
    assert {(remark.page, remark.taken) for remark in explain(content).remarks} >= {("notes.md", False)}


def test_a_folder_whose_tasks_are_each_others_parents_is_read_all_the_same() -> None:
    page = "---\nid: {}\ntitle: t\nstatus: To Do\nparent: {}\n---\n"
    parents = [("A-1", "A-2"), ("A-2", "A-1"), ("A-3", "A-3")]
    pages = {f"{own}.md": page.format(own, above).encode() for own, above in parents}
    roadmap = read(bound(pages))
    assert sorted(task.id for task in everyone(roadmap)) == ["A-1", "A-2", "A-3"]
    assert any("is nested below itself" in problem.message for problem in roadmap.problems)


def test_one_such_file_alone_is_a_list_of_its_boxes() -> None:
    assert outline(read(BACKLOG["back-2 - Print.md"]).tasks) == ["- #1 crit"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- [ ] 1.1 a\n```\n- [ ] b\n```\n", {1: "an open box", 3: "inside a fenced block"}),
        ("- [x] a\n<!--\n- [ ] b\n-->\n", {1: "a ticked box", 3: "inside a comment or HTML"}),
        ("- [ ] a\n\npara\n\n    - [ ] b\n", {1: "an open box", 5: "inside an indented block of code"}),
        (
            "- [ ] a\n- b\n  - [ ] c\n",
            {1: "an open box", 2: "no box: a heading for what is below it", 3: "an open box"},
        ),
        ("- [ ] a\n  - b\n", {1: "an open box", 2: "part of the task above it"}),
        ("- [ ] a\n- [-] b\n", {1: "an open box", 2: "[-] is not a checkbox: write [ ] or [x]"}),
        ("- [ ] a\n\n[ ] b\n", {1: "an open box", 3: "a box outside a list: write `- ` before it"}),
        ("- [ ] a\n- [ ]\n", {1: "an open box", 2: "a box with nothing after it"}),
        ("- [ ] a\n\n|t|\n|-|\n|[ ] b|\n", {1: "an open box", 5: "in a table, where a box is only text"}),
        (
            "- [ ] a\n\n|Task|Status|\n|-|-|\n|b|Done|\n",
            {1: "an open box", 5: "a row of a status table: not read, as the roadmap has boxes"},
        ),
        ("TODO: b\n\n- [ ] a\n", {1: "TODO says open: not read, as the roadmap has boxes", 3: "an open box"}),
        ("---\nx: 1\n- [ ] b\n---\n- [ ] a\n", {3: "in the front matter", 5: "an open box"}),
        ("- ✅ a\n- b\n", {1: "✅ says done", 2: "no sign, among items that have one: open"}),
        (
            "## Next\n- a\n## Why\n- b\n",
            {2: "an item below “Next”: open", 4: "under “Why”, which does not announce plans"},
        ),
        ("- ✅ a\n\n## 🚀 Up\n", {1: "✅ says done", 3: "a heading with a sign, where most have none: decoration"}),
    ],
)
def test_every_line_that_could_be_a_task_is_explained(text: str, told: dict[int, str]) -> None:
    explained = explain(text.encode())
    assert {remark.line: remark.why for remark in explained.remarks} == told
    taken = {remark.line for remark in explained.remarks if remark.taken}
    assert taken == {task.line for task in everyone(read(text.encode()))}


PIECES = st.sampled_from(
    [
        *("✅ ", "⏳ ", "⚪", "🚀 ", "❌ ", "⏭️ ", " ✓", "[ ] ", "[x] "),
        *("[DONE] ", "TODO: ", "DONE: ", " (DONE)", "~~", "**"),
        *("a", "b 1", "1.1 x", "é漢", "\t", "  ", "> "),
        *("- ", "* ", "1. ", "# ", "## ", "### ", "Phase 1: ", "Next", "Done"),
        *("|", "---", "|---|---|", "| Task | Status |", "| a | Done |", "| b | todo |", ":", "`", "\\", "<!--", "-->"),
        *("x 2024-01-01 ", "(A) ", "id:1 ", "dep:1 ", "+p ", "Files: a", "(depends: 1.1)", "Depends on: b 1"),
        *('{"tasks": [', '{"id": 1, "title": "a", "status": "pending"}', "]}", ","),
        *("id: A-1", "title: t", "status: To Do"),
        *("\x1c", "\x1d", "\ufeff", "\r", "\x1b[31m", "\u202e", "\x00"),
    ]
)
DOCUMENTS = st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=12).map("\n".join)


@settings(max_examples=300)
@given(DOCUMENTS, st.sampled_from(DIALECTS), st.sampled_from(["ROADMAP.md", "todo.txt", "tasks.json", ""]))
def test_anything_is_read_in_any_dialect_and_a_tick_changes_one_task_alone(
    text: str, dialect: Dialect, name: str
) -> None:
    content, manner = text.replace("\x00", "").encode(), Manner(name=name, dialect=dialect)
    found = survey(content, manner)
    ids = [task.id for task in everyone(found.roadmap)]
    assert len({name.casefold() for name in ids}) == len(ids)
    assert all(ID.fullmatch(name) for name in ids)
    explain(content, manner)
    before = {task.id: task.status for task in everyone(found.roadmap)}
    for name, box in found.boxes.items():
        assert content[box.offset : box.end] == box.written
        assert box.ticked == (before[name] == "done")
        if not box.ticked:
            ticked = with_boxes(content, {box: True})
            assert {task.id: task.status for task in everyone(read(ticked, manner))} == before | {name: "done"}


TITLES = st.sampled_from(["Parse", "Print é", "漢字", "1.1 Ship", "a `b` c"])
LISTS = st.lists(st.tuples(st.booleans(), TITLES), min_size=2, max_size=6)


def _emoji(tasks: list[tuple[bool, str]]) -> str:
    lines = (f"- {'✅' if done else '⏳'} {title}\n" for done, title in tasks)
    return "- ✅ First\n- ⏳ Last\n- ⏳ Later\n" + "".join(lines)


def _bare(tasks: list[tuple[bool, str]]) -> str:
    return "- ✅ First\n- ✅ Second\n" + "".join(f"- {'✅ ' if done else ''}{title}\n" for done, title in tasks)


def _headings(tasks: list[tuple[bool, str]]) -> str:
    signs = "".join(f"## {title}{' — ✅ DONE' if done else ''}\n\nText\n\n" for done, title in tasks)
    return "## Phase 1: a — ✅ DONE\n\n## Phase 2: b\n\n" + signs.replace("## ", "## Phase 3: ")


def _table(tasks: list[tuple[bool, str]]) -> str:
    rows = "".join(f"| {title} | {'Done' if done else 'Planned'} |\n" for done, title in tasks)
    return f"| Task | Status |\n|---|---|\n| First | Done |\n| Last | Planned |\n| Later | Planned |\n{rows}"


def _aligned(tasks: list[tuple[bool, str]]) -> str:
    rows = "".join(f"| {'Implemented' if done else 'Open':<11} | {title} |\n" for done, title in tasks)
    head = "| Status      | Task |\n|-------------|---|\n| Implemented | First |\n"
    return f"{head}| Open        | Last |\n| Open        | Later |\n{rows}"


def _words(tasks: list[tuple[bool, str]]) -> str:
    return "".join(f"* {'DONE' if done else 'TODO'}: {title}\r\n" for done, title in tasks)


def _struck(tasks: list[tuple[bool, str]]) -> str:
    lines = (f"+ ~~{title}~~\n" if done else f"+ {title}\n" for done, title in tasks)
    return "+ ~~First~~\n+ ~~Second~~\n" + "".join(lines)


def _todo_txt(tasks: list[tuple[bool, str]]) -> str:
    return "(A) First\nx 2024-01-01 Second\n" + "".join(f"{'x ' if done else ''}(B) {title}\n" for done, title in tasks)


def _json(tasks: list[tuple[bool, str]]) -> str:
    listed = (
        f'{{"id": {number}, "title": "{title}", "status":"{"done" if done else "pending"}"}}'
        for number, (done, title) in enumerate(tasks)
    )
    return f'{{"master": {{"tasks": [{", ".join(listed)}]}}}}'


def _folder(tasks: list[tuple[bool, str]]) -> str:
    pages = {
        f"{number}.md": f"---\nid: A-{number}\ntitle: {title}\nstatus: {'Done' if done else 'To Do'}\n---\n".encode()
        for number, (done, title) in enumerate(tasks)
    }
    return bound(pages).decode()


@settings(max_examples=150)
@given(
    LISTS,
    st.sampled_from([_emoji, _bare, _headings, _table, _aligned, _words, _struck, _todo_txt, _json, _folder]),
    st.data(),
)
def test_a_tick_taken_back_restores_every_byte(
    tasks: list[tuple[bool, str]], written: object, data: st.DataObject
) -> None:
    assert callable(written)
    content = written(tasks).encode()
    before = everyone(read(content))
    assert sum(task.status == "open" for task in before) >= sum(not done for done, _ in tasks)
    chosen = data.draw(st.sampled_from([task for task in before if task.status == "open"] or before))
    ticked = tick(content, chosen.id)
    after = everyone(read(ticked))
    assert [task.id for task in after] == [task.id for task in before], "no other task is renamed"
    changed = [one.id for one, other in zip(before, after, strict=True) if one.status != other.status]
    assert changed == ([chosen.id] if chosen.status == "open" else [])
    if chosen.status == "open":
        assert untick(ticked, chosen.id) == content


@pytest.mark.parametrize(
    "beside", ["", "- ⏳ Other\n", "- ✅ Other\n", "- Other 🔴\n- Another ✅\n", "- Other (done)\n"]
)
@pytest.mark.parametrize("start", ["", "⏳ ", "❌ ", "☐ ", "🔴 ", "TODO: ", "~~Old~~ "])
def test_whatever_a_run_ticks_an_undo_opens_again(start: str, beside: str) -> None:
    ends = (
        "",
        " 🔴",
        " 🟢",
        " ⏳",
        " ❌",
        " ✅",
        " (planned)",
        " (done)",
        " (planned) 🔴",
        " 🔴 (done)",
        " — DONE",
        " ☐ 🔴",
    )
    for end, shape in product(ends, ("- {}\n{}", "- ✅ First\n- {}\n{}", "## {}\n\nText.\n\n## ⏳ More\n\n{}")):
        content = shape.format(f"{start}Fix login{end}", beside).encode()
        stood = [(task.id, task.status) for task in everyone(read(content))]
        for name in open_boxes(content):
            again, opened = reopened(tick(content, name), [name], before=open_boxes(content))
            assert (opened, [(task.id, task.status) for task in everyone(read(again))]) == ((name,), stood), content


@pytest.mark.parametrize("line", ["⏳ Fix login 🔴", "❌ Fix login 🔴", "Fix login (planned) 🔴", "☐ Fix login (done)"])
def test_a_task_with_two_signs_is_ticked_and_opened_again_as_it_was(line: str) -> None:
    content = f"- {line}\n".encode()
    (name,) = open_boxes(content)
    assert reopened(tick(content, name), [name], before=open_boxes(content)) == (content, (name,))


def test_long_and_deep_input_is_read_in_a_bound_of_work() -> None:
    deep = b"[" * 100_000
    assert read(b'{"tasks": ' + deep, Manner(name="tasks.json")).tasks == ()
    nested = "".join(f"{'  ' * level}- ✅ {level}\n" for level in range(300)).encode()
    assert everyone(read(nested))
    wide = ("- x" + " " * 200_000 + "✅" + " " * 200_000 + "\n").encode() * 3
    assert read(wide).dialect == "emoji"
    assert read(b"- ~~" + b"~" * 100_000 + b"\n").dialect
    assert read(("| Task | Status |\n|---|---|\n" + "| a | Todo |\n" * 3000).encode()).dialect == "table"


def test_a_roadmap_with_boxes_says_what_it_leaves_out() -> None:
    boxed = "- [ ] 1.1 Parse\n  - Verify: true\n  - a note\n"
    others = "- ✅ Done\n- ⏳ Open\n\n| Task | Status |\n|-|-|\n| A | todo |\n"
    mixed = read(f"{boxed}- Print\n- Sort\n- Depends on: 9\n\n{others}".encode())
    said = {problem.line: problem.message for problem in mixed.problems if problem.kind == "left out"}
    assert list(said) == [4, 13] and "(line 4, 5, 8, 9)" in said[4] and "(line 13)" in said[13]
    assert [task.id for task in mixed.tasks] == ["1.1"]
    assert not read(f"{boxed}\n## Notes\n- words\n- more\n".encode()).problems
