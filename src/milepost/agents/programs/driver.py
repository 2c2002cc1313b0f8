"""What is known of one agent program: how it is started, and how what it prints is read.

A driver decides and does nothing: the invocation is data, and a reader turns lines into notes. Starting, watching and
ending the program, and judging its end, is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from milepost.core.calls import Usage
from milepost.core.commands import Line


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSetup:
    """What the settings say about a program: [agents.NAME] of milepost.toml.

    `env` holds all that it is given of the environment, its own key among it. `program` is the file to start instead of
    the one on PATH. An absent model or address is the program's own. A driver is given the bounds that hold for the run
    of the program that it is asked to start. One that is `clean` gets nothing of what the user or the repository set it
    up with; `servers` are those of the user's servers of tools that need a key or a host. `project` is where the user's
    roadmap is.
    """

    program: str = ""
    model: str = ""
    base_url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    max_turns: int | None = None
    max_usd: float | None = None
    clean: bool = False
    servers: tuple[str, ...] = ()
    project: Path = Path()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a program is started for.

    `home` is its private home: outside the repository, empty at first, and there again when the attempt goes on after a
    crash with the `session` that the program named. `folder` is the workspace, `files` are those that the task names.
    `users` and `projects` are the texts of settings that the driver asked for, of the user's home and the workspace.
    """

    prompt: str
    folder: Path
    home: Path
    session: str = ""
    files: tuple[str, ...] = ()
    timeout_s: float = 1800.0
    usd_left: float | None = None
    users: Mapping[str, str] = field(default_factory=dict)
    projects: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """How a program is started: `files` are written below its home first, by their paths there.

    `given` says what of servers of tools it was given or not.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionNamed:
    """The program named the session under which it can go on."""

    name: str


@dataclass(frozen=True, slots=True)
class Spoke:
    """The program's model said something."""

    text: str


@dataclass(frozen=True, slots=True)
class Stepped:
    """The program used a tool, in one short line for people; each is a turn unless the program counts its own."""

    what: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a person should know, and no work of its model."""

    what: str


@dataclass(frozen=True, slots=True)
class Turned:
    """The program's model was asked once more: so many times so far."""

    count: int


Counted = Literal["tokens", "usd"]


@dataclass(frozen=True, slots=True)
class Used:
    """What was taken so far in this run of the program; a `known` cost is what the program itself says that it was.

    Of a session that went on, what is `cumulative` counts the runs before, too. `model` is whom it asked, if it says.
    """

    usage: Usage
    cost_known: bool = False
    model: str = ""
    cumulative: frozenset[Counted] = frozenset()


Trouble = Literal["limited", "rejected", "silent", "denied"]


@dataclass(frozen=True, slots=True)
class Troubled:
    """Something stood in the way: its service is at its limit, refuses or fails, or a tool was not permitted.

    It may get over it: only what its end says counts as the end. `wait_s` is how long the service asks to wait.
    """

    kind: Trouble
    what: str
    wait_s: float | None = None


@dataclass(frozen=True, slots=True)
class ProgramEnded:
    """The program's own word that it is at its end, and whether it says that it got there."""

    fine: bool
    what: str = ""


Note = SessionNamed | Spoke | Stepped | Notice | Turned | Used | Troubled | ProgramEnded


class Reader(Protocol):
    """Reads what one run of a program prints, line by line; a line that tells nothing gives no note."""

    def read(self, line: Line) -> tuple[Note, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a program can do. `ends_itself`: it prints an event at its end, without which it has not ended well.

    `hosts` is whom it asks when no other address is set; `keys` are the variables that its key may be in, `login` the
    file below the user's home, and below its private one, that it keeps an account in. `provider` is whose prices its
    model has, where it does not say itself what it costs. `at_home` are files and folders below the user's home that
    set it up, lent to its private one; `in_project` is what it takes from a repository by itself, unless it
    `can_be_clean` and is. `settings` are of both those whose texts the driver reads.
    """

    hosts: tuple[str, ...]
    keys: tuple[str, ...]
    ends_itself: bool
    sessions: bool
    turn_limit: bool
    usd_limit: bool
    counts_tokens: bool
    counts_usd: bool
    login: str = ""
    provider: str = ""
    at_home: tuple[str, ...] = ()
    in_project: tuple[str, ...] = ()
    can_be_clean: bool = False
    settings: tuple[str, ...] = ()


class Driver(Protocol):
    """One agent program. `name` is what it is called in settings and roadmaps."""

    @property
    def name(self) -> str: ...
    @property
    def program(self) -> str:
        """The file that is looked for on PATH."""
        ...

    def capabilities(self) -> Capabilities: ...
    def version_argv(self, program: str) -> tuple[str, ...]: ...
    def invocation(self, program: str, job: Job, setup: ProgramSetup) -> Invocation: ...
    def reader(self) -> Reader: ...
