"""A unified diff of two texts, in a time that no text can make long. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from milepost.core.same_lines import Stretch, compare

_CONTEXT = 3


def unified_diff(
    before: Sequence[str], after: Sequence[str], old: str, new: str, *, line_end: str = "\n"
) -> Iterator[str]:
    """The lines of the diff, none where both are the same. `line_end` ends those that are not of the texts."""
    hunks = _hunks(compare(before, after))
    if hunks:
        yield f"--- {old}{line_end}"
        yield f"+++ {new}{line_end}"
    for hunk in hunks:
        first, last = hunk[0], hunk[-1]
        where = f"-{_range(first.old, last.old_end)} +{_range(first.new, last.new_end)}"
        yield f"@@ {where} @@{line_end}"
        for stretch in hunk:
            if stretch.same:
                yield from (f" {line}" for line in before[stretch.old : stretch.old_end])
            else:
                yield from (f"-{line}" for line in before[stretch.old : stretch.old_end])
                yield from (f"+{line}" for line in after[stretch.new : stretch.new_end])


def _hunks(stretches: Sequence[Stretch]) -> list[list[Stretch]]:
    """What changed with a few lines around it; what stands near to each other is one."""
    hunks: list[list[Stretch]] = [[]]
    for number, stretch in enumerate(stretches):
        if not stretch.same:
            hunks[-1].append(stretch)
            continue
        is_first, is_last = number == 0, number == len(stretches) - 1
        lines = stretch.old_end - stretch.old
        if is_first or is_last or lines > 2 * _CONTEXT:
            if not is_first:
                hunks[-1].append(_head(stretch, min(lines, _CONTEXT)))
            hunks.append([] if is_last else [_tail(stretch, min(lines, _CONTEXT))])
        else:
            hunks[-1].append(stretch)
    return [hunk for hunk in hunks if any(not stretch.same for stretch in hunk)]


def _head(stretch: Stretch, lines: int) -> Stretch:
    old, new = stretch.old, stretch.new
    return Stretch(same=True, old=old, old_end=old + lines, new=new, new_end=new + lines)


def _tail(stretch: Stretch, lines: int) -> Stretch:
    old_end, new_end = stretch.old_end, stretch.new_end
    return Stretch(same=True, old=old_end - lines, old_end=old_end, new=new_end - lines, new_end=new_end)


def _range(start: int, end: int) -> str:
    lines = end - start
    if lines == 1:
        return str(start + 1)
    return f"{start + 1 if lines else start},{lines}"
