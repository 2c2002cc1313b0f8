"""A pattern: named inputs in, changes of files out, the same every time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.pending_changes import PendingChanges


class Pattern(Protocol):
    """Does mechanical work from inputs. Run again on its own result it changes nothing.

    It reads and changes files only through its site, which writes nothing before the pattern has ended well.
    """

    @property
    def name(self) -> str: ...

    @property
    def schema(self) -> Schema:
        """The inputs as a JSON Schema, whose own `description` says in one line what the pattern does."""
        ...

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        """Every problem with the inputs, at once."""
        ...

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        """Make the changes, of inputs without a problem. `Refused` says why they cannot be made there."""
        ...


def about(pattern: Pattern) -> str:
    """What a pattern does, in one line."""
    return str(pattern.schema.get("description", ""))
