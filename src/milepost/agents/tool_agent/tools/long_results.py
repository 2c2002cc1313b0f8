"""Results that are too long for a conversation: kept whole in a file, told in part."""

from __future__ import annotations

from itertools import count

from milepost.agents.clip import clip
from milepost.agents.tool_agent.tools.text import LONGEST_LINE
from milepost.core.attempt import Workspace
from milepost.sandbox.confined import ConfinedFolder, PathRefused

LONGEST_RESULT = 30_000
PREVIEW = 6_000

_PREFIX = "result:"


class LongResults:
    """The long results of one attempt, by names such as `result:7`; they outlive the process where the attempt does.

    Every use of a tool takes a name, needed or not: after a crash each gets its own again.
    """

    def __init__(self, workspace: Workspace) -> None:
        root = workspace.kept or workspace.scratch
        root.mkdir(parents=True, exist_ok=True)
        self._folder = ConfinedFolder(root)
        self._numbers = count(1)

    def new_name(self) -> str:
        return f"{_PREFIX}{next(self._numbers)}"

    def told(self, name: str, text: str) -> str:
        """`text` as it is told to the model: whole, or its two ends and the name under which it can be read."""
        if len(text) <= LONGEST_RESULT:
            return text
        try:
            self._folder.write(_file(name), _folded(text).encode("utf-8", "backslashreplace"))
        except PathRefused:
            return f"{clip(text, PREVIEW)}\nThe rest could not be kept."
        return f"{clip(text, PREVIEW)}\nAll of it is in {name}: read_file reads it by that name, part by part."

    def read(self, name: str) -> bytes | None:
        """The whole result of a name; None when it is no such name."""
        number = name.removeprefix(_PREFIX)
        if number == name or not (number.isascii() and number.isdigit()):
            return None
        try:
            return self._folder.read(_file(name))
        except PathRefused:
            raise PathRefused(f"there is no {name}") from None


def _file(name: str) -> str:
    return f"results/{name.removeprefix(_PREFIX)}.txt"


def _folded(text: str) -> str:
    """`text` with no line longer than can be shown."""
    return "\n".join(
        line[start : start + LONGEST_LINE]
        for line in text.split("\n")
        for start in range(0, max(1, len(line)), LONGEST_LINE)
    )
