"""A task at the end of a roadmap: what was there stays, byte by byte and task by task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from milepost.core.errors import EditRefused
from milepost.core.task import Task
from milepost.roadmap.editing.append import appended, free_id
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.read import read

TASK = Task(id="INC-1", title="Fix GET /a", status="open", line=0, text="Look at `a.md`.", verify=("python3 a.py",))
WRITTEN = "- [ ] INC-1 Fix GET /a\n\n  Look at `a.md`.\n\n  - Verify: `python3 a.py`\n"


@pytest.mark.parametrize(
    ("content", "added"),
    [
        (b"- [ ] 1.1 A\n", f"\n## Incidents\n\n{WRITTEN}"),
        (b"- [x] 1.1 A\n\n", f"## Incidents\n\n{WRITTEN}"),
        (b"\xef\xbb\xbf# R\r\n\r\n- [ ] A\r\n  - [ ] B", f"\n\n## Incidents\n\n{WRITTEN}".replace("\n", "\r\n")),
        (b"- [ ] A\n\n## Incidents\n\n- [x] INC-7 B\n", f"\n{WRITTEN}"),
        (b"# R\n\n## Phase 1\n\n- [ ] **1.1** A\n  - Files: a.py\n\nSome words.\n", f"\n## Incidents\n\n{WRITTEN}"),
    ],
)
def test_a_task_is_added_and_every_byte_before_it_stays(content: bytes, added: str) -> None:
    after = appended(content, TASK, "Incidents")
    assert after == content + added.encode()
    last = read(after).tasks[-1]
    assert (last.id, last.title, last.text, last.verify) == (TASK.id, TASK.title, TASK.text, TASK.verify)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("TODO.md", "# R\n\n- ✅ Sell\n- 🚧 Buy\n", "emoji"),
        ("todo.txt", "(A) Sell parts\nx Buy parts\n", "todo.txt"),
        ("R.md", "| Task | Status |\n|---|---|\n| Sell | done |\n| Buy | open |\n", "table"),
    ],
)
def test_a_roadmap_of_another_kind_is_refused(name: str, content: str, kind: str) -> None:
    with pytest.raises(EditRefused, match=rf"of the kind {kind}, and a task is appended only to one with boxes"):
        appended(content.encode(), TASK, "Incidents", Manner(name=name))


def test_an_end_at_which_no_task_would_be_read_is_refused() -> None:
    with pytest.raises(EditRefused, match="would not be read as one of its own"):
        appended(b"- [ ] A\n\n```\nunfinished\n", TASK, "Incidents")


def test_words_that_somebody_chose_cannot_become_a_task_or_a_statement() -> None:
    hostile = replace(TASK, title="Fix [x] - Verify: true", text="- [ ] Another\nVerify: `rm -r /`\n## Heading")
    after = read(appended(b"- [ ] A\n", hostile, "Incidents")).tasks
    assert [(one.id, one.verify) for one in after[1:]] == [("INC-1", TASK.verify)]
    assert not after[1].subtasks


def test_an_id_is_the_first_that_is_free() -> None:
    assert free_id(b"- [ ] A\n", "INC") == "INC-1"
    assert free_id(b"- [ ] INC-1 A\n  - [ ] INC-2 B\n", "INC") == "INC-3"
