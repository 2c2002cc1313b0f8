"""A folder with one file a task, whose front matter tells its id, title and status, as Backlog.md writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from milepost.core.task import Problem, Remark
from milepost.roadmap.dialects.front_matter import FrontMatter, Value, front_matter_of
from milepost.roadmap.dialects.outline import Words, draft_of_text, priority_of, safe_id, shown
from milepost.roadmap.dialects.status_words import status_of_cell
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.drafts import DialectReading, Draft
from milepost.roadmap.reading.source import RoadmapSource

_PAGE, _NAME_END = "\x1c", "\x1d"
_PARENT = ("parent_task_id", "parent", "parent_id", "parenttaskid")
_DEPENDS = ("dependencies", "depends_on", "depends", "blocked_by")
_FILES = ("files", "modified_files")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_DEEPEST = 50


def is_folder(source: RoadmapSource) -> bool:
    """Whether this is the text of a folder."""
    return source.lines[0].startswith(_PAGE)


def looks_so(source: RoadmapSource) -> bool:
    """Whether a single file is one task of this form."""
    front = front_matter_of(source)
    return front is not None and _is_task(front)


def read(source: RoadmapSource) -> DialectReading:
    """Every page with such front matter as a task; what has a parent is a subtask of it."""
    found: list[tuple[Draft, str]] = []
    remarks: list[Remark] = []
    for name, page in pages_of(source):
        front = front_matter_of(page)
        if front is None or not _is_task(front):
            why = "its front matter has no title or status" if front is not None else "it has no front matter"
            remarks.append(Remark(line=1, taken=False, why=f"no task: {why}", page=name))
            continue
        draft = _draft(name, page, front)
        found.append((draft, safe_id(front.text(*_PARENT)) or _id_above(draft.explicit)))
        remarks.append(Remark(line=draft.line + 1, taken=True, why=_why(front, draft), page=name))
    drafts, problems = _nested(found)
    return DialectReading(drafts=tuple(drafts), problems=tuple(problems), remarks=tuple(remarks))


def pages_of(source: RoadmapSource) -> list[tuple[str, RoadmapSource]]:
    """The files of a folder, each as a source of its own whose offsets are those of the whole."""
    if not is_folder(source):
        return [("", source)]
    pages: list[tuple[str, list[str], list[int]]] = []
    for number, line in enumerate(source.lines):
        column = 0
        for part_number, part in enumerate(line.split(_PAGE)):
            column += part_number > 0
            name, ends, text = part.partition(_NAME_END)
            if part_number and ends:
                start = source.offset(number, column + len(name) + 1)
                bom = text.startswith("\ufeff")
                pages.append((name, [text[bom:]], [start + 3 * bom]))
            elif part_number == 0 and pages:
                pages[-1][1].append(part)
                pages[-1][2].append(source.starts[number])
            column += len(part)
    return [(name, RoadmapSource(lines=tuple(lines), starts=tuple(starts))) for name, lines, starts in pages]


def _is_task(front: FrontMatter) -> bool:
    return bool(front.text("title")) and "status" in front.values


def _draft(name: str, page: RoadmapSource, front: FrontMatter) -> Draft:
    status = front.values["status"]
    said = status_of_cell(status.text)
    over = said in ("done", "skipped")
    keyed = [f"Depends on: {', '.join(names)}" for names in [front.texts(*_DEPENDS)] if names]
    keyed += [f"Files: {', '.join(f'`{path}`' for path in paths)}" for paths in [front.texts(*_FILES)] if paths]
    body = _COMMENT.sub("", "\n".join(page.lines[front.end :])).strip("\n")
    title = front.values["title"]
    draft = draft_of_text(
        title.line,
        title.text,
        "\n\n".join([*keyed, body]),
        Words(),
        box=None if said == "skipped" else _box(page, status, ticked=over),
        ticked=over,
    )
    return replace(
        draft,
        explicit=safe_id(front.text("id")) or draft.explicit,
        section=front.text("milestone"),
        priority=priority_of(front.text("priority")),
        guess=False,
        skipped=said == "skipped",
        page=name,
        span=(0, len(page.lines)),
    )


def _box(page: RoadmapSource, status: Value, *, ticked: bool) -> Box | None:
    written = page.lines[status.line][status.start : status.end]
    if not written or written != status.text:
        return None
    return Box(
        offset=page.offset(status.line, status.start),
        written=written.encode(),
        ticked=ticked,
        done=_in_case_of(written, "Done").encode(),
        undone=_in_case_of(written, "To Do").encode(),
    )


def _in_case_of(written: str, word: str) -> str:
    return word.lower() if written.islower() else word


def _nested(found: Sequence[tuple[Draft, str]]) -> tuple[list[Draft], list[Problem]]:
    """The drafts that have no parent here, each with its children."""
    parents = {draft.explicit.casefold(): parent.casefold() for draft, parent in found if draft.explicit}
    children: dict[str, list[Draft]] = {}
    tops: list[Draft] = []
    problems: list[Problem] = []
    for draft, parent in found:
        above = parent.casefold()
        if above not in parents:
            tops.append(draft)
        elif _ends_above(above, draft.explicit.casefold(), parents):
            children.setdefault(above, []).append(draft)
        else:
            tops.append(draft)
            message = f"{draft.explicit} is nested below itself, or too deep: it is read as a top-level task"
            problems.append(Problem(line=draft.line + 1, message=message, page=draft.page))
    return [_with_children(draft, children) for draft in tops], problems


def _ends_above(above: str, own: str, parents: dict[str, str]) -> bool:
    """Whether the parents of a task come to an end, and soon, without the task itself."""
    for _ in range(_DEEPEST):
        if above == own:
            return False
        if above not in parents:
            return True
        above = parents[above]
    return False


def _with_children(draft: Draft, children: dict[str, list[Draft]]) -> Draft:
    below = children.get(draft.explicit.casefold(), []) if draft.explicit else []
    return replace(draft, subtasks=tuple(_with_children(child, children) for child in below))


def _id_above(name: str) -> str:
    """BACK-222 of BACK-222.1: what follows the dot counts the parts of a task."""
    found = re.fullmatch(r"([A-Za-z]+-\d+(?:\.\d+)*)\.\d+", name)
    return found[1] if found else ""


def _why(front: FrontMatter, draft: Draft) -> str:
    said = status_of_cell(front.text("status"))
    told = "skipped, nothing is left to do" if said == "skipped" else "done" if draft.ticked else "open"
    return f"its front matter says “{shown(front.text('status'), 30)}”: {told}"
