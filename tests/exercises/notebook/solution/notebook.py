"""Notes in a file."""

import json
import os
import tempfile
from pathlib import Path


def save(path: Path, notes: dict[str, object]) -> None:
    """Write the notes whole, or not at all."""
    text = json.dumps(notes)
    handle, name = tempfile.mkstemp(dir=Path(path).parent, prefix=".notebook-")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise


def load(path: Path) -> dict[str, object]:
    """The notes of a file, none when it is not there."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
