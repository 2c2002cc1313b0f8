"""Headings, list items and lines whose title carries a sign of its status; `emoji` and `words` are read so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from milepost.core.task import Remark
from milepost.roadmap.dialects.outline import (
    Outline,
    Words,
    draft_of_item,
    draft_of_section,
    draft_of_text,
    shown,
    without_lists,
)
from milepost.roadmap.dialects.sign_boxes import Title, box_of, is_over, is_skipped
from milepost.roadmap.dialects.signs import Kind, Sign, custom_of, sign_in
from milepost.roadmap.dialects.status_words import STATUS_OF_WORD
from milepost.roadmap.reading.drafts import DialectReading, Draft
from milepost.roadmap.reading.ids import split_id
from milepost.roadmap.reading.markdown import Block, Item, Items, Paragraph
from milepost.roadmap.reading.titles import plain

# A list is one of tasks when one in so many of its items has a sign; the others are open then.
_ONE_IN = 4
_SHAPE = re.compile(
    r"(?:phase|milestone|stage|sprint|epic|step|part|week|iteration|task|feature|release|version|fase|etapa|étape|"
    r"schritt|阶段|第|フェーズ|단계)\s*#?(?:\d|[ivx]+\b|[a-z]\b)|v?\d+\.\d+",
    re.IGNORECASE,
)
# Where signs are about something else than tasks.
_ELSEWHERE = re.compile(
    r"legend|key|status legend|non[- ]?goals?|out of scope|guidelines?|conventions?|do'?s and don'?ts|dos?|don'?ts?|"
    r"(?:success|acceptance|exit|completion) criteria|definition of done|leyenda|legende|légende|凡例|图例|범례",
    re.IGNORECASE,
)


def read_signed(outline: Outline, *, emoji: bool) -> tuple[DialectReading, Counter[Kind]]:
    """The tasks of a document by their signs, emoji among them or not, and how many of each kind there are."""
    signed = _Signed(outline, emoji=emoji)
    return signed.reading(), signed.kinds


class _Signed:
    def __init__(self, outline: Outline, *, emoji: bool) -> None:
        self._outline = outline
        self._source = outline.source
        self._emoji = emoji
        self._remarks: list[Remark] = []
        self.kinds: Counter[Kind] = Counter()
        self._titles: dict[int, Title] = {}
        self._headings = [self._heading(position) for position in range(len(outline.sections))]
        items = [title.sign for title in self._item_titles() if title.sign is not None]
        self._of_items = custom_of(items)
        self._of_headings = custom_of([title.sign for title in self._headings if title is not None and title.sign])

    def reading(self) -> DialectReading:
        drafts = {position: list(self._below(position)) for position in range(len(self._outline.sections))}
        for position in sorted(self._tasks_among_headings(), reverse=True):
            inner = self._outline.inner(position)
            if drafts[position] or any(drafts[below] for below in inner):
                self._say_of_heading(position, "a heading: the tasks are below it")
            else:
                drafts[position] = [self._of_heading(position)]
                for below in inner:
                    drafts[below] = []
        found = sorted((draft for some in drafts.values() for draft in some), key=lambda draft: draft.line)
        self._say_of_lone_headings({draft.line for draft in found})
        return DialectReading(drafts=tuple(found), remarks=tuple(sorted(self._remarks, key=lambda remark: remark.line)))

    # Titles

    def _heading(self, position: int) -> Title | None:
        heading = self._outline.sections[position].heading
        if heading is None:
            return None
        text = heading.text.split("\n", 1)[0].rstrip()
        column = self._source.lines[heading.line].rfind(text)
        return Title(line=heading.line, column=column, text=text, sign=sign_in(text, emoji=self._emoji))

    def _title(self, item: Item) -> Title:
        if (known := self._titles.get(id(item))) is None:
            line, text = item.first.line, item.first.lines[0].rstrip()
            written = self._source.lines[line].rstrip()
            column = len(written) - len(text) if text and written.endswith(text) else -1
            known = Title(line=line, column=column, text=text, sign=sign_in(text, emoji=self._emoji))
            self._titles[id(item)] = known
        return known

    def _item_titles(self) -> Iterator[Title]:
        waiting = [block for section in self._outline.sections for block in section.blocks]
        while waiting:
            block = waiting.pop()
            for item in block.items if isinstance(block, Items) else ():
                yield self._title(item)
                waiting += item.blocks

    # Headings

    def _tasks_among_headings(self) -> Iterator[int]:
        """Signed headings where that is the custom of their level; and others of their shape, such as `Phase 3: …`."""
        levels: dict[int, list[int]] = {}
        for position, section in enumerate(self._outline.sections):
            if section.heading is not None:
                levels.setdefault(section.heading.level, []).append(position)
        for positions in levels.values():
            signed = {position for position in positions if _counts(self._headings[position])}
            shaped = {position for position in positions if _is_shaped(self._headings[position])}
            both = signed & shaped
            if both and len(shaped) > 1 and 2 * len(both) >= len(signed):
                yield from signed | shaped
            elif len(signed) > 1 and 2 * len(signed) >= len(positions):
                yield from signed

    def _of_heading(self, position: int) -> Draft:
        title = self._headings[position]
        assert title is not None
        shaped = _is_shaped(title)
        box = box_of(title, self._source, self._of_headings, bare=shaped, emoji=self._emoji)
        self._take(title, "headings")
        words, ticked = title.sign.title if title.sign else title.text, is_over(title.sign)
        draft = draft_of_section(self._outline, position, words, box=box, ticked=ticked)
        return replace(draft, skipped=is_skipped(title.sign))

    def _say_of_heading(self, position: int, why: str) -> None:
        if (title := self._headings[position]) is not None:
            self._remarks.append(Remark(line=title.line + 1, taken=False, why=why))

    def _say_of_lone_headings(self, taken: set[int]) -> None:
        said = {remark.line for remark in self._remarks}
        for title in self._headings:
            if title is not None and title.sign and title.line not in taken and title.line + 1 not in said:
                why = "a heading with a sign, where most have none: decoration"
                self._remarks.append(Remark(line=title.line + 1, taken=False, why=why))

    # Items and lines

    def _below(self, position: int) -> Iterator[Draft]:
        section = self._outline.sections[position]
        words = self._outline.words(position)
        if section.heading is not None and _ELSEWHERE.fullmatch(plain(section.heading.text).strip(" :")):
            return
        for block in section.blocks:
            match block:
                case Items():
                    yield from self._of_list(block, words)
                case Paragraph():
                    yield from self._of_lines(block, words)
                case _:
                    pass

    def _of_list(self, block: Items, words: Words) -> Iterator[Draft]:
        everyone = _ONE_IN * sum(_counts(self._title(item)) for item in block.items) >= len(block.items)
        for item in block.items:
            title = self._title(item)
            signed = _counts(title) or (everyone and title.sign is not None)
            if title.text and (signed or (everyone and not _is_heading(item))):
                yield from self._of_item(item, title, words)
            else:
                below = words.below(plain(title.text))
                yield from self._lists_below(item.blocks, below)

    def _lists_below(self, blocks: Sequence[Block], words: Words) -> Iterator[Draft]:
        for block in blocks:
            if isinstance(block, Items):
                yield from self._of_list(block, words)

    def _of_item(self, item: Item, title: Title, words: Words) -> Iterator[Draft]:
        name = title.sign.title if title.sign else title.text
        if plain(name).lower().strip(" =:-–—.") in STATUS_OF_WORD:
            self._remarks.append(Remark(line=title.line + 1, taken=False, why="the sign is explained here, not used"))
            return
        below = {
            id(block): list(self._of_list(block, words.below(plain(name))))
            for block in item.blocks
            if isinstance(block, Items)
        }
        lists = [block for block in item.blocks if isinstance(block, Items) and below[id(block)]]
        self._take(title, "items")
        yield replace(
            draft_of_item(
                without_lists(item, lists),
                name,
                words,
                self._source,
                box=box_of(title, self._source, self._of_items, bare=True, emoji=self._emoji),
                ticked=is_over(title.sign),
            ),
            skipped=is_skipped(title.sign),
            span=(item.first.line, max(item.first.line + 1, item.end)),
            subtasks=tuple(draft for block in lists for draft in below[id(block)]),
        )

    def _of_lines(self, paragraph: Paragraph, words: Words) -> Iterator[Draft]:
        """`TODO: …` at the start of a line, with the lines that follow it."""
        lines = [line.strip() for line in paragraph.lines]
        signs = [sign_in(line, emoji=False) for line in lines]
        starts = [
            number
            for number, sign in enumerate(signs)
            if sign is not None
            and sign.side == "start"
            and self._source.lines[paragraph.line + number].endswith(lines[number])
        ]
        for start, end in pairwise([*starts, len(lines)]):
            line, sign = paragraph.line + start, signs[start]
            assert sign is not None
            column = len(self._source.lines[line]) - len(lines[start])
            title = Title(line=line, column=column, text=lines[start], sign=sign)
            self._take(title, "lines")
            box = box_of(title, self._source, custom_of([sign]), bare=True, emoji=False)
            text = "\n".join(lines[start + 1 : end])
            draft = draft_of_text(line, sign.title, text, words, box=box, ticked=is_over(sign))
            yield replace(draft, span=(line, paragraph.line + end))

    def _take(self, title: Title, others: str) -> None:
        self._remarks.append(Remark(line=title.line + 1, taken=True, why=_why(title.sign, others)))
        if title.sign is not None:
            self.kinds[title.sign.kind] += 1


def _is_heading(item: Item) -> bool:
    """Whether an item does nothing but announce the list below it."""
    announced = len(item.first.lines) == 1 and item.first.lines[0].rstrip("*_ ").endswith(":")
    return announced and any(isinstance(block, Items) for block in item.blocks)


def _counts(title: Title | None) -> bool:
    """Whether a title has a sign that does more than adorn it."""
    return title is not None and title.sign is not None and not title.sign.adorns


def _is_shaped(title: Title | None) -> bool:
    """Whether a heading is numbered among others of its kind."""
    if title is None:
        return False
    text = plain(title.sign.title if title.sign else title.text)
    return bool(_SHAPE.match(text) or split_id(text)[0])


def _why(sign: Sign | None, others: str) -> str:
    if sign is None:
        return f"no sign, among {others} that have one: open"
    if sign.kind == "struck":
        return "struck through: done"
    if sign.status == "skipped":
        return f"{shown(sign.written)} says skipped: nothing is left to do"
    return f"{shown(sign.written)} says {sign.status}"
