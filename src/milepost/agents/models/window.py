"""A conversation made to fit into the model's window: its beginning and its end stay, the middle is summed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import assert_never

from milepost.agents.clip import clip
from milepost.agents.models.model import Answer, Message, Prompt, Results, ToolResult
from milepost.agents.prompts import filled, quoted

FIRST_TURNS = 2
# Turns go in blocks: between two cuts the beginning stays the same, and the service's cache with it.
BLOCK = 8
LONGEST_SUMMARY = 8_000
LONGEST_NOTE = 200
CLIPS = (4_000, 1_000, 200)

Turn = tuple[Message, ...]
Size = Callable[[tuple[Message, ...]], int]


def pruned(messages: tuple[Message, ...], *, room: int, size: Size) -> tuple[Message, ...]:
    """`messages` as they are while they fit into `room`, as `size` measures it; else with their middle summed up.

    A turn, which is an answer with all that was said about it, stays whole or goes whole. What was asked first and the
    last turn always stay; when even they do not fit, long results in them are clipped, and nothing more can be done.
    """
    if size(messages) <= room:
        return messages
    shorter = messages
    for shorter in _shorter(messages):
        if size(shorter) <= room:
            return shorter
    return shorter


def _shorter(messages: tuple[Message, ...]) -> Iterator[tuple[Message, ...]]:
    """Ways to say the same in less, the longest first."""
    asked, turns = _turns(messages)
    smallest = messages
    for first in (FIRST_TURNS, 0):
        middle = max(0, len(turns) - first - 1)
        for dropped in (*range(BLOCK, middle, BLOCK), middle):
            if dropped:
                yield (smallest := _without(asked, turns, first, dropped))
    for longest in CLIPS:
        yield tuple(_clipped(message, longest) for message in smallest)


def _turns(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], tuple[Turn, ...]]:
    """What was asked first, and each answer with what followed it."""
    starts = [at for at, message in enumerate(messages) if isinstance(message, Answer)]
    asked = messages[: starts[0]] if starts else messages
    return asked, tuple(messages[start:end] for start, end in pairwise([*starts, len(messages)]))


def _without(asked: tuple[Message, ...], turns: tuple[Turn, ...], first: int, dropped: int) -> tuple[Message, ...]:
    gone = turns[first : first + dropped]
    return (
        *asked,
        *_flat(turns[:first]),
        Prompt(text=filled("tool_history", turns=str(len(gone)), summary=summary(gone))),
        *_flat(turns[first + dropped :]),
    )


def summary(turns: tuple[Turn, ...]) -> str:
    """What was said and done in some turns, in lines, between fences."""
    notes = [f"{number}. {note}" for number, turn in enumerate(turns, start=1) for note in _notes(turn)]
    return quoted("\n".join(notes), limit=LONGEST_SUMMARY)


def _notes(turn: Turn) -> Iterator[str]:
    """A line for each thing in a turn that is worth one."""
    calls = {call.id: call for message in turn if isinstance(message, Answer) for call in message.calls}
    for message in turn:
        match message:
            case Answer(text=text):
                if text.strip():
                    yield f"said: {_note(text)}"
            case Prompt(text=text):
                yield f"was told: {_note(text)}"
            case Results(results=results):
                for result in results:
                    call = calls.get(result.call)
                    asked = f"{call.name} {_note(str(dict(call.arguments)))}" if call else result.call
                    yield f"{asked} → {'failed: ' if result.failed else ''}{_note(result.text)}"
            case _ as never:
                assert_never(never)


def _note(text: str) -> str:
    line = " ".join(text[: 4 * LONGEST_NOTE].split())
    return line if len(line) <= LONGEST_NOTE else f"{line[: LONGEST_NOTE - 1]}…"


def _clipped(message: Message, longest: int) -> Message:
    match message:
        case Results(results=results):
            return Results(results=tuple(_clipped_result(result, longest) for result in results))
        case Prompt() | Answer():
            return message
        case _ as never:
            assert_never(never)


def _clipped_result(result: ToolResult, longest: int) -> ToolResult:
    return replace(result, text=clip(result.text, longest))


def _flat(turns: tuple[Turn, ...]) -> tuple[Message, ...]:
    return tuple(message for turn in turns for message in turn)
