"""A conflict as the agent that wrote one side of it is told of it: short, every line of it marked as somebody's."""

from __future__ import annotations

from collections.abc import Iterator

from milepost.workspace.merge import Conflicted, Conflicts
from milepost.workspace.reconcile.three_way import Contested, stretches

LONGEST = 3_500  # characters in all: what the next attempt is told of one check is little more
LONGEST_LINE = 160
MOST_LINES = 12  # of one side of one stretch


def conflict_evidence(conflicts: Conflicts) -> str:
    """For each file who changed it meanwhile, and the lines of both sides that do not go together."""
    told: list[str] = []
    room = LONGEST
    for number, file in enumerate(conflicts.files):
        lines = list(_fitting(_file(file), room // (len(conflicts.files) - number)))
        told += lines
        room -= sum(len(line) + 1 for line in lines)
    return "\n".join(told)


def _file(file: Conflicted) -> Iterator[str]:
    by = "; ".join(_shown(task) for task in file.landed) or "another task"
    yield f"{_shown(file.path)}: changed in the meantime by {by}"
    if file.ours is None or file.theirs is None:
        yield f"  there now: {_state(file.ours)}   as you left it: {_state(file.theirs)}"
        return
    try:
        base, ours, theirs = (_lines(side or b"") for side in (file.base, file.ours, file.theirs))
    except UnicodeDecodeError:
        yield "  not text: only one of the versions can stay"
        return
    at = 1
    for piece in stretches(base, ours, theirs) or ():
        if isinstance(piece, Contested):
            yield f"  near line {at}:"
            yield from _sides(piece)
        at += len(piece.ours if isinstance(piece, Contested) else piece.lines)


def _sides(piece: Contested) -> Iterator[str]:
    for name, lines in (("before", piece.base), ("there now", piece.ours), ("yours", piece.theirs)):
        yield from (f"    {name:<9} | {_shown(line)}" for line in lines[:MOST_LINES])
        if len(lines) > MOST_LINES:
            yield f"    {name:<9} and {len(lines) - MOST_LINES} more lines"


def _fitting(lines: Iterator[str], room: int) -> Iterator[str]:
    """The first lines that fit, and a word when others do not."""
    cut = "  and more that is not shown"
    for line in lines:
        if len(line) + len(cut) + 2 > room:
            yield cut
            return
        yield line
        room -= len(line) + 1


def _state(content: bytes | None) -> str:
    return "missing, or nothing to show" if content is None else "a file"


def _lines(content: bytes) -> tuple[str, ...]:
    return tuple(content.decode("utf-8").split("\n"))


def _shown(text: str) -> str:
    """One line of somebody else's text, cut, without what a terminal or a reader could take for something else."""
    plain = "".join(sign if sign.isprintable() or sign == "\t" else repr(sign)[1:-1] for sign in text)
    return plain if len(plain) <= LONGEST_LINE else plain[: LONGEST_LINE - 1] + "…"
