"""Names as they are kept: ids, runs, tasks, projects, agents. None of them is a place for a sentence."""

from __future__ import annotations

import re

from milepost.memory.lessons.distil.signs_of_instructions import instruction_in

LONGEST = 200  # signs of a project or an agent

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@#+-]{0,199}\Z")
_TASK = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]{0,63})?\Z")
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\U000e0000-\U000e0fff]"
)
_PROSE = re.compile(r"(?:[^\W\d_]+[,;:.!]?\s+){4}[^\W\d_]+")

_SHAPES = {"id": _ID, "episode": _ID, "lesson": _ID, "run": _TASK, "task": _TASK}


def flaw_in_name(column: str, text: str) -> str:
    """Why a text cannot be what a column names; empty where it can, and for columns that hold no name."""
    if shape := _SHAPES.get(column):
        return "" if shape.match(text) and not instruction_in(text) else f"{column} is no plain name"
    if column not in ("project", "agent"):
        return ""
    # What an agent is called may be a command with all its words, which is told to nobody.
    is_told = column == "project" and bool(instruction_in(text))
    is_name = len(text) <= LONGEST and not _UNSEEN.search(text) and not _PROSE.search(text)
    return "" if is_name and not is_told else f"{column} is no plain name"
