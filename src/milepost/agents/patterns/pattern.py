"""A pattern: named inputs in, files out, the same every time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from milepost.agents.schema import Schema


class Pattern(Protocol):
    """Writes files from inputs. Run again on its own result it changes nothing."""

    @property
    def name(self) -> str: ...

    @property
    def schema(self) -> Schema:
        """The inputs as a JSON Schema; every value is a string."""
        ...

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        """Every problem with the inputs, at once."""
        ...

    def execute(self, inputs: Mapping[str, str], folder: Path) -> tuple[str, ...]:
        """The files that were written. PatternInputsInvalid, with nothing written, when they may not be."""
        ...
