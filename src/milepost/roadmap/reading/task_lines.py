"""The lines below a task that say how it is done: its files, checks, agent, bounds, and what its author allows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import get_args

from milepost.core.task import Priority, Problem
from milepost.roadmap.reading.bounds import NO_BOUNDS, BoundKey, TaskBounds, not_a_bound, with_bound
from milepost.roadmap.reading.markdown import Block, Item, Paragraph
from milepost.roadmap.reading.odd_keys import odd_keys
from milepost.roadmap.reading.statements import Key, Statement, key_of, statements_in

# What the author allows or forbids is a closed set of words; anything else after these keys is prose.
_TERMS: dict[Key, frozenset[str]] = {
    "tests": frozenset({"may change"}),
    "changes": frozenset({"none", "nothing"}),
    "scope": frozenset({"files"}),
    "behaviour": frozenset({"same", "unchanged"}),
}
_CODE_SPAN = re.compile(r"(?<!`)(`++)(.+?)(?<!`)\1(?!`)")
_NOTE = re.compile(r"\s\([^()]*\)")
_REMARK = re.compile(r"(?<=\S)\s+[-–—]\s|:\s")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_PATTERN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_LABEL = re.compile(r"[a-z0-9][a-z0-9_.+-]{0,39}")
_PRIORITIES: dict[str, Priority] = {
    "critical": "high",
    "high": "high",
    "medium": "medium",
    "low": "low",
    "p0": "high",
    "p1": "high",
    "p2": "medium",
    "p3": "low",
}
_PRIORITY = re.compile(rf"(?:{'|'.join(_PRIORITIES)})\b")
_NOTHING = frozenset({"", "-", "–", "—", "none", "nothing", "n/a"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What the statements below one task add up to."""

    files: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    verify_hidden: tuple[str, ...] = ()
    depends: tuple[tuple[int, str], ...] = ()
    prerequisites: tuple[tuple[int, str], ...] = ()
    priority: Priority = ""
    agent: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    terms: frozenset[Key] = frozenset()
    bounds: TaskBounds = NO_BOUNDS
    covers: frozenset[int] = frozenset()
    problems: tuple[Problem, ...] = ()


NOTHING_SAID = Details()


def details_of(item: Item, inline: str = "", perhaps: str = "", after: Sequence[Block] = ()) -> Details:
    """What the author stated below a boxed item, leaving out what belongs to boxes below it.

    `inline` is what its title line says that it depends on, `perhaps` what it does if tasks are called so; `after` are
    blocks after its list that are about it, too.
    """
    first = item.first
    below = Paragraph(line=first.line + 1, lines=first.lines[1:])
    found = details_in((below, *item.blocks[1:], *after), ((item.line, inline),) if inline else ())
    return replace(found, prerequisites=((item.line, perhaps), *found.prerequisites)) if perhaps else found


def details_in(blocks: Sequence[Block], depends: tuple[tuple[int, str], ...] = ()) -> Details:
    """What the statements in some blocks add up to, with what is known to be depended on."""
    found = tuple(statements_in(blocks))
    slips = tuple(odd_keys(blocks))
    if not found:
        return Details(depends=depends, problems=slips) if depends or slips else NOTHING_SAID
    agent, inputs, prose, problems = _agent(found)
    bounds, unbounded, unclear = _bounds(found)
    told = [one for one in found if one not in prose and one not in unbounded and not _is_prose(one)]
    return Details(
        files=_unique(told, "files", files_in),
        verify=_unique(told, "verify", commands_in),
        verify_hidden=_unique(told, "verify hidden", commands_in),
        depends=(*depends, *_named(told, "depends")),
        prerequisites=tuple(_named(found, "prerequisite")),
        priority=next((priority_in(" ".join(one.values)) for one in told if one.key == "priority"), ""),
        agent=agent,
        inputs=inputs,
        needs=_unique(told, "needs", labels_in),
        terms=frozenset(statement.key for statement in told if statement.key in _TERMS),
        bounds=bounds,
        covers=frozenset(chain.from_iterable(statement.covers for statement in told)),
        problems=(*problems, *unclear, *_empty(told), *slips),
    )


def _named(statements: Sequence[Statement], key: Key) -> Iterator[tuple[int, str]]:
    for statement in statements:
        for value in statement.values if statement.key == key else ():
            if value.lower().rstrip(".") not in _NOTHING:
                yield statement.line, value


def priority_in(value: str) -> Priority:
    """The priority that a `Priority:` value starts with, or none."""
    found = _PRIORITY.match(value.strip("*_` ").lower())
    return _PRIORITIES[found[0]] if found else ""


def files_in(value: str) -> tuple[str, ...]:
    """The paths that a `Files:` value names; where some are quoted as code, the rest is prose."""
    quoted = [span for _, span in _CODE_SPAN.findall(value)]
    listed = _REMARK.split(_NOTE.sub(" ", _LINK.sub(r"\1", f" {value}")))[0]
    names = quoted or re.split(r"[,;\s]+(?:and\s+)?", listed.rstrip(" ."))
    paths = (name.strip().removeprefix("./") for name in names)
    return tuple(path for path in paths if path.lower() not in _NOTHING)


def commands_in(value: str) -> tuple[str, ...]:
    """The commands that a `Verify:` value names: what is quoted as code, else all of it."""
    quoted = [span.strip() for _, span in _CODE_SPAN.findall(value)]
    return tuple(command for command in quoted or [value.strip()] if command.lower() not in _NOTHING)


def labels_in(value: str) -> tuple[str, ...]:
    """The labels of a worker that a `Needs:` value names, a word each; none where it is a sentence."""
    parts = [part.strip("` ").lower() for part in value.strip().rstrip(".").split(",")]
    return tuple(parts) if all(_LABEL.fullmatch(part) and part not in _NOTHING for part in parts) else ()


def is_statement(text: str) -> bool:
    """Whether a line says how a task is done: `Files: a.py`."""
    return key_of(text) is not None


def _agent(
    statements: Sequence[Statement],
) -> tuple[str, tuple[tuple[str, str], ...], list[Statement], list[Problem]]:
    """Who is to do the task, with which inputs; the `Pattern:` lines that turned out to be prose; what was odd."""
    agent = ""
    inputs: tuple[tuple[str, str], ...] = ()
    prose: list[Statement] = []
    problems: list[Problem] = []
    for statement in statements:
        value = " ".join(statement.values).strip().strip("`").strip()
        if statement.key not in ("agent", "pattern") or not value:
            continue
        named: tuple[str, tuple[tuple[str, str], ...]] | None = (value, ())
        if statement.key == "pattern":
            named = _pattern(value)
        line = statement.line + 1
        if named is None:
            prose.append(statement)
            message = f"{value!r} does not name a pattern: write `Pattern: NAME key=value …`, quoted as in a shell"
            problems.append(Problem(line=line, message=message))
        elif agent:
            problems.append(Problem(line=line, message=f"the task already has the agent {agent}: this line is ignored"))
        else:
            agent, inputs = named
    return agent, inputs, prose, problems


def _bounds(statements: Sequence[Statement]) -> tuple[TaskBounds, list[Statement], list[Problem]]:
    """What is bounded; the lines that turned out to be prose; what is said of those."""
    bounds = NO_BOUNDS
    prose: list[Statement] = []
    problems: list[Problem] = []
    for statement in statements:
        value = ", ".join(statement.values).strip()
        if statement.key not in get_args(BoundKey) or not value:
            continue
        key: BoundKey = statement.key  # type: ignore[assignment]
        wider = with_bound(bounds, key, value)
        if wider is None:
            prose.append(statement)
            problems.append(Problem(line=statement.line + 1, message=not_a_bound(key, value)))
        else:
            bounds = wider
    return bounds, prose, problems


def _is_prose(statement: Statement) -> bool:
    """Whether a line that begins like a term is a sentence: `Tests: cover the edge cases` allows nothing."""
    if statement.key == "needs":
        return not all(labels_in(value) for value in statement.values)
    if statement.key == "priority":
        return not priority_in(" ".join(statement.values))
    # What a prerequisite is about may be a task, a phase or neither: it is looked up, and stays in the text.
    if statement.key == "prerequisite":
        return True
    said = " ".join(statement.values).strip().rstrip(".").strip("` ").lower()
    return statement.key in _TERMS and said not in _TERMS[statement.key]


def _pattern(value: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    try:
        name, *words = shlex.split(value)
    except ValueError:
        return None
    pairs = tuple(word.partition("=") for word in words)
    if not _PATTERN_NAME.fullmatch(name) or not all(key and equals for key, equals, _ in pairs):
        return None
    return f"pattern:{name}", tuple((key, given) for key, _, given in pairs)


def _unique(statements: Sequence[Statement], key: Key, parts: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for statement in statements:
        for value in statement.values if statement.key == key else ():
            found.update(dict.fromkeys([value] if statement.verbatim else parts(value)))
    return tuple(found)


def _empty(statements: Sequence[Statement]) -> Iterator[Problem]:
    for statement in statements:
        if not any(statement.values):
            yield Problem(line=statement.line + 1, message=f"this {statement.key} line names nothing")
