"""Plain lists below headings such as `Next` or `Planned`: nothing in them could say that a task is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from milepost.core.task import Remark
from milepost.roadmap.dialects.outline import HeadingSection, Outline, draft_of_item, draft_of_section, shown
from milepost.roadmap.dialects.plans import is_about_plans, is_nothing_else, kind_of
from milepost.roadmap.dialects.signs import sign_in
from milepost.roadmap.reading.drafts import DialectReading, Draft
from milepost.roadmap.reading.markdown import Heading, Item, Items, Paragraph
from milepost.roadmap.reading.task_lines import is_statement
from milepost.roadmap.reading.titles import plain

_LINK = re.compile(r"\[[^\[\]]*\]\([^()]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stance:
    """Whether lists in a section are tasks: `said` by a heading or only by the title of the document; and why."""

    taken: bool
    done: bool = False
    said: bool = True
    why: str = ""


def read_bullets(outline: Outline, name: str = "") -> DialectReading:
    """The items below headings that announce plans, and below those that say what is done."""
    drafts: list[Draft] = []
    remarks: list[Remark] = []
    stances: list[_Stance] = []
    titled = _title_of(outline) or name.rpartition(".")[0]
    told = _announces(outline, titled)
    covered = planned = 0
    for position, section in enumerate(outline.sections):
        stances.append(_stance(outline, position, stances, titled, name, told=told))
        if section.heading is not None and section.heading.line < covered:
            continue
        if _is_step(outline, position, stances):
            drafts.append(_step(outline, position))
            covered, planned = section.end, planned + 1
            why = f"a numbered heading below {_words_above(outline, position)}: open"
            remarks.append(Remark(line=drafts[-1].line + 1, taken=True, why=why))
            continue
        for draft, remark in _in_section(outline, position, stances[-1]):
            drafts += [draft] if draft is not None else []
            planned += draft is not None and not stances[-1].done
            remarks.append(remark)
    if not planned:
        # A list of what was done, with no plans beside it, is a history.
        why = "nothing here announces plans"
        return DialectReading(drafts=(), remarks=tuple(replace(one, taken=False, why=why) for one in remarks))
    return DialectReading(drafts=tuple(drafts), remarks=tuple(remarks))


def _title_of(outline: Outline) -> str:
    """The first heading, where it is the only one of its level."""
    headings = [section.heading for section in outline.sections if section.heading is not None]
    if not headings or sum(heading.level == headings[0].level for heading in headings) > 1:
        return ""
    return headings[0].text


def _announces(outline: Outline, titled: str) -> bool:
    """Whether headings say themselves what is below them; where none does, the title of the document is believed."""
    headings = (section.heading.text for section in outline.sections if section.heading is not None)
    return any(kind_of(text) in ("plans", "done", "phase") for text in headings if text != titled)


def _stance(outline: Outline, position: int, before: list[_Stance], titled: str, name: str, *, told: bool) -> _Stance:
    """What a heading says, else what the one above it says, else what the title of the document says."""
    section = outline.sections[position]
    heading = section.heading
    if heading is None:
        named = is_about_plans(name) and not told
        return _Stance(taken=named, said=False, why=f"an item in {name}" if named else "a list under no heading")
    kind, words = kind_of(heading.text), f"“{shown(heading.text, 40)}”"
    above = before[section.above[-1]] if section.above else None
    is_title = heading.text == titled
    if kind == "plans":
        return _Stance(taken=True, said=not is_title, why=f"an item below {words}")
    if kind == "done":
        return _Stance(taken=True, done=True, why=f"an item below {words}")
    if kind == "other":
        return _Stance(taken=False, why=f"under {words}, which does not announce plans")
    if kind == "phase" and (is_about_plans(titled) or is_about_plans(name) or (above is not None and above.taken)):
        done = above is not None and above.done
        return _Stance(taken=True, done=done, why=f"an item below {words}")
    if above is not None and above.taken and not is_title and (above.said or not told):
        return _Stance(taken=True, done=above.done, said=above.said, why=above.why)
    if is_title and is_nothing_else(name.rpartition(".")[0]):
        return _Stance(taken=True, said=False, why=f"an item in {name}")
    return _Stance(taken=False, why=f"under {words}, which does not announce plans")


def _is_step(outline: Outline, position: int, stances: list[_Stance]) -> bool:
    """Whether a heading is itself a task: one of several that are numbered below a heading that announces plans."""
    section = outline.sections[position]
    if section.heading is None or not section.above:
        return False
    above = stances[section.above[-1]]
    if not (above.taken and above.said and not above.done) or not _is_numbered(section.heading):
        return False
    beside = (other for other in outline.sections if other.above == section.above and other.heading is not None)
    return sum(_is_numbered(other.heading) for other in beside if other.heading is not None) > 1


def _is_numbered(heading: Heading) -> bool:
    # `9. Verification` is a step among steps, though a section of that name announces nothing.
    kind = kind_of(heading.text)
    return kind == "numbered" or (kind == "other" and plain(heading.text)[:1].isdigit())


def _step(outline: Outline, position: int) -> Draft:
    heading = outline.sections[position].heading
    assert heading is not None
    return draft_of_section(outline, position, heading.text.split("\n", 1)[0], box=None, ticked=False)


def _in_section(outline: Outline, position: int, stance: _Stance) -> Iterator[tuple[Draft | None, Remark]]:
    section = outline.sections[position]
    for number, block in enumerate(section.blocks):
        if isinstance(block, Items):
            told = _after_its_lead(section, number, stance)
            for item in block.items:
                yield _of_item(outline, position, item, told)


def _after_its_lead(section: HeadingSection, number: int, stance: _Stance) -> _Stance:
    """What a list is, by the line that leads to it: `Remaining slices:`."""
    before = section.blocks[number - 1] if number else None
    if not isinstance(before, Paragraph):
        return stance
    lead = before.lines[-1].strip()
    words = f"“{shown(lead, 40)}”"
    if before.lines[0].lstrip().startswith(("[", "{", "<")):
        return _Stance(taken=False, why=f"after {words}, which is a placeholder")
    if not lead.rstrip("*_").endswith(":"):
        return stance if stance.said else _Stance(taken=False, why=f"after {words}: part of that text")
    match kind_of(lead):
        case "plans":
            return _Stance(taken=True, done=stance.taken and stance.done, why=f"an item after {words}")
        case "done":
            return _Stance(taken=True, done=True, why=f"an item after {words}")
        case "phase":
            return stance
        case _:
            return _Stance(taken=False, why=f"after {words}, which does not announce plans")


def _of_item(outline: Outline, position: int, item: Item, stance: _Stance) -> tuple[Draft | None, Remark]:
    line, text = item.first.line + 1, item.first.lines[0].rstrip()
    if not stance.taken:
        return None, Remark(line=line, taken=False, why=stance.why)
    if why := _no_task(text):
        return None, Remark(line=line, taken=False, why=why)
    sign = sign_in(text)
    over = stance.done or (sign is not None and sign.status != "open")
    title = sign.title if sign is not None else text
    draft = draft_of_item(item, title, outline.words(position), outline.source, box=None, ticked=over)
    return draft, Remark(line=line, taken=True, why=f"{stance.why}: {'done' if over else 'open'}")


def _no_task(text: str) -> str:
    """Why an item of a list of plans is none of them; nothing where it is one."""
    if not plain(text).strip(" .…-–—"):
        return "it has no words"
    if re.match(r"\[.{0,2}\](?![(\[])", text):
        return "it begins with something that is not a checkbox: write [ ] or [x]"
    if _LINK.fullmatch(text):
        return "a link to another place"
    if is_statement(text):
        return "it says how, not what"
    if text.startswith("*") and not text.startswith("**") and ":*" in text[:40]:
        return "a note: it begins with a key"
    return "a note in brackets" if text.startswith(("(", "<!--")) else ""


def _words_above(outline: Outline, position: int) -> str:
    above = outline.sections[outline.sections[position].above[-1]].heading
    return f"“{shown(above.text, 40)}”" if above is not None else "the title"
