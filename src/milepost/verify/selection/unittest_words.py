"""Which files and tests the words of `python -m unittest` mean in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

_WITH_VALUE = ("-k", "--durations")
_DISCOVERY = {
    "-s": "start",
    "--start-directory": "start",
    "-p": "pattern",
    "--pattern": "pattern",
    "-t": "top",
    "--top-level-directory": "top",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """`only` are the ids below which tests are wanted, none for all of `files`; `patterns` are those of `-k`.

    `lost` are names for which there is no file.
    """

    files: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def wants(self, id_: str) -> bool:
        """Whether a test is among those that `-k` chooses, by its id or the name that unittest has for it."""
        dotted = id_.replace(".py::", ".").replace("/", ".").replace("::", ".")
        globs = [pattern if "*" in pattern else f"*{pattern}*" for pattern in self.patterns]
        return not globs or any(fnmatchcase(dotted, glob) for glob in globs)


def wanted(words: tuple[str, ...], folder: Path) -> Wanted:
    """What the words of a call in `folder` ask for."""
    names, patterns, settings = _taken_apart(words)
    if not names or names[0] == "discover":
        start, pattern = (*names[1:3], "", "")[:2]
        start = settings.get("start", start) or "."
        place = folder / start if (folder / start).is_dir() else folder / start.replace(".", "/")
        if not place.is_dir():
            return Wanted(lost=(start,))
        found = discovered(place, settings.get("pattern", pattern) or "test*.py")
        return Wanted(files=tuple(path.relative_to(folder).as_posix() for path in found), patterns=patterns)
    ids = {name: _id_of(name, folder) for name in names}
    found_ids = tuple(id_ for id_ in ids.values() if id_)
    return Wanted(
        files=tuple(dict.fromkeys(id_.partition("::")[0] for id_ in found_ids)),
        only=found_ids,
        patterns=patterns,
        lost=tuple(name for name, id_ in ids.items() if not id_),
    )


def discovered(folder: Path, pattern: str) -> Iterator[Path]:
    """The files that discovery finds: it goes down into packages only."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and fnmatchcase(path.name, pattern) and path.suffix == ".py":
            yield path
        elif path.is_dir() and not path.is_symlink() and (path / "__init__.py").is_file():
            yield from discovered(path, pattern)


def _taken_apart(words: tuple[str, ...]) -> tuple[list[str], tuple[str, ...], dict[str, str]]:
    names: list[str] = []
    patterns: list[str] = []
    settings: dict[str, str] = {}
    todo = list(words)
    while todo:
        word = todo.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            names.append(word)
        elif name in _WITH_VALUE or name in _DISCOVERY:
            value = value if equals else todo.pop(0) if todo else ""
            if name == "-k":
                patterns.append(value)
            elif name in _DISCOVERY:
                settings[_DISCOVERY[name]] = value
        elif word.startswith("-k"):
            patterns.append(word[2:])
    return names, tuple(patterns), settings


def _id_of(name: str, folder: Path) -> str:
    """The id of what a name means: a file, a class or a test in it; empty where there is no such file."""
    file = name.partition("::")[0]
    if file.endswith(".py"):
        return name if (folder / file).is_file() else ""
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        path = "/".join(parts[:at])
        for candidate in (f"{path}.py", f"{path}/__init__.py"):
            if (folder / candidate).is_file():
                return "::".join((candidate, *parts[at:]))
    return ""
