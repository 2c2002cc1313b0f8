"""How a roadmap is to be read: by which name it goes, in which dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Dialect = Literal["auto", "boxes", "emoji", "table", "words", "todo.txt", "bullets", "backlog", "task-master"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """What is known of a roadmap before it is read.

    `name` is that of the file; `dialect` the one that the settings name, or `auto`: the surest that it is written in.
    `parents` says that a task above others is ticked when all below it are. `projects` are those whose tasks may be
    waited for: each way to call one, folded, with its name, which is empty for the roadmap's own. `tag` names the list
    that is meant of a file with several.
    """

    name: str = ""
    dialect: Dialect = "auto"
    parents: bool = True
    projects: tuple[tuple[str, str], ...] = ()
    tag: str = ""


PLAIN = Manner()
