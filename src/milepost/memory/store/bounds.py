"""How much is kept of an episode; what goes beyond is cut, and says how much that was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from milepost.core.memories import EpisodeStep

STEPS = 1_000
EPISODE_BYTES = 10_000_000
# The start and the steps leave room for the end: its texts, what was computed, and one exhibit at least.
STEPS_BYTES = EPISODE_BYTES - 2_000_000
END_BYTES = 1_000_000
EXHIBIT_BYTES = 1_000_000
OBSERVATION_BYTES = 10_000
PARAMETERS_BYTES = 10_000
TEXT_CHARACTERS = 10_000  # of a task

LINE_BYTES = 2_000  # a title, an action, a signature
NAME_CHARACTERS = 500  # of a tool, an agent, a project: what is fit for a key
ENTRIES = 1_000  # of a list: files, evidence
LIST_BYTES = 100_000

LEFT_OUT_BY = "milepost"  # the tool of the step that stands for those that were left out


def cut(text: str, most: int) -> str:
    """A text of at most so many bytes: whole, or its beginning and its end with what was cut between them."""
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) <= most:
        return text
    room = max(0, most - len(_marker(len(encoded), "bytes").encode()))
    marker = _marker(len(encoded) - room, "bytes").encode()
    head, tail = encoded[: room - room // 2], encoded[len(encoded) - room // 2 :]
    return b"".join((head, marker, tail)).decode("utf-8", "ignore")


def cut_characters(text: str, most: int) -> str:
    """The same for characters."""
    if len(text) <= most:
        return text
    room = max(0, most - len(_marker(len(text), "characters")))
    return f"{text[: room - room // 2]}{_marker(len(text) - room, 'characters')}{text[len(text) - room // 2 :]}"


def fewer(texts: Sequence[str], each: int) -> tuple[str, ...]:
    """The first of some texts, as many as are kept of a list; the last one says how many there were beyond."""
    found, size = [], 0
    for text in texts[: ENTRIES - 1]:
        short = cut(text, each)
        size += len(short.encode("utf-8", "backslashreplace"))
        if size > LIST_BYTES:
            break
        found.append(short)
    beyond = len(texts) - len(found)
    if beyond == 1 and size <= LIST_BYTES:
        return (*found, cut(texts[-1], each))
    return (*found, f"… {beyond:,} more") if beyond else tuple(found)


def without_middle(steps: Sequence[EpisodeStep], sizes: Sequence[int], room: int) -> tuple[EpisodeStep, ...]:
    """Steps as they are kept when all are told at once: where they are too many, some in the middle are left out.

    One step stands for those, and says how many they were. All have their numbers, as if they had come one by one.
    """
    numbered = [_numbered(step, at) for at, step in enumerate(steps, start=1)]
    if len(numbered) <= STEPS and sum(sizes) <= room:
        return tuple(numbered)
    first, last, used = 0, len(numbered), 0
    while first < last and first + len(numbered) - last < STEPS - 1:
        size = sizes[first] if first <= len(numbered) - last else sizes[last - 1]
        if used + size > room:
            break
        used += size
        first, last = (first + 1, last) if first <= len(numbered) - last else (first, last - 1)
    gone = numbered[first:last]
    said = EpisodeStep(
        tool=LEFT_OUT_BY, action=f"{len(gone):,} steps left out", number=gone[0].number, at=gone[0].at or gone[-1].at
    )
    return (*numbered[:first], said, *numbered[last:])


def _numbered(step: EpisodeStep, number: int) -> EpisodeStep:
    return step if step.number else replace(step, number=number)


def _marker(count: int, unit: str) -> str:
    return f"\n… {count:,} {unit} cut …\n"
