"""The kinds of danger, and the pieces of a command line that are judged one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DangerKind = Literal[
    "filesystem", "database", "git", "cloud", "containers", "packages", "privileges", "secrets", "listed"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """Why something could do harm; `what` is the piece of a command or the path that it is about.

    `listed` is what a project's own settings name.
    """

    kind: DangerKind
    why: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One program with its words, as a shell would start it.

    `env` are the variables that are set for it alone, as `NAME=value`. `cwd` is where it would run, from the top of
    the workspace. `stdin` is what is known to be given to it, `fed_by` the piece before it in a pipeline, or a `cat`
    of the file that it reads. `writes` are the files that its output goes to. `inside` are the absolute folders that
    are free to be changed, the workspace first. `elsewhere` means in a container.
    """

    words: tuple[str, ...]
    env: tuple[str, ...] = ()
    cwd: str = ""
    stdin: str = ""
    fed_by: Piece | None = None
    writes: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    elsewhere: bool = False

    @property
    def name(self) -> str:
        return self.words[0].rpartition("/")[2].removeprefix("\\") if self.words else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[1:]


class Unreadable(Exception):
    """A command line is too long or too nested to be judged."""
