"""An exercise: a repository with a gap, the task that closes it, and the change that really does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """`failing` are the tests that fail at the base; `gap` is a wrong beginning that lets their file be imported."""

    name: str
    language: str
    runner: str
    product: str
    tests: str
    failing: tuple[str, ...]
    function: str
    command: tuple[str, ...]
    gap: str = ""
    exports: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def repo(self) -> Path:
        return self.folder / "repo"

    @property
    def original(self) -> str:
        """The product's source at the base."""
        return (self.repo / self.product).read_text()

    @property
    def solved(self) -> str:
        """The product's source in the honest change."""
        return (self.folder / "solution" / self.product).read_text()

    @property
    def solution(self) -> dict[str, str]:
        """The honest change: the text of each file by its path."""
        root = self.folder / "solution"
        return {
            path.relative_to(root).as_posix(): path.read_text()
            for path in sorted(root.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    def task(self, task_id: str = "", extra: str = "") -> str:
        """The one task of its roadmap as lines, under another id and with further lines when they are given."""
        text = (self.folder / "ROADMAP.md").read_text()
        lines = text[text.index("- [ ]") :].rstrip("\n")
        return (lines.replace("1.1", task_id, 1) if task_id else lines) + "\n" + extra


def exercise(name: str) -> Exercise:
    """The exercise of a folder."""
    stated = json.loads((FOLDER / name / "exercise.json").read_text())
    lists = {key: tuple(value) for key, value in stated.items() if isinstance(value, list)}
    return Exercise(name=name, **{**stated, **lists})


def exercises() -> tuple[Exercise, ...]:
    """All of them, by name."""
    return tuple(exercise(path.parent.name) for path in sorted(FOLDER.glob("*/exercise.json")))
