"""A roadmap's bytes as tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from milepost.core.task import Problem, Roadmap, Task
from milepost.roadmap.bounds import NO_BOUNDS
from milepost.roadmap.ids import Claim, derived_id, settle
from milepost.roadmap.lines import Details, details_of
from milepost.roadmap.markdown import DEEPEST_LEVEL, Box, parse
from milepost.roadmap.outline import Draft, drafts_of
from milepost.roadmap.references import Named, References, Unresolved
from milepost.roadmap.source import Source, source_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A roadmap, and the box of every task in it by its id."""

    roadmap: Roadmap
    boxes: dict[str, Box]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A draft with its id, the id of the top-level task it is done with, and what is stated below it."""

    draft: Draft
    id: str
    top: str
    details: Details

    @property
    def title(self) -> str:
        return self.draft.title or self.id

    @property
    def line(self) -> int:
        return self.draft.item.line + 1


def read(content: bytes) -> Roadmap:
    """The tasks of a roadmap as GitHub would show its task lists, and what is odd about them."""
    return survey(content).roadmap


def survey(content: bytes) -> Survey:
    """The tasks of a roadmap, with the place of each box."""
    source = source_of(content)
    document = parse(source)
    drafts = drafts_of(document)
    entries, clashes = _entries(drafts)
    depends, unresolved = _dependencies(entries)
    problems = [
        *_about_boxes(drafts, document.too_deep),
        *clashes,
        *(problem for entry in entries for problem in entry.details.problems),
        *_bounds_too_deep(entries),
        *unresolved,
    ]
    by_draft = {id(entry.draft): entry for entry in entries}
    tasks = tuple(_task(draft, by_draft, depends, source) for draft in drafts)
    return Survey(
        roadmap=Roadmap(tasks=tasks, problems=tuple(sorted(problems, key=lambda problem: problem.line))),
        boxes={entry.id: entry.draft.box for entry in entries},
    )


def _about_boxes(drafts: Sequence[Draft], too_deep: Sequence[int]) -> Iterator[Problem]:
    if not drafts:
        yield Problem(line=1, message="no checkbox was found: write each task as a list item, `- [ ] what to do`")
    if too_deep:
        message = f"nested more than {DEEPEST_LEVEL} levels deep: boxes there are left out, here and in"
        yield Problem(line=too_deep[0] + 1, message=f"{message} {len(too_deep) - 1} more places")


def _entries(drafts: Sequence[Draft]) -> tuple[list[_Entry], list[Problem]]:
    """Every draft with an id of its own, in the order of the file, and who wanted the same one."""
    everyone = [(draft, top) for top in drafts for draft in top.walk()]
    claims = [
        Claim(
            id=draft.explicit or derived_id(draft.title, draft.place), explicit=bool(draft.explicit), top=draft is top
        )
        for draft, top in everyone
    ]
    ids, clashes = settle(claims)
    own = {id(draft): name for (draft, _), name in zip(everyone, ids, strict=True)}
    entries = [
        _Entry(draft=draft, id=own[id(draft)], top=own[id(top)], details=details_of(draft.item))
        for draft, top in everyone
    ]
    problems = [
        Problem(
            line=entries[second].line,
            message=f"lines {entries[first].line} and {entries[second].line} both stand for {claims[second].id}: "
            f"the one on line {entries[second].line} is called {ids[second]}",
        )
        for second, first in clashes.items()
    ]
    return entries, problems


def _bounds_too_deep(entries: Sequence[_Entry]) -> Iterator[Problem]:
    """What bounds a subtask holds nothing: it is done in the attempt of its task."""
    for entry in entries:
        if entry.id != entry.top and entry.details.bounds != NO_BOUNDS:
            message = f"{entry.id} is done together with {entry.top}: write its bounds below {entry.top}"
            yield Problem(line=entry.line, message=message)


def _dependencies(entries: Sequence[_Entry]) -> tuple[dict[str, tuple[str, ...]], list[Problem]]:
    """The top-level tasks that each entry waits for, and the references that lead nowhere."""
    references = References([Named(id=entry.id, title=entry.title) for entry in entries])
    depends: dict[str, tuple[str, ...]] = {}
    problems = []
    for entry in entries:
        waits_for: dict[str, None] = {}
        for line, value in _stated(entry):
            for found in references.resolve(value):
                if isinstance(found, Unresolved):
                    message = f"{entry.id} depends on {found}"
                    problems.append(Problem(line=line + 1, message=message, fatal=True))
                elif not _is_part_of(entry, entries[found]):
                    waits_for[entries[found].top] = None
        depends[entry.id] = tuple(waits_for)
    return depends, problems


def _stated(entry: _Entry) -> tuple[tuple[int, str], ...]:
    inline = ((entry.draft.item.line, entry.draft.depends),) if entry.draft.depends else ()
    return (*inline, *entry.details.depends)


def _is_part_of(entry: _Entry, other: _Entry) -> bool:
    """Whether both are done in one attempt anyway; a task that names itself is a cycle, and stays one."""
    return entry.top == other.top and not (entry.id == other.id == entry.top)


def _task(draft: Draft, by_draft: dict[int, _Entry], depends: dict[str, tuple[str, ...]], source: Source) -> Task:
    entry = by_draft[id(draft)]
    subtasks = tuple(_task(subtask, by_draft, depends, source) for subtask in draft.subtasks)
    return Task(
        id=entry.id,
        title=entry.title,
        status="done" if draft.box.ticked else "open",
        line=entry.line,
        phase=draft.phase,
        section=draft.section,
        text=_text(entry, source),
        depends_on=depends[entry.id],
        files=entry.details.files,
        verify=entry.details.verify,
        agent=entry.details.agent,
        inputs=entry.details.inputs,
        tests_may_change="tests" in entry.details.terms,
        changes_nothing="changes" in entry.details.terms,
        only_its_files="scope" in entry.details.terms,
        budget=entry.details.bounds.budget,
        timeout_s=entry.details.bounds.timeout_s,
        approve=entry.details.bounds.approve,
        needs=tuple(dict.fromkeys((*entry.details.needs, *(label for part in subtasks for label in part.needs)))),
        subtasks=subtasks,
    )


def _text(entry: _Entry, source: Source) -> str:
    """What stands below the title line as it was written, without the item's indent and its statements."""
    first = entry.draft.item.first
    covers = entry.details.covers
    first_end = first.line + len(first.lines)
    wrapped = [source.lines[line].strip() for line in range(first.line + 1, first_end) if line not in covers]
    below = [source.lines[line] for line in range(first_end, entry.draft.item.end) if line not in covers]
    return "\n".join([*wrapped, *_dedented(below)]).strip("\n")


def _dedented(lines: Sequence[str]) -> list[str]:
    """The lines without the white space that all of them start with."""
    indents = [line[: len(line) - len(line.lstrip())] for line in lines if line and not line.isspace()]
    # What the first and the last in sorted order have in common, all have.
    ends = zip(min(indents, default=""), max(indents, default=""), strict=False)
    width = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    return [line[width:] for line in lines]
