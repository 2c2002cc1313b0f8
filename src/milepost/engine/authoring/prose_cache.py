"""What models read in documents, kept in the state directory: the same content is never paid for twice.

`answers` holds an answer for each content, model and prompt; `sources` for each document what was last read in it,
with the status of each item and where the roadmap was written to.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from milepost.engine.project.state_directory import make_state
from milepost.engine.project.state_lock import unwritable
from milepost.roadmap.prose.answers import FoundItems
from milepost.roadmap.prose.keep_done import KnownItem

FOLDER = "normalised"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gleaning:
    """What was last read in a document; `written` is the file of the roadmap, empty where it was not written."""

    source: str
    items: tuple[KnownItem, ...] = ()
    written: str = ""


class Gleanings:
    """The gleanings of the documents of one project."""

    def __init__(self, state: Path) -> None:
        self._state = state

    def answer(self, key: str) -> FoundItems | None:
        """The answer that was kept; None where there is none that could be read."""
        try:
            return FoundItems.model_validate_json(self._answer(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep_answer(self, key: str, found: FoundItems) -> None:
        self._put(self._answer(key), found.model_dump(mode="json"))

    def of(self, source: str) -> Gleaning:
        """What was last read in a document; nothing where it never was, or where that cannot be read."""
        try:
            return TypeAdapter(Gleaning).validate_json(self._source(source).read_bytes())
        except (OSError, ValidationError):
            return Gleaning(source=source)

    def keep(self, gleaning: Gleaning) -> None:
        self._put(self._source(gleaning.source), asdict(gleaning))

    def _answer(self, key: str) -> Path:
        return self._state / FOLDER / "answers" / f"{key}.json"

    def _source(self, source: str) -> Path:
        return self._state / FOLDER / "sources" / f"{hashlib.sha256(source.encode()).hexdigest()[:32]}.json"

    def _put(self, path: Path, value: dict[str, Any]) -> None:
        half = path.with_name(f".{path.name}.{os.getpid()}")
        make_state(self._state)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            half.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
            half.replace(path)
        except OSError as error:
            half.unlink(missing_ok=True)
            raise unwritable(path, error) from error


def key_of(content: bytes, model: str, prompt: int) -> str:
    """What an answer is kept under: the same for the same bytes, model and prompt."""
    return hashlib.sha256(b"\0".join((str(prompt).encode(), model.encode(), content))).hexdigest()
