"""The scratchpad of a code agent: variables, observations, failed approaches and signals, shown in every question.

What is noted is a list of plain values, which is recorded with the step that noted it: from all of them the same pad
is made again after a crash.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from milepost.agents.prompts import filled, quoted
from milepost.core.attempt import Signal, SignalKind

MOST_NOTES = 500
MOST_VARIABLES = 100
LONGEST_TEXT = 1_000
LONGEST_VALUE = 20_000
SHOWN_AT_ONCE = 20
SHOWN_OF_A_VALUE = 200
LONGEST_PAD = 8_000

SIGNALS: tuple[SignalKind, ...] = get_args(SignalKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing that code noted; `name` is a variable's or an approach's."""

    kind: Literal["variable", "observation", "failed"] | SignalKind
    text: str = ""
    name: str = ""
    value: Any = None

    def plain(self) -> dict[str, Any]:
        return {"kind": self.kind, "text": self.text, "name": self.name, "value": self.value}


@dataclass(slots=True, kw_only=True)
class Pad:
    """All that was noted so far."""

    variables: dict[str, Any] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def add(self, note: Note) -> None:
        """Take a note; ValueError when it is too long or one too many."""
        if note.kind == "variable":
            if len(json.dumps(note.value)) > LONGEST_VALUE:
                raise ValueError(f"what is stored as {note.name!r} is longer than {LONGEST_VALUE} characters")
            if len(self.variables) >= MOST_VARIABLES and note.name not in self.variables:
                raise ValueError(f"there are {MOST_VARIABLES} stored values already")
            self.variables[note.name] = note.value
        else:
            if len(self.notes) >= MOST_NOTES:
                raise ValueError(f"there are {MOST_NOTES} notes already")
            self.notes.append(note)

    def recalled(self, name: str) -> Any:
        if name not in self.variables:
            raise LookupError(f"nothing is stored as {name!r}; there is {', '.join(self.variables) or 'nothing'}")
        return self.variables[name]

    def shown(self) -> str:
        """The pad as it stands in a question; empty when nothing was noted."""
        values = [
            f"- {name} = {_short(json.dumps(value, ensure_ascii=False))}" for name, value in self.variables.items()
        ]
        failed = [f"- {note.name}: {note.text}" for note in self._of("failed")]
        signals = [f"- {signal.in_words}" for signal in signals_in(self.notes)]
        parts = [
            _part("Variables", values),
            _part("Observations", [f"- {note.text}" for note in self._of("observation")]),
            _part("Failed approaches", failed),
            _part("Signals", signals),
        ]
        text = "\n\n".join(filter(None, parts))
        return filled("code_pad", pad=quoted(text, limit=LONGEST_PAD)) if text else ""

    def copy(self) -> Pad:
        """The pad as it is now, for code that may not come to its end."""
        return Pad(variables=dict(self.variables), notes=list(self.notes))

    def _of(self, kind: str) -> Iterable[Note]:
        return (note for note in self.notes if note.kind == kind)


def signals_in(notes: Iterable[Note]) -> tuple[Signal, ...]:
    """The signals among the notes of a step."""
    return tuple(Signal(kind=kind, text=note.text) for note in notes for kind in SIGNALS if note.kind == kind)


def one_line(text: object) -> str:
    """What code gave as a text, in a line that is not too long."""
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"


def _part(title: str, lines: list[str]) -> str:
    if not lines:
        return ""
    more = len(lines) - SHOWN_AT_ONCE
    earlier = [f"- … {more} earlier"] if more > 0 else []
    return "\n".join([f"### {title}", *earlier, *lines[-SHOWN_AT_ONCE:]])


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_OF_A_VALUE else f"{text[: SHOWN_OF_A_VALUE - 1]}…"
