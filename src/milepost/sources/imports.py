"""Which of some files import which others of them, directly or through files between them."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice, takewhile

from milepost.sources.javascript_modules import SUFFIXES as SCRIPTS
from milepost.sources.javascript_modules import imports_of, resolve
from milepost.sources.paths import folders_above, joined
from milepost.sources.python_modules import home_of, imported_names, roots_for, told_roots

MOST_FILES, MOST_BYTES = 2_000, 20_000_000
MOST_NAMED, MOST_INSIDE = 300, 200
SUFFIXES = (".py", *SCRIPTS)

_MANIFEST = "pyproject.toml"
_GLOB_SIGNS = frozenset("*?[")

Texts = Callable[[Sequence[str]], Mapping[str, str]]
Graph = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports:
    """For each name, the others that it imports, each with the file that leads there: empty for a direct import.

    `cut` says that there was more to read than is read.
    """

    found: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cut: bool = False


def is_source(name: str) -> bool:
    """Whether what has this name has imports that can be read: Python, JavaScript, TypeScript, or a folder of it."""
    bare = name.rstrip("/")
    return bare.endswith(SUFFIXES) or "." not in bare.rpartition("/")[2] or not _GLOB_SIGNS.isdisjoint(bare)


def imports_among(names: Iterable[str], files: Collection[str], texts: Texts) -> Imports:
    """The imports among named files, folders and globs of a repository that has these `files`.

    `texts` reads several files at once. What is named and not there yet may be imported already.
    """
    wanted = [name for name in dict.fromkeys(names) if is_source(name)]
    listing = sorted(file for file in files if file.endswith(SUFFIXES))
    inside = {name: found for name in wanted[:MOST_NAMED] if (found := tuple(_inside(name, listing)))}
    if len(inside) < 2:
        return Imports()
    starts = dict.fromkeys(file for found in inside.values() for file in found)
    graph, cut = _graph(starts, {*files, *starts}, texts)
    owners: dict[str, list[str]] = {}
    for name, found in inside.items():
        for file in found:
            owners.setdefault(file, []).append(name)
    reached = {name: _reached(name, found, graph, owners) for name, found in inside.items()}
    return Imports(
        found={name: others for name, others in reached.items() if others}, cut=cut or len(wanted) > MOST_NAMED
    )


def _inside(name: str, listing: Sequence[str]) -> Iterator[str]:
    """The source files that a name means: itself, those of a folder, those that a glob matches."""
    bare = name.rstrip("/")
    if bare.endswith(SUFFIXES) and _GLOB_SIGNS.isdisjoint(bare):
        yield bare
    elif _GLOB_SIGNS.isdisjoint(bare):
        start = f"{bare}/"
        within = islice(listing, bisect_left(listing, start), None)
        yield from islice(takewhile(lambda file: file.startswith(start), within), MOST_INSIDE)
    else:
        yield from islice((file for file in listing if fnmatchcase(file, bare)), MOST_INSIDE)


def _graph(starts: Iterable[str], there: Collection[str], texts: Texts) -> tuple[Graph, bool]:
    """What the files import that can be come to from these, and whether some of them are beyond the bounds."""
    exists = there.__contains__
    roots = _roots(there, texts)
    graph: dict[str, Sequence[str]] = {}
    todo = list(starts)
    size = 0
    while todo:
        room = MOST_FILES - len(graph)
        if len(todo) > room or size > MOST_BYTES:
            return graph, True
        found = texts(todo)
        size += sum(map(len, found.values()))
        for file in todo:
            graph[file] = tuple(_imported(file, found.get(file, ""), roots, exists))
        todo = list(dict.fromkeys(other for file in todo for other in graph[file] if other not in graph))
    return graph, False


def _roots(there: Collection[str], texts: Texts) -> tuple[str, ...]:
    told = list(told_roots(texts((_MANIFEST,)).get(_MANIFEST))) if _MANIFEST in there else []
    plain = (entry.rstrip("/").removeprefix("./") for entry in (*told, "src"))
    return (*dict.fromkeys(entry for entry in plain if entry not in ("", ".")), "")


def _imported(file: str, text: str, roots: tuple[str, ...], exists: Callable[[str], bool]) -> Iterator[str]:
    """The files of the repository that the text of one imports."""
    if file.endswith(".py"):
        found = _by_python(file, text, roots, exists)
    else:
        targets = (resolve(file, one.target, exists) for one in imports_of(text))
        found = (target for target in targets if target is not None and target.endswith(SCRIPTS) and exists(target))
    return (other for other in dict.fromkeys(found) if other != file)


def _by_python(file: str, text: str, roots: tuple[str, ...], exists: Callable[[str], bool]) -> Iterator[str]:
    folder = folders_above(file)[0]
    _, in_package = home_of(file, roots, exists)
    places = roots_for(file, roots, exists) + (() if in_package else (folder,))
    # Relative imports are given from the top of the repository, which is the last place that is looked at.
    resolved = {name: _module_file(name, places, exists) for name in imported_names(text, folder.replace("/", "."))}
    # `from package import module` is about the module, though Python reads the package's own file on the way.
    ways = {name.rpartition(".")[0] for name, target in resolved.items() if target is not None}
    for name, target in sorted(resolved.items()):
        if target is not None and not (name in ways and target.endswith("__init__.py")):
            yield target


def _module_file(name: str, places: Sequence[str], exists: Callable[[str], bool]) -> str | None:
    path = name.replace(".", "/")
    candidates = (joined(place, f"{path}{ending}") for place in (*places, "") for ending in (".py", "/__init__.py"))
    return next(filter(exists, candidates), None) if name else None


def _reached(name: str, starts: Sequence[str], graph: Graph, owners: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
    """The names that these files come to, each with the first file on the way there."""
    found: dict[str, str] = {}
    seen = set(starts)
    todo = deque((file, "") for file in starts)
    while todo:
        file, through = todo.popleft()
        for other in graph.get(file, ()):
            if other in seen:
                continue
            seen.add(other)
            for owner in owners.get(other, ()):
                if owner != name:
                    found.setdefault(owner, through)
            todo.append((other, through or other))
    return found
