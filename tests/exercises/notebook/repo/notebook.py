"""Notes in a file."""

import json
from pathlib import Path


def save(path: Path, notes: dict[str, object]) -> None:
    """Write the notes."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(notes, file)


def load(path: Path) -> dict[str, object]:
    """The notes of a file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))
