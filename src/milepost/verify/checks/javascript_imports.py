"""Whether what changed JavaScript and TypeScript files import from their neighbours is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from milepost.core.change import Change
from milepost.sources.javascript_modules import SUFFIXES, exports_of, imports_of, resolve
from milepost.verify.checks.tool_findings import ToolFinding, printable
from milepost.verify.programs.project_tools import is_file, plain_files, text_of
from milepost.verify.programs.python_modules import source_files

LARGEST = 400_000
TYPED = (".ts", ".mts", ".cts", ".tsx")

_MADE = re.compile(r"(^|/)(dist|build|out|vendor|third_party)/|[.-](min|bundle)\.[cm]?js$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """How many files were looked at, and what they import that is not there."""

    files: int = 0
    missing: tuple[ToolFinding, ...] = ()


def missing_neighbours(change: Change, checkout: Path) -> Neighbours:
    """What the changed files, and the files that imported what is gone now, import in vain, and did not before.

    An import that nothing answered before either is old. One that leads into a folder which git ignores leads to what
    a build makes, and nobody can tell here.
    """
    texts = {file.path: file.text_after for file in plain_files(change) if file.path.endswith(SUFFIXES)}
    gone = {file.path for file in change.files if file.is_gone and file.path.endswith((*SUFFIXES, ".json"))}
    if gone:
        texts |= {path: text for path, text in _others(checkout, gone) if path not in texts}
    texts = {path: text for path, text in texts.items() if not _is_made(path, text)}
    if not texts or _has_several_roots(checkout):
        return Neighbours()
    look = _Look(change, checkout)
    missing = [finding for path, text in texts.items() for finding in look.at(path, text)]
    return Neighbours(files=len(texts), missing=tuple(missing))


def built_folders(checkout: Path) -> frozenset[str]:
    """The names of files and folders that a build makes: what git ignores, and the usual ones."""
    lines = (text_of(checkout, ".gitignore") or "").splitlines()
    names = {line.strip().strip("/").rpartition("/")[2] for line in lines if line.strip()[:1] not in ("", "#", "!")}
    return frozenset({*names, "dist", "build", "generated", "__generated__"} - {"*", ".", ".."})


class _Look:
    """A look at one file after the other; what the files they share export is read once."""

    def __init__(self, change: Change, checkout: Path) -> None:
        self._files = {file.path: file for file in change.files}
        self._checkout = checkout
        self._built = built_folders(checkout)
        self._exports: dict[str, frozenset[str] | None] = {}

    def at(self, path: str, text: str) -> Iterator[ToolFinding]:
        file = self._files.get(path)
        old = {one.target: one.names for one in imports_of(file.text_before)} if file and file.before else {}
        for one in imports_of(text):
            found = resolve(path, one.target, self._is_there)
            if found is None:
                is_old = one.target in old and resolve(path, one.target, self._was_there) is None
                if not is_old and not self._built & set(one.target.split("/")):
                    yield ToolFinding(path=path, line=one.line, message=f"{printable(one.target)!r} does not exist")
            elif found.endswith(SUFFIXES) and one.names and not (_is_typed(path) and not _is_typed(found)):
                for name in self._unexported(one.names, found, old.get(one.target, ())):
                    yield ToolFinding(path=path, line=one.line, message=f"{printable(found)} does not export {name!r}")

    def _unexported(self, names: tuple[str, ...], found: str, old: tuple[str, ...]) -> Iterator[str]:
        """The names that a neighbour does not export, where looking can tell, and did before if they were asked for."""
        if found not in self._exports:
            self._exports[found] = exports_of(text_of(self._checkout, found) or "")
        exported = self._exports[found]
        if exported is None or all(name in exported for name in names):
            return
        file = self._files.get(found)
        before = exports_of(file.text_before) if file and file.before else exported
        for name in names:
            is_old = name in old and before is not None and name not in before
            if name not in exported and not is_old:
                yield name

    def _is_there(self, path: str) -> bool:
        return is_file(self._checkout, path)

    def _was_there(self, path: str) -> bool:
        file = self._files.get(path)
        return file.before is not None if file else self._is_there(path)


def _is_typed(path: str) -> bool:
    """Whether a file is TypeScript: what it imports from JavaScript may be declared elsewhere."""
    return path.endswith(TYPED)


def _is_made(path: str, text: str) -> bool:
    """Whether a tool made the file of many others, which it imports by names of its own."""
    return len(text) > LARGEST or _MADE.search(path) is not None


def _others(checkout: Path, gone: set[str]) -> Iterator[tuple[str, str]]:
    """The files that may import one of those that are gone, with their texts."""
    stems = {path.rpartition("/")[2].partition(".")[0] for path in gone}
    stems |= {path.split("/")[-2] for path in gone if "/" in path}
    for path in source_files(checkout, SUFFIXES):
        text = text_of(checkout, path) or ""
        if any(stem in text for stem in stems):
            yield path, text


def _has_several_roots(checkout: Path) -> bool:
    """Whether the compiler is told to lay several folders over one another: a neighbour may be in any of them."""
    return "rootDirs" in (text_of(checkout, "tsconfig.json") or "")
