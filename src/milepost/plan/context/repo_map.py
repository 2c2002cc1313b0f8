"""The map of a repository for one task: which definitions matter to it, ranked over who uses what.

Files are ranked as pages are that refer to each other: a walker goes from a file to those that define what it uses, and
starts again, every now and then, at what the task mentions. What a definition is worth is what the files that use its
name pass on to it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from milepost.plan.advice.mentions import SURELY, Mentions
from milepost.plan.context.build_context import Shown
from milepost.plan.context.tokens import size_of
from milepost.sources.grammars import language_of
from milepost.sources.tags import Definition, Tags

DAMPING = 0.85
ROUNDS = 40
CLOSE = 1e-4
COMMON = 5  # a name that so many files define tells little
EVERYWHERE = 40  # and one of so many, nothing
HINTED = 10.0  # how much more the names count that a hinted file uses
FIRM = 1.0  # the weight of staying with the task: where a file uses little that tells something, walks start again
_UNUSED = 0.01  # what a definition that nobody uses has of the rank of its file

# What lists, tables, texts and files can do in most languages: who calls it seldom means a definition of the project.
_OF_ANYTHING = frozenset(
    {
        *(
            "add",
            "all",
            "any",
            "append",
            "apply",
            "build",
            "call",
            "check",
            "clear",
            "close",
            "copy",
            "count",
            "create",
        ),
        *("data", "delete", "dumps", "emit", "encode", "end", "error", "execute", "exists", "filter", "find", "flush"),
        *(
            "format",
            "forEach",
            "get",
            "handle",
            "has",
            "index",
            "init",
            "insert",
            "items",
            "join",
            "keys",
            "list",
            "load",
        ),
        *("loads", "log", "lower", "main", "make", "map", "match", "name", "new", "next", "object", "open", "parse"),
        *("pop", "print", "push", "put", "read", "read_bytes", "read_text", "remove", "render", "replace", "reset"),
        *("result", "run", "save", "search", "send", "set", "setup", "size", "slice", "sort", "split", "start", "stop"),
        *("strip", "sub", "test", "text", "then", "toString", "trim", "update", "upper", "value", "values", "wait"),
        *("write", "write_bytes", "write_text"),
    }
)
_FAMILIES = {"TypeScript": "JavaScript", "TSX": "JavaScript", "C++": "C"}

Edges = Mapping[str, Mapping[str, float]]
Defined = Mapping[str, list[str]]  # the files that define each name


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A definition and what it is worth to the task."""

    path: str
    definition: Definition
    weight: float


def ranked(tags: Mapping[str, Tags], mentions: Mentions) -> tuple[Ranked, ...]:
    """The definitions of some files, what matters most to the task first; the same for the same."""
    defined = _defined(tags)
    uses = tuple(_uses(tags, mentions, defined))
    edges: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for use in uses:
        edges[use.by][use.path] += use.weight
    ranks = page_rank(sorted(tags), edges, _start(tags, mentions, defined))
    worth: dict[tuple[str, str], float] = defaultdict(float)
    sums = {path: FIRM + sum(goals.values()) for path, goals in edges.items()}
    for use in uses:
        worth[use.path, use.name] += ranks[use.by] * use.weight / sums[use.by]
    found = []
    for path in sorted(tags):
        for one in tags[path].definitions:
            wanted = mentions.names.get(one.name, 0.0) / len(defined[one.name])
            weight = worth[path, one.name] + wanted + _UNUSED * ranks[path]
            found.append(Ranked(path=path, definition=one, weight=weight))
    return tuple(sorted(found, key=lambda one: (-one.weight, one.path, one.definition.line)))


def page_rank(nodes: Collection[str], edges: Edges, start: Mapping[str, float]) -> dict[str, float]:
    """The rank of each node, all of them together 1; `start` says where a walk begins again, and how often."""
    places = {node: place for place, node in enumerate(nodes)}
    total = sum(start.get(node, 0.0) for node in nodes)
    begin = [start.get(node, 0.0) / total if total else 1 / len(places) for node in nodes]
    links = [
        (places[node], [(places[goal], DAMPING * weight / out) for goal, weight in goals.items()])
        for node, goals in edges.items()
        if (out := FIRM + sum(goals.values()))
    ]
    ranks = begin
    for _ in range(ROUNDS):
        passed = [0.0] * len(begin)
        for place, goals in links:
            rank = ranks[place]
            for goal, part in goals:
                passed[goal] += rank * part
        again = 1 - sum(passed)
        now = [one + again * part for one, part in zip(passed, begin, strict=True)]
        change = sum(abs(one - other) for one, other in zip(now, ranks, strict=True))
        ranks = now
        if change < CLOSE:
            break
    return dict(zip(nodes, ranks, strict=True))


def outline_within(best: tuple[Ranked, ...], tags: Mapping[str, Tags], room: int) -> Shown:
    """The best definitions that fit, file by file, each below the definitions that it stands in."""
    shown: dict[str, dict[Definition, int]] = {}
    note = f"… and {len(best)} definitions that matter less"
    left, count = room - size_of(note) - 1, 0
    for one in best:
        chain = _around(one.definition, tags[one.path].definitions)
        known = shown.get(one.path, {})
        new = {each: depth for depth, each in enumerate(chain) if each not in known}
        cost = sum(size_of(_line(each, depth)) + 1 for each, depth in new.items())
        cost += 0 if one.path in shown else size_of(one.path) + 2
        if cost > left:
            break
        left -= cost
        count += 1
        shown.setdefault(one.path, {}).update(new)
    lines = [line for path, chosen in shown.items() for line in _file_lines(path, chosen)]
    missing = sum(one.definition not in shown.get(one.path, {}) for one in best[count:])
    if missing and lines:
        lines.append(f"… and {missing} definitions that matter less")
    return Shown("\n".join(lines), cut=bool(missing))


def _file_lines(path: str, chosen: Mapping[Definition, int]) -> Iterator[str]:
    yield f"{path}:"
    for one in sorted(chosen, key=lambda each: (each.line, -each.last_line, each.name)):
        yield _line(one, chosen[one])


def _line(one: Definition, depth: int) -> str:
    return f"{one.line:>5}{'  ' * depth}  {one.signature}"


def _around(one: Definition, all_of_file: tuple[Definition, ...]) -> tuple[Definition, ...]:
    """A definition with those that it stands in, the outermost first."""
    outer = (each for each in all_of_file if each.line < one.line and each.last_line >= one.last_line)
    return (*(each for each in outer if each.kind in ("class", "interface", "module")), one)


@dataclass(frozen=True, slots=True)
class _Use:
    """A name that one file uses and another one defines, and how much that says."""

    by: str
    name: str
    path: str
    weight: float


def _defined(tags: Mapping[str, Tags]) -> Defined:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(tags):
        for name in dict.fromkeys(one.name for one in tags[path].definitions):
            found[name].append(path)
    return found


def _uses(tags: Mapping[str, Tags], mentions: Mentions, defined: Defined) -> Iterator[_Use]:
    hinted = frozenset(mentions.files)
    for by in sorted(tags):
        for name, times in tags[by].uses:
            places = defined.get(name, ())
            if not places or (len(places) > EVERYWHERE and mentions.names.get(name, 0.0) < SURELY):
                continue
            weight = _telling(name, len(places), mentions) * math.sqrt(times) * (HINTED if by in hinted else 1.0)
            kind = _family(by)
            yield from (_Use(by, name, path, weight) for path in places if path != by and _family(path) == kind)


@lru_cache(maxsize=10_000)
def _family(path: str) -> str:
    """The languages that can use what a file defines, by the name of one of them."""
    language = language_of(path)
    return _FAMILIES.get(language, language)


def _telling(name: str, places: int, mentions: Mentions) -> float:
    """How much it says that a file uses a name."""
    weight = 1.0 + 9.0 * mentions.names.get(name, 0.0)
    if len(name) >= 8 and ("_" in name.strip("_") or not (name.islower() or name.isupper())):
        weight *= 3.0
    if name.startswith("_") or (len(name) < 6 and name.islower()):
        weight *= 0.1
    if name in _OF_ANYTHING:
        weight *= 0.1
    return weight / places if places <= COMMON else weight * 0.1 / places


def _start(tags: Mapping[str, Tags], mentions: Mentions, defined: Defined) -> dict[str, float]:
    """Where walks begin: everywhere a little, mostly at what the task mentions."""
    start = dict.fromkeys(tags, 1 / max(1, len(tags)))
    for path in mentions.files:
        if path in start:
            start[path] += 10.0
    for path in start:
        stem = path.rpartition("/")[2].partition(".")[0]
        start[path] += 3.0 * mentions.names.get(stem, 0.0)
        start[path] += 1.0 * any(path.startswith(f"{folder}/") for folder in mentions.folders)
    for name, weight in mentions.names.items():
        for path in defined.get(name, ()):
            start[path] += 5.0 * weight / len(defined[name])
    return start
