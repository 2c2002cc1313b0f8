"""The tasks.json of task-master: tasks with ids, states and subtasks, maybe in several lists that have tags."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from milepost.core.task import Problem, Remark
from milepost.roadmap.dialects.json_places import Node, places_of
from milepost.roadmap.dialects.outline import Words, draft_of_text, priority_of, safe_id, shown
from milepost.roadmap.dialects.status_words import status_of_cell
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.drafts import DialectReading, Draft
from milepost.roadmap.reading.source import RoadmapSource

_MAIN = "master"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_TAG = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """The text of the file with the character at which each line starts."""

    source: RoadmapSource
    starts: list[int]

    def line(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1

    def offset(self, place: int) -> int:
        line = self.line(place)
        return self.source.offset(line, place - self.starts[line])


def looks_so(source: RoadmapSource) -> bool:
    """Whether this is JSON with tasks."""
    first = next((line.lstrip() for line in source.lines if line.strip()), "")
    if not first.startswith("{"):
        return False
    try:
        return bool(_lists(places_of(source.text)))
    except ValueError:
        return False


def read(source: RoadmapSource, current: str = "") -> DialectReading:
    """The tasks of the list with the current tag, else of `master`, else of the first one, with their subtasks."""
    try:
        lists = _lists(places_of(source.text))
    except ValueError as error:
        return DialectReading(drafts=(), problems=(Problem(line=1, message=f"this is not JSON with tasks: {error}"),))
    text = _Text(source=source, starts=[0, *accumulate(len(line) + 1 for line in source.lines)])
    tag = next((name for name in (current, _MAIN) if name in lists), next(iter(lists), ""))
    remarks: list[Remark] = []
    drafts = tuple(_drafts(lists[tag], "", text, remarks, _section(tag))) if lists else ()
    line = text.line(lists[tag].start) + 1 if lists else 1
    problems = [Problem(line=line, message=why, kind="list") for why in _left_out(lists, tag, current)]
    return DialectReading(drafts=drafts, remarks=tuple(remarks), problems=tuple(problems))


def _left_out(lists: dict[str, Node], tag: str, current: str) -> Iterator[str]:
    """What is said where a file has several lists: which one is read, how many tasks each of the others has."""
    named = f"“{shown(tag, 30)}”"
    if current and tag and current != tag:
        yield f"the current tag of task-master is “{shown(current, 30)}”, but no list has it: {named} is read"
    others = [f"“{shown(name, 30)}” ({len(node.items)})" for name, node in lists.items() if name != tag]
    if others:
        yield f"the list {named} is read, and not {', '.join(others)}: `task-master use-tag` chooses another"


def _lists(document: Node) -> dict[str, Node]:
    """The lists of tasks by their tags; the one of a file without tags has none."""
    bare = document.get("tasks")
    if bare is not None and isinstance(bare.value, list):
        return {"": bare}
    tagged = document.value if isinstance(document.value, dict) else {}
    found = {tag: node.get("tasks") for tag, node in tagged.items()}
    return {tag: node for tag, node in found.items() if node is not None and isinstance(node.value, list)}


def _section(tag: str) -> str:
    return "" if tag == _MAIN else tag


def _prefix(section: str) -> str:
    """What the ids of a list begin with: task-master counts from 1 in each, and a milepost is about one of them."""
    if not section:
        return ""
    name = _UNSAFE.sub("-", section).strip("-_")[:_LONGEST_TAG]
    return f"{name or hashlib.sha256(section.encode(errors='replace')).hexdigest()[:6]}-"


def _drafts(tasks: Node, above: str, text: _Text, remarks: list[Remark], section: str) -> Iterator[Draft]:
    siblings = {name for task in tasks.items if (name := _id(task, above))}
    for task in tasks.items:
        if not isinstance(task.value, dict):
            continue
        title = _text(task, "title") or _text(task, "description") or _id(task, above)
        if not title:
            remarks.append(Remark(line=text.line(task.start) + 1, taken=False, why="an entry without a title"))
            continue
        draft = _draft(task, title, above, siblings, text, section)
        remarks.append(Remark(line=draft.line + 1, taken=True, why=_why(task, draft)))
        subtasks = task.get("subtasks")
        own = _id(task, above) or draft.explicit
        below = _drafts(subtasks, own, text, remarks, section) if subtasks is not None else ()
        yield replace(draft, subtasks=tuple(below))


def _draft(task: Node, title: str, above: str, siblings: set[str], text: _Text, section: str) -> Draft:
    status = task.get("status")
    said = _text(task, "status").lower()
    told = status_of_cell(said)
    over, skipped = told in ("done", "skipped"), told == "skipped"
    depends = task.get("dependencies")
    names = [name for node in (depends.items if depends is not None else ()) if (name := _named(node, above, siblings))]
    prefix = _prefix(section)
    parts = [f"Depends on: {', '.join(f'{prefix}{name}' for name in names)}"] if names else []
    parts += [_text(task, key) for key in ("description", "details") if _text(task, key) not in ("", title)]
    parts += [f"How it is tested: {how}" for how in [_text(task, "testStrategy")] if how]
    words = Words(section=section, path=tuple(part for part in (section, above) if part))
    box = None if skipped else _box(status, text, ticked=over)
    draft = draft_of_text(text.line(task.start), title, "\n\n".join(parts), words, box=box, ticked=over)
    own = _id(task, above)
    # A title that begins like an id has it in vain here: ids have a field of their own.
    named = f"{draft.explicit} {draft.title}".strip() if own and draft.explicit else draft.title
    return replace(
        draft,
        explicit=f"{prefix}{own}" if own else draft.explicit,
        title=named,
        priority=priority_of(_text(task, "priority")),
        guess=False,
        skipped=skipped,
        span=(draft.line, text.line(task.end - 1) + 1),
    )


def _box(status: Node | None, text: _Text, *, ticked: bool) -> Box | None:
    if status is None or not isinstance(status.value, str):
        return None
    start, end = status.start + 1, status.end - 1
    return Box(
        offset=text.offset(start),
        written=text.source.text[start:end].encode(),
        ticked=ticked,
        done=b"done",
        undone=b"pending",
    )


def _id(task: Node, above: str) -> str:
    """The id of a task; that of a subtask follows the one of its task."""
    node = task.get("id")
    own = safe_id(node.text) if node is not None else ""
    if not own or not above or own.startswith(f"{above}."):
        return own
    return safe_id(f"{above}.{own}")


def _named(node: Node, above: str, siblings: set[str]) -> str:
    """The task that a dependency names: a sibling first, where it is that of a subtask."""
    name = safe_id(node.text)
    beside = f"{above}.{name}"
    return beside if above and beside in siblings else name


def _text(task: Node, key: str) -> str:
    node = task.get(key)
    return node.text.strip() if node is not None else ""


def _why(task: Node, draft: Draft) -> str:
    said = _text(task, "status")
    if draft.skipped:
        return f"its status is “{shown(said, 30)}”: skipped, nothing is left to do"
    return f"its status is “{shown(said, 30)}”: {'done' if draft.ticked else 'open'}"
