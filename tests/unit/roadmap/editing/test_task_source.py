"""A task's own lines in every dialect: found, written anew, and all other bytes as they were."""

from __future__ import annotations

import pytest

from milepost.core.errors import EditRefused, TaskUnknown
from milepost.core.folder_roadmap import bound, unbound
from milepost.roadmap.editing.task_source import passage_of, rewritten
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.read import read

BOXES = b"""\xef\xbb\xbf# Roadmap\r
\r
- [x] A0 Before\r
- [ ] A1 Parse durations\r
  in hours\r

  - [ ] A1.1 A part\r
  - Verify: `pytest`\r
\r
```python\r
parse("1h")\r
```\r
\r
## Next\r
- [ ] A2 After\r
  - Depends on: A1\r
"""
JSON = b"""{"tasks": [
  {"id": 1, "title": "One", "status": "pending"},
  {"id": 2, "title": "Two", "status": "done"}
]}
"""
EMOJI = "# Plan\n\n- ✅ T1 One\n- ⏳ T2 Two\n  with words\n- ⏳ T3 Three\n".encode()
TABLE = b"| Id | Task | Status |\n|---|---|---|\n| T1 | One | Todo |\n| T2 | Two | Done |\n"
PAGES = bound(
    {
        "one.md": b"---\nid: B-1\ntitle: One\nstatus: To Do\n---\nWords\n",
        "two.md": b"---\r\nid: B-2\r\ntitle: Two\r\nstatus: To Do\r\n---\r\nMore\r\n",
    }
)
DIALECTS = [
    ("boxes", BOXES, "A1", "in hours", "in minutes"),
    ("emoji", EMOJI, "T2", "words", "care"),
    ("words", b"# Plan\n\nTODO: T1 One\nand more\nDONE: T2 Two\n", "T1", "more", "less"),
    ("table", TABLE, "T1", "One", "Once"),
    ("bullets", b"# Roadmap\n\n## Planned\n- T1 One\n  and more\n- T2 Two\n", "T1", "more", "less"),
    ("todo.txt", b"(A) One id:T1\nx Two id:T2\n", "T1", "One", "Once"),
    ("task-master", JSON, "1", '"One"', '"Once"'),
    ("backlog", PAGES, "B-2", "More", "Less"),
]


def manner(dialect: str) -> Manner:
    return Manner(dialect=dialect, name="ROADMAP.md")  # type: ignore[arg-type]


@pytest.mark.parametrize(("dialect", "content", "task", "old", "new"), DIALECTS, ids=[row[0] for row in DIALECTS])
def test_a_task_is_written_anew_and_every_other_byte_stays(
    dialect: str, content: bytes, task: str, old: str, new: str
) -> None:
    how = manner(dialect)
    passage = passage_of(content, task.lower(), how)
    assert passage.task == task and old in passage.text
    assert rewritten(content, passage, passage.text, how) == content
    after = rewritten(content, passage, passage.text.replace(old, new), how)
    assert after == content.replace(old.encode(), new.encode(), 1)
    again = passage_of(after, task, how)
    assert (again.line, again.text) == (passage.line, passage.text.replace(old, new))
    assert again.digest != passage.digest


def test_a_task_has_all_lines_that_are_about_it_and_keeps_their_ends() -> None:
    passage = passage_of(BOXES, "A1")
    assert (passage.line, passage.text.split("\n")[0], passage.text.split("\n")[-1]) == (
        4,
        "- [ ] A1 Parse durations",
        "```",
    )
    after = rewritten(BOXES, passage, passage.text.replace("  - Verify", "  - Files: a.py\n  - Verify"))
    assert after == BOXES.replace(b"  - Verify", b"  - Files: a.py\r\n  - Verify"), "the bare \\n stays one"
    part = passage_of(BOXES, "A1.1")
    assert b"Another part\r\n  - Verify" in rewritten(BOXES, part, "  - [ ] A1.1 Another part\n\n")


def test_a_page_is_written_alone() -> None:
    passage = passage_of(PAGES, "B-1", manner("backlog"))
    after = rewritten(PAGES, passage, passage.text + "\n\n## More\nwords", manner("backlog"))
    assert unbound(after)["one.md"].content.endswith(b"Words\n\n## More\nwords\n")
    assert unbound(after)["two.md"].content == unbound(PAGES)["two.md"].content


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "would not be task"),
        ("just words", "would not be task"),
        ("- [ ] A9 Parse durations", "would not be task"),
        ("- [ ] A1", "would have no title"),
        ("- [ ] A1 Parse\n- [ ] A3 Another", "other tasks"),
        ("- [ ] A1 Parse\n## A heading", "not all of these lines"),
        ("- [ ] A1 Parse\n```\nnever closed", "other tasks"),
        ("- [ ] A1 Parse\n<!-- never closed", "other tasks"),
        ("- [ ] A1 \x1c", "control character"),
        ("- [ ] A1 \0", "control character"),
        ("- [ ] A1 \ud800", "an incomplete character"),
        ("- [ ] A1 " + "x" * 100_001, "too long"),
    ],
)
def test_what_would_not_be_that_task_alone_is_refused(text: str, why: str) -> None:
    content = b"# Roadmap\n\n- [ ] A0 Before\n- [ ] A1 Parse\n\n## Next\n- [ ] A2 After\n"
    with pytest.raises(EditRefused, match=why):
        rewritten(content, passage_of(content, "A1"), text)


def test_a_task_without_an_id_may_change_below_its_title() -> None:
    content = b"- [ ] Parse durations\n- [ ] Format them\n"
    first = read(content).tasks[0].id
    passage = passage_of(content, first)
    after = rewritten(content, passage, "- [ ] Parse durations\n  - Verify: true")
    assert after == content.replace(b"durations", b"durations\n  - Verify: true")
    with pytest.raises(EditRefused, match="would not be task"):
        rewritten(content, passage, "- [ ] Parse everything")
    with pytest.raises(TaskUnknown):
        passage_of(content, "nobody")
