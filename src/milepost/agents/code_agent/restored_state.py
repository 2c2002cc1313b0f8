"""What steps leave to the sessions after them: their code, and their variables as a session kept them.

All of it is a session's own word. Values are text to the host, and are read by nobody but a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MOST_KEPT_BYTES = 1_000_000
_MOST_KEPT_CHARACTERS = 2 * MOST_KEPT_BYTES  # as text they are longer
MOST_LOST = 1_000
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """What a step changed of what a later session needs."""

    put: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What the steps so far left."""

    blocks: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    def after(self, code: str, kept: StepState | None) -> Past:
        """The past once this step belongs to it, too; None was kept when the session did not outlive the step."""
        blocks = (*self.blocks, code)
        if kept is None:
            return replace(self, blocks=blocks)
        values = {name: text for name, text in self.values.items() if name not in kept.gone}
        values = {**values, **kept.put}
        fits = sum(map(len, values.values())) <= _MOST_KEPT_CHARACTERS
        return Past(blocks=blocks, values=values if fits else {}, names=kept.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What a new session could not get of the past, and what of that the next code needs."""

    lost: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    kept: StepState | None = None


def kept_of(told: Any) -> StepState | None:
    """What a session told of its variables; None when that is nothing that could be kept."""
    match told:
        case {"put": dict(put), "gone": list(gone), "names": list(names)}:
            words = (*put, *put.values(), *gone, *names)
            if all(isinstance(word, str) for word in words) and sum(map(len, words)) <= _MOST_KEPT_CHARACTERS:
                return StepState(put=put, gone=tuple(gone), names=tuple(names))
    return None


def begun_of(told: Any) -> Begun | None:
    """What a session told after it was given the past; None when that says nothing."""
    match told:
        case {"lost": list(lost), "needed": list(needed), "kept": kept}:
            return Begun(lost=_names(lost), needed=_names(needed), kept=kept_of(kept))
    return None


def _names(told: list[Any]) -> tuple[str, ...]:
    return tuple(str(name)[:LONGEST_NAME] for name in told[:MOST_LOST])
