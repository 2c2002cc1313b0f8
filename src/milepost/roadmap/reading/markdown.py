"""A roadmap's Markdown as headings and list items, each box with the byte it stands at."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from milepost.roadmap.reading.box import Box, checkbox
from milepost.roadmap.reading.source import RoadmapSource

# Markdown-it recurses; a list item is two levels deep and costs two frames of Python's stack.
DEEPEST_LEVEL = 200

_BOX = re.compile(r"\[[ xX]\](?=[ \t\n\v\f\r])")
_TOO_DEEP = "too_deep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading on `line`; of the kind that is underlined, its first line."""

    level: int
    text: str
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Lines of text; `line` counts from 0, as everywhere in this module."""

    line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """A fenced block of code, from its opening line up to `end`."""

    line: int
    end: int
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A list item from `line` up to `end`; its first paragraph comes without the box."""

    line: int
    end: int
    box: Box | None
    blocks: tuple[Block, ...]

    @property
    def first(self) -> Paragraph:
        """The paragraph that the item starts with, which is empty when it starts with anything else."""
        if self.blocks and isinstance(self.blocks[0], Paragraph):
            return self.blocks[0]
        return Paragraph(line=self.line, lines=("",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table, its cells as they are shown."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: the row of its headers, then the others."""

    line: int
    end: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Lines that hold no blocks: a `fence`, `code`, `html` or `front_matter`."""

    line: int
    end: int
    kind: str


Block = Heading | Paragraph | Fence | Items | Table


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownDocument:
    """The blocks of a roadmap in order; block quotes are transparent, code and tables are no lists."""

    blocks: tuple[Block, ...]
    too_deep: tuple[int, ...] = ()
    unread: tuple[Unread, ...] = ()


def parse(source: RoadmapSource) -> MarkdownDocument:
    """What GitHub would show as headings, lists and boxes."""
    return _Walk(source).over(_markdown().parse(source.text))


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"maxNesting": DEEPEST_LEVEL + 10}).enable("table").use(front_matter_plugin)
    markdown.block.ruler.before("front_matter", _TOO_DEEP, _leave_what_is_too_deep)
    # Which text is a link or bold changes no list, and finding out takes most of the time.
    markdown.core.ruler.disable("inline")
    return markdown


def _leave_what_is_too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A rule of markdown-it: below the deepest level the rest of an item is left unread, and the next one is read."""
    if silent or state.level < DEEPEST_LEVEL:
        return False
    line = start + 1
    while line < end and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent):
        line += 1
    state.push(_TOO_DEEP, "", 0).map = [start, line]
    state.line = line
    return True


@dataclass(slots=True)
class _Open:
    """A list or an item whose end has not been seen."""

    line: int = 0
    end: int = 0
    box: Box | None = None
    blocks: list[Block] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)


class _Walk:
    """One pass over markdown-it's flat tokens, without recursion."""

    def __init__(self, source: RoadmapSource) -> None:
        self._source = source
        self._open = [_Open()]
        self._too_deep: list[int] = []
        self._unread: list[Unread] = []

    def over(self, tokens: list[Token]) -> MarkdownDocument:
        for position, token in enumerate(tokens):
            match token.type:
                case "bullet_list_open" | "ordered_list_open":
                    self._open.append(_Open())
                case "list_item_open":
                    line, end = _lines(token)
                    self._open.append(_Open(line=line, end=end))
                case "bullet_list_close" | "ordered_list_close":
                    items = Items(items=tuple(self._open.pop().items))
                    self._open[-1].blocks.append(items)
                case "list_item_close":
                    item = self._open.pop()
                    self._open[-1].items.append(
                        Item(line=item.line, end=item.end, box=item.box, blocks=tuple(item.blocks))
                    )
                case "inline":
                    self._text(token, tokens[position - 1], starts_item=tokens[position - 2].type == "list_item_open")
                case "fence":
                    line, end = _lines(token)
                    self._open[-1].blocks.append(Fence(line=line, end=end, code=token.content))
                    self._unread.append(Unread(line=line, end=end, kind="fence"))
                case "code_block" | "html_block" | "front_matter":
                    line, end = _lines(token)
                    self._unread.append(Unread(line=line, end=end, kind=token.type.removesuffix("_block")))
                case "table_open" | "table_close" | "tr_open" | "tr_close":
                    self._table(token)
                case "too_deep":
                    self._too_deep.append(_lines(token)[0])
        return MarkdownDocument(
            blocks=tuple(self._open[0].blocks), too_deep=tuple(self._too_deep), unread=tuple(self._unread)
        )

    def _table(self, token: Token) -> None:
        match token.type:
            case "table_open":
                line, end = _lines(token)
                self._open.append(_Open(line=line, end=end))
            case "tr_open":
                self._open.append(_Open(line=_lines(token)[0]))
            case "tr_close":
                row = self._open.pop()
                self._open[-1].rows.append(Row(line=row.line, cells=tuple(row.cells)))
            case _:
                table = self._open.pop()
                self._open[-1].blocks.append(Table(line=table.line, end=table.end, rows=tuple(table.rows)))

    def _text(self, token: Token, opening: Token, *, starts_item: bool) -> None:
        blocks = self._open[-1].blocks
        if opening.type == "heading_open":
            blocks.append(Heading(level=int(opening.tag[1:]), text=token.content, line=_lines(token)[0]))
        elif opening.type in ("th_open", "td_open"):
            self._open[-1].cells.append(token.content)
        elif opening.type == "paragraph_open":
            line, content = self._first_line(token), token.content
            if starts_item and (found := _BOX.match(content)):
                self._open[-1].line = line
                self._open[-1].box = self._box(line, content)
                content = content[found.end() :].lstrip(" \t\v\f\r")
                if content.startswith("\n"):
                    line, content = line + 1, content[1:]
            blocks.append(Paragraph(line=line, lines=tuple(content.split("\n"))))

    def _first_line(self, token: Token) -> int:
        # Markdown-it trims lines that hold nothing but rare kinds of white space.
        line, end = _lines(token)
        first = token.content.split("\n", 1)[0].rstrip()
        while line < end - 1 and not self._source.lines[line].rstrip().endswith(first):
            line += 1
        return line

    def _box(self, line: int, content: str) -> Box:
        # What precedes the paragraph in its line are markers of lists and quotes: count from the end.
        written = self._source.lines[line].rstrip()
        column = len(written) - len(content.split("\n", 1)[0].rstrip())
        return checkbox(self._source.offset(line, column + 1), written[column + 1])


def _lines(token: Token) -> tuple[int, int]:
    assert token.map is not None
    return token.map[0], token.map[1]
