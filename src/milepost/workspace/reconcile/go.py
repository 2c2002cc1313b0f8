"""Go: imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from milepost.workspace.reconcile.file_kind import Kind, Proposed, newly, one_a_line, repeated
from milepost.workspace.reconcile.list_entries import Lines, ListEntry, ListReading

LONGEST_LINE = 1_000
_IMPORT = re.compile(r"\s*(?:import\s+)?(?:([\w.]+)\s+)?\"([^\"\s]+)\"\s*(?://.*)?")
_BLOCK = re.compile(r"import\s*\(\s*(?://.*)?")
_BEFORE = re.compile(r"\s*|\s*//.*|package\s+\w+\s*(?://.*)?")
_VERSION = re.compile(r"v\d+")


def _imports(lines: Lines) -> tuple[ListEntry, ...] | None:
    return one_a_line(
        lines, lambda line: ListEntry(key=line.strip(), lines=(line,)) if _IMPORT.fullmatch(line) else None
    )


def _holds(proposed: Proposed) -> bool:
    """Whether every line is an import of its file, and no two packages have one name there."""
    found = dict(imports_at_the_top(proposed.result))
    everywhere = all(number in found for spot in proposed.spots for number in spot.filled)
    uses_c = any('"C"' in line for line in found.values())  # with a comment that is code, just before it
    return everywhere and not uses_c and not newly(_twice, proposed)


def imports_at_the_top(text: str) -> Iterator[tuple[int, str]]:
    """The lines that import, with their numbers, up to the first that does something else."""
    inside = comment = False
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            return
        if comment or line.lstrip().startswith("/*"):
            before, ended, rest = line.partition("*/")
            comment = not ended
            if rest.strip() or (not comment and before.strip() and inside):
                return
        elif not inside and _BLOCK.fullmatch(line):
            inside = True
        elif inside and line.strip().startswith(")"):
            inside = False
        elif _IMPORT.fullmatch(line) and inside != line.startswith("import"):
            yield number, line
        elif not _BEFORE.fullmatch(line):
            return


def _twice(text: str) -> frozenset[str]:
    return repeated(name for _, line in imports_at_the_top(text) if (name := _name(line)) not in ("_", "."))


def _name(line: str) -> str:
    """What a package is called in its file, as far as its path tells."""
    found = _IMPORT.fullmatch(line)
    if found is None:
        return ""
    *folders, last = found[2].split("/")
    return found[1] or (folders[-1] if folders and _VERSION.fullmatch(last) else last.partition(".v")[0])


def _by_path(entry: ListEntry) -> str:
    found = _IMPORT.fullmatch(entry.lines[-1])
    return found[2] if found else ""


KIND = Kind(readings=(ListReading(name="imports", read=_imports, orders=(_by_path,), seen=1),), holds=_holds)
