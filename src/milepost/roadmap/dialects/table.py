"""Tables with a column that tells the status: each row is a task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from milepost.core.task import Remark
from milepost.roadmap.dialects.cells import Grid
from milepost.roadmap.dialects.outline import Outline, Words, draft_of_text, priority_of, safe_id, shown
from milepost.roadmap.dialects.status_words import Status, status_of_cell
from milepost.roadmap.reading.box import Box
from milepost.roadmap.reading.drafts import DialectReading, Draft
from milepost.roadmap.reading.markdown import Row, Table
from milepost.roadmap.reading.titles import plain

Column = Literal["status", "title", "id", "priority", "depends", "files", "verify"]

_HEADERS: dict[Column, str] = {
    "status": r"(?:current |impl(?:ementation)? )?(?:status|state|progress)|(?:done|completed?|implemented|shipped)\??"
    r"|✅|✓|☑️?|상태|진행 상황|状态|進度|进度|状況|ステータス|進捗|estado|statut|état|avancement|stand|fortschritt|"
    r"situação|stato|статус|состояние",
    "title": r"(?:work |action |backlog |roadmap )?items?|tasks?|(?:key )?features?|titles?|names?|deliverables?"
    r"|descriptions?|(?:user )?stor(?:y|ies)|issues?|milestones?|goals?|what|to-?dos?|requirements?|steps?"
    r"|activit(?:y|ies)|actions?|problems?|failures?|bugs?|changes?|components?|capabilit(?:y|ies)|phases?|epics?|objectives?|summary"
    r"|topic|task name|기능|작업|항목|이름|제목|과제|任务|功能|名称|事项|标题|工作|タスク|機能|項目|作業|内容|tareas?|"
    r"funci[oó]n(?:alidad)?|caracter[ií]stica|elemento|t[ií]tulo|aufgabe|titel|funktion|tâches?|fonctionnalités?|titre|"
    r"tarefas?|funcionalidade|attività|задач[аи]|название",
    "id": r"#|ids?|no\.?|nr\.?|№|num(?:ber)?|key|ref|code|(?:task|issue|item|story|feature) ?(?:id|#|no\.?)"
    r"|番号|编号|번호",
    "priority": r"prio(?:rity)?|importance|우선순위|优先级|優先度|prioridad|priorité|priorität|prioridade|priorità",
    "depends": r"depends(?: on)?|dependenc(?:y|ies)|deps?|blocked by|requires|after|의존성?|依赖|依存|depende de",
    "files": r"files?|paths?|where|location|파일|文件|ファイル|archivos?|fichiers?|dateien?",
    "verify": r"verify|verification command|check command",
}
_COLUMNS = {column: re.compile(words, re.IGNORECASE) for column, words in _HEADERS.items()}
_STRUCK = re.compile(r"~~(?=\S)(.+?)(?<=\S)~~\.?")
_PAIRS = [("[ ]", "[x]"), ("no", "yes"), ("n", "y"), ("0%", "100%"), ("false", "true"), ("❌", "✅"), ("✗", "✓")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """Which column is which; `status` is None where struck titles are what says done."""

    title: int
    status: int | None
    columns: dict[Column, int]
    headers: tuple[str, ...]


def read_tables(outline: Outline) -> DialectReading:
    """The rows of all tables that tell the status of tasks."""
    drafts: list[Draft] = []
    remarks: list[Remark] = []
    found = list(_status_tables(outline, remarks))
    ids = {name for table, shape, _ in found for row in table.rows[1:] if (name := _id_of(row, shape))}
    for table, shape, words in found:
        custom = _Custom(table, shape)
        grid = Grid(outline.source, [table.line, table.line + 1, *(row.line for row in table.rows[1:])])
        for row in table.rows[1:]:
            draft, why = _draft(grid, row, shape, words, custom, ids)
            drafts += [draft] if draft is not None else []
            remarks.append(Remark(line=row.line + 1, taken=draft is not None, why=why))
    return DialectReading(drafts=tuple(drafts), remarks=tuple(sorted(remarks, key=lambda remark: remark.line)))


def _status_tables(outline: Outline, remarks: list[Remark]) -> Iterator[tuple[Table, _Shape, Words]]:
    for position, section in enumerate(outline.sections):
        for block in section.blocks:
            if isinstance(block, Table):
                shape = _shape(block)
                if isinstance(shape, _Shape):
                    yield block, shape, outline.words(position)
                else:
                    remarks.append(Remark(line=block.line + 1, taken=False, why=shape))


def _shape(table: Table) -> _Shape | str:
    """Which column of a table is which; or why it is none of tasks."""
    headers = tuple(plain(cell).strip(" *:") for cell in table.rows[0].cells)
    columns: dict[Column, int] = {}
    for column, words in _COLUMNS.items():
        for number, header in enumerate(headers):
            if words.fullmatch(header) and number not in columns.values():
                columns.setdefault(column, number)
    title = columns.get("title")
    if title is None or not table.rows[1:]:
        return "a table without a column for the task"
    status = columns.get("status")
    if status is None:
        struck = any(_STRUCK.fullmatch(row.cells[title].strip()) for row in table.rows[1:])
        if not struck:
            return "a table without a column for the status"
    else:
        known = sum(status_of_cell(row.cells[status]) is not None for row in table.rows[1:])
        if 2 * known < len(table.rows) - 1:
            return f"a table whose column “{shown(headers[status], 30)}” has no known status"
    return _Shape(title=title, status=status, columns=columns, headers=headers)


class _Custom:
    """How a table says done and open."""

    def __init__(self, table: Table, shape: _Shape) -> None:
        used: dict[Status, Counter[str]] = {"done": Counter(), "open": Counter(), "skipped": Counter()}
        for row in table.rows[1:] if shape.status is not None else ():
            cell = row.cells[shape.status or 0].strip()
            if cell and (status := status_of_cell(cell)) is not None and "|" not in cell:
                used[status][cell] += 1
        self._used = used

    def done(self, cell: str) -> str:
        """What a cell becomes when its task is done."""
        return self._of("done", cell, 1) or _in_case_of(cell, "Done")

    def undone(self, cell: str) -> str:
        """What a cell becomes when its task is open again."""
        return self._of("open", cell, 0) or ("⏳" if cell[:1] in "✅✔☑✓🟢" and cell else _in_case_of(cell, "Todo"))

    def _of(self, status: Status, cell: str, side: int) -> str:
        if most := self._used[status].most_common(1):
            return most[0][0]
        return next((pair[side] for pair in _PAIRS if cell.lower() == pair[1 - side]), "")


def _draft(
    grid: Grid, row: Row, shape: _Shape, words: Words, custom: _Custom, ids: set[str]
) -> tuple[Draft | None, str]:
    title = row.cells[shape.title].strip()
    struck = _STRUCK.fullmatch(title)
    name = struck[1] if struck else title
    if not plain(name).strip(" -–—."):
        return None, "a row without a title"
    cell = row.cells[shape.status].strip() if shape.status is not None else ""
    status = ("done" if struck else "open") if shape.status is None else status_of_cell(cell)
    over = status in ("done", "skipped")
    text = "\n\n".join(_lines(row, shape, ids))
    box = None if status == "skipped" else _box(grid, row, shape, custom, ticked=over)
    draft = draft_of_text(row.line, name, text, words, box=box, ticked=over)
    written = _id_of(row, shape)
    priority = priority_of(row.cells[shape.columns["priority"]]) if "priority" in shape.columns else ""
    draft = replace(draft, explicit=written or draft.explicit, priority=priority, skipped=status == "skipped")
    return draft, _why(shape, cell, status, struck=struck is not None)


def _id_of(row: Row, shape: _Shape) -> str:
    return safe_id(plain(row.cells[shape.columns["id"]])) if "id" in shape.columns else ""


def _lines(row: Row, shape: _Shape, ids: set[str]) -> Iterator[str]:
    """The other cells as lines below the task: those that say how it is done by their usual keys."""
    named = {number: column for column, number in shape.columns.items()}
    for number, cell in enumerate(row.cells):
        column = named.get(number)
        if number in (shape.title, shape.status) or column in ("id", "priority") or not cell.strip(" -–—"):
            continue
        text = cell.replace("<br>", " ").replace("<br/>", " ").strip()
        if column == "depends" and _all_known(text, ids):
            yield f"Depends on: {text}"
        elif column in ("files", "verify"):
            yield f"{column.capitalize()}: {text}"
        else:
            yield f"{shape.headers[number] or 'Also'} – {text}"


def _all_known(text: str, ids: set[str]) -> bool:
    names = [safe_id(part) for part in re.split(r"[,;\s]+(?:and\s+)?", plain(text)) if part]
    return bool(names) and all(name in ids for name in names)


def _box(grid: Grid, row: Row, shape: _Shape, custom: _Custom, *, ticked: bool) -> Box | None:
    column = shape.title if shape.status is None else shape.status
    written = grid.text(row.line, column)
    # What Markdown shows in the cell must be what is found in the line.
    if written is None or written.replace("\\|", "|") != row.cells[column].strip():
        return None
    if shape.status is None:
        bare = written[2:].removesuffix(".").removesuffix("~~") if ticked else written
        if "~" in bare:
            return None
        done, undone = f"~~{bare}~~", bare
    else:
        done = written if ticked else custom.done(written)
        undone = custom.undone(written) if ticked else written
    return grid.box(row.line, column, ticked=ticked, done=done, undone=undone)


def _why(shape: _Shape, cell: str, status: Status | None, *, struck: bool) -> str:
    if shape.status is None:
        return (
            "a row of a table, struck through: done"
            if struck
            else "a row of a table where others are struck through: open"
        )
    if status is None:
        told = f"“{shown(cell, 30)}” is not known" if cell else "nothing"
        return f"a row of a status table, its status is {told}: open"
    if status == "skipped":
        return f"a row of a status table, “{shown(cell, 30)}”: skipped, nothing is left to do"
    return f"a row of a status table, “{shown(cell, 30)}”: {status}"


def _in_case_of(cell: str, word: str) -> str:
    """A word written as another is: in capitals, in bold, in lower case."""
    bare = cell.strip("*_` ")
    styled = word.upper() if bare.isupper() and len(bare) > 1 else word.lower() if bare.islower() else word
    lead = re.match(r"\*\*|__|`", cell)
    return f"{lead[0]}{styled}{lead[0]}" if lead and cell.endswith(lead[0]) and len(cell) > 4 else styled
