"""The recipe for a circular import: no edit is safe, but the way round can be shown."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from pathlib import PurePosixPath

from milepost.repair.recipes.parsing import Import, python_imports
from milepost.repair.recipes.recipe import Advice, Answer, RecipeTools, RepairCase

MOST_FILES = 2_000

_PARTIAL = re.compile(
    r"cannot import name '(\w+)' from partially initialized module '([\w.]+)'"
    r"|partially initialized module '([\w.]+)' has no attribute '(\w+)'"
)


class CircularImport:
    """Tells the next attempt which files import each other, line by line."""

    name = "circular import"

    def fits(self, case: RepairCase) -> bool:
        return _PARTIAL.search(case.said) is not None

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        match = _PARTIAL.search(case.said)
        if match is None:
            return None
        module, name = match[2] or match[3], match[1] or match[4]
        paths = [path for path in case.files.paths() if path.endswith(".py")][:MOST_FILES]
        sources = {path: text for path in paths if (text := case.files.text(path)) is not None}
        imports = python_imports(sources, case, tools)
        if imports is None:
            return None
        edges = graph(imports)
        start = next((path for path in edges if module in module_names(path)), "")
        way = cycle(edges, start)
        if not way:
            return None
        return Advice(
            what=f"circular import of {name}: {told(way, edges)}. Import inside the function that needs it, "
            "or move what both need into a module of its own"
        )


Edges = dict[str, dict[str, int]]


def graph(imports: Mapping[str, tuple[Import, ...]]) -> Edges:
    """Which file imports which of the others, and on what line."""
    files = {name: path for path in sorted(imports, key=len, reverse=True) for name in module_names(path)}
    edges: Edges = {path: {} for path in imports}
    for path, found in imports.items():
        for one in found:
            target = _target(path, one, files)
            if target and target != path:
                edges[path].setdefault(target, one.line)
    return edges


def cycle(edges: Edges, start: str) -> tuple[str, ...]:
    """The shortest way from a file back to itself, empty when there is none."""
    came_from: dict[str, str] = {}
    todo = deque([start])
    while todo:
        here = todo.popleft()
        for there in edges.get(here, ()):
            if there == start:
                way = [here]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return tuple(reversed(way))
            if there not in came_from:
                came_from[there] = here
                todo.append(there)
    return ()


def told(way: tuple[str, ...], edges: Edges) -> str:
    steps = [
        f"{here} (line {edges[here][there]}) imports {there}"
        for here, there in zip(way, (*way[1:], way[0]), strict=True)
    ]
    return ", ".join(steps)


def module_names(path: str) -> tuple[str, ...]:
    """The names that a file may be imported by: from the top, and from each folder above it."""
    pure = PurePosixPath(path).with_suffix("")
    parts = pure.parts[:-1] if pure.name == "__init__" else pure.parts
    return tuple(".".join(parts[start:]) for start in range(len(parts)))


def _target(path: str, one: Import, files: Mapping[str, str]) -> str:
    """The file that an import leads to: the name itself when that is a module, else the module it is taken from."""
    if one.level:
        parts = PurePosixPath(path).parts[: -one.level]
        base = ".".join((*parts, *filter(None, one.module.split("."))))
    else:
        base = one.module
    whole = f"{base}.{one.name}".strip(".") if one.name else base
    return files.get(whole) or files.get(base, "")
