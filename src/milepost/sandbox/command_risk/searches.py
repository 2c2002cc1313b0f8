"""What `find` does with what it finds."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.sandbox.command_risk.kinds import Piece

_RUNNING = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_NAMES = (
    "-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -ctime -atime -size -empty -newer -perm -lname "
    "-inum -samefile -user -links"
)
_NARROWING = tuple(_NAMES.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Where a search looks, what its finds are called, what it runs on them, and whether it deletes them."""

    roots: tuple[str, ...]
    targets: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...]
    deletes: bool


def found_by(piece: Piece) -> Search:
    """Read the words of a `find`."""
    words = piece.arguments
    while words and words[0] in ("-H", "-L", "-P"):
        words = words[1:]
    first = next((place for place, word in enumerate(words) if word.startswith(("-", "(", "!"))), len(words))
    roots, tests = words[:first] or (".",), words[first:]
    narrow = any(test.startswith(_NARROWING) for test in tests)
    targets = tuple(f"{root.rstrip('/')}/{'found' if narrow else '*'}" for root in roots)
    runs = [run for place, word in enumerate(tests) if word in _RUNNING for run in _runs(tests[place + 1 :], targets)]
    return Search(roots=roots, targets=targets, runs=tuple(runs), deletes="-delete" in tests)


def _runs(words: tuple[str, ...], targets: tuple[str, ...]) -> list[tuple[str, ...]]:
    end = next((place for place, word in enumerate(words) if word in (";", "\\;", "+")), len(words))
    return [tuple(word.replace("{}", target) for word in words[:end]) for target in targets]
