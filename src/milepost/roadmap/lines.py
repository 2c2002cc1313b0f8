"""The lines below a task that say how it is done: its files, checks, agent, bounds, and what its author allows."""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile, zip_longest
from typing import Literal, get_args

from milepost.core.task import Problem
from milepost.roadmap.bounds import NO_BOUNDS, BoundKey, Bounds, not_a_bound, with_bound
from milepost.roadmap.markdown import Block, Fence, Item, Items, Paragraph

Key = Literal["files", "verify", "depends", "agent", "pattern", "tests", "changes", "scope", "needs", BoundKey]

_KEYS: dict[str, Key] = {
    "file": "files",
    "files": "files",
    "verify": "verify",
    "depends": "depends",
    "depends on": "depends",
    "blocked by": "depends",
    "agent": "agent",
    "pattern": "pattern",
    "tests": "tests",
    "changes": "changes",
    "scope": "scope",
    "needs": "needs",
    "budget": "budget",
    "timeout": "timeout",
    "approve": "approve",
}
# What the author allows or forbids is a closed set of words; anything else after these keys is prose.
_TERMS: dict[Key, frozenset[str]] = {
    "tests": frozenset({"may change"}),
    "changes": frozenset({"none", "nothing"}),
    "scope": frozenset({"files"}),
}
_KEYED = re.compile(
    r"(?P<open>\*\*|__)?(?P<key>files?|verify|depends(?: on)?|blocked by|agent|pattern|tests|changes|scope"
    r"|needs|budget|timeout|approve)"
    r"(?P<close>\*\*|__)?\s*:(?P<after>\*\*|__)?\s*(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
_CODE_SPAN = re.compile(r"(`+)(.+?)\1(?!`)")
_NOTE = re.compile(r"\s\([^()]*\)")
_REMARK = re.compile(r"(?<=\S)\s+[-–—]\s|:\s")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_PATTERN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_LABEL = re.compile(r"[a-z0-9][a-z0-9_.+-]{0,39}")
_NOTHING = frozenset({"", "-", "–", "—", "none", "nothing", "n/a"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One keyed line with its values, and the lines of the file it takes up, counted from 0.

    `verbatim` values stood in a block of code: each is what it says, quotes and all.
    """

    key: Key
    line: int
    values: tuple[str, ...]
    covers: frozenset[int]
    verbatim: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What the statements below one task add up to."""

    files: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    depends: tuple[tuple[int, str], ...] = ()
    agent: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    terms: frozenset[Key] = frozenset()
    bounds: Bounds = NO_BOUNDS
    covers: frozenset[int] = frozenset()
    problems: tuple[Problem, ...] = ()


def details_of(item: Item, inline: str = "") -> Details:
    """What the author stated below a boxed item, leaving out what belongs to boxes below it.

    `inline` is what its title line says that it depends on.
    """
    first = item.first
    below = Paragraph(line=first.line + 1, lines=first.lines[1:])
    found = tuple(_statements((below, *item.blocks[1:])))
    agent, inputs, prose, problems = _agent(found)
    bounds, unbounded, unclear = _bounds(found)
    told = [one for one in found if one not in prose and one not in unbounded and not _is_prose(one)]
    return Details(
        files=_unique(told, "files", files_in),
        verify=_unique(told, "verify", commands_in),
        depends=(*(((item.line, inline),) if inline else ()), *_depends(told)),
        agent=agent,
        inputs=inputs,
        needs=_unique(told, "needs", labels_in),
        terms=frozenset(statement.key for statement in told if statement.key in _TERMS),
        bounds=bounds,
        covers=frozenset(chain.from_iterable(statement.covers for statement in told)),
        problems=(*problems, *unclear, *_empty(told)),
    )


def _depends(statements: Sequence[Statement]) -> Iterator[tuple[int, str]]:
    for statement in statements:
        for value in statement.values if statement.key == "depends" else ():
            if value.lower().rstrip(".") not in _NOTHING:
                yield statement.line, value


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
    return _keyed(text) is not None


def _statements(blocks: Sequence[Block]) -> Iterator[Statement]:
    """The statements in these blocks and in unboxed items below them, in the order of the file."""
    taken: Block | None = None
    for block, following in zip_longest(blocks, blocks[1:]):
        match block:
            case Paragraph():
                for statement in _in_paragraph(block):
                    last = max(statement.covers) == block.line + len(block.lines) - 1
                    if last and following is not None and statement.values == ("",):
                        taken = following
                        yield _with_values_below(statement, following)
                    else:
                        yield statement
            case Items():
                unboxed = (item for item in block.items if item.box is None)
                plain = set(map(id, _plain_items(block))) if block is taken else set()
                for item in unboxed:
                    if id(item) not in plain:
                        yield from _statements(item.blocks)
            case _:
                pass


def _in_paragraph(paragraph: Paragraph) -> Iterator[Statement]:
    lines = deque(enumerate(paragraph.lines, paragraph.line))
    while lines:
        number, text = lines.popleft()
        keyed = _keyed(text)
        if keyed is None:
            continue
        key, value = keyed
        covers = {number}
        while lines and value.endswith((",", "\\")) and _keyed(lines[0][1]) is None:
            number, more = lines.popleft()
            value = f"{value.removesuffix(chr(92)).rstrip()} {more.strip()}"
            covers.add(number)
        yield Statement(key=key, line=min(covers), values=(value,), covers=frozenset(covers))


def _keyed(text: str) -> tuple[Key, str] | None:
    found = _KEYED.match(text.strip())
    if found is None:
        return None
    value = found["value"].strip()
    if found["open"] and not (found["close"] or found["after"]):
        value = value.removesuffix(found["open"])
    return _KEYS[found["key"].lower()], value


def _with_values_below(statement: Statement, block: Block) -> Statement:
    """The statement with what stands in the list or the fenced block after it."""
    covers = set(statement.covers)
    values: list[str] = []
    match block:
        case Items():
            for item in _plain_items(block):
                values.append(" ".join(line.strip() for line in item.first.lines))
                covers.update(range(item.line, item.end))
        case Fence() if statement.key == "verify":
            values = _script(block.code)
            covers.update(range(block.line, block.end))
        case _:
            pass
    return Statement(
        key=statement.key,
        line=statement.line,
        values=tuple(values),
        covers=frozenset(covers),
        verbatim=isinstance(block, Fence),
    )


def _plain_items(block: Items) -> list[Item]:
    """The items of a list that are values: neither tasks nor statements of their own."""
    return list(takewhile(lambda item: item.box is None and _keyed(item.first.lines[0]) is None, block.items))


def _script(code: str) -> list[str]:
    """The commands of a fenced block, one a line, without prompts and comments."""
    lines = code.replace("\\\n", " ").split("\n")
    commands = (re.sub(r"^\$\s+", "", line.strip()) for line in lines)
    return [command for command in commands if command and not command.startswith("#")]


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
            message = f"{value!r} names no pattern: write `Pattern: NAME key=value …`, quoted as in a shell"
            problems.append(Problem(line=line, message=message))
        elif agent:
            problems.append(Problem(line=line, message=f"the task already has the agent {agent}: this line is ignored"))
        else:
            agent, inputs = named
    return agent, inputs, prose, problems


def _bounds(statements: Sequence[Statement]) -> tuple[Bounds, list[Statement], list[Problem]]:
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
