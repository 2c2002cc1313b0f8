"""A command to be run in the sandbox, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, assert_never

from milepost.core.errors import SettingInvalid

Termination = Literal[
    "exited", "signalled", "timeout", "idle", "output", "killed", "not_started",
    "memory", "cpu", "disk", "processes", "steps",
]  # fmt: skip
RAN_OUT_OF_TIME = "ran out of time"
Stream = Literal["stdout", "stderr"]


class TrustLevel(StrEnum):
    """How far code is trusted, and so how firmly it is held."""

    LOCAL = "local"
    ISOLATED = "isolated"
    SANDBOXED = "sandboxed"


def trust_named(name: str) -> TrustLevel:
    """The trust level of this name."""
    try:
        return TrustLevel(name)
    except ValueError:
        names = ", ".join(level.value for level in TrustLevel)
        raise SettingInvalid(f"there is no trust level {name!r}", f"the levels are {names}") from None


NetworkMode = Literal["none", "loopback", "hosts", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What a guest may reach over a network.

    `loopback` is a loopback of its own: what it starts itself, and nothing of the host. With `hosts` it also reaches
    those, through a proxy that keeps a log: `example.org`, `*.example.org`, `example.org:8443`, or a port of this
    machine as `127.0.0.1:5432`. `open` is no wall at all.
    """

    mode: NetworkMode = "none"
    hosts: tuple[str, ...] = ()


NO_NETWORK = Network()
OWN_LOOPBACK = Network(mode="loopback")
OPEN_NETWORK = Network(mode="open")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a guest may use together with all that it starts; None leaves a thing unbounded.

    `memory_mb`, `processes` (threads count too), `disk_mb` and `inodes` (what it adds to its folders) are of the whole
    tree; `cpu_s`, `file_mb` (the longest file) and `open_files` of each process.
    """

    memory_mb: int | None = None
    processes: int | None = 4096
    disk_mb: int | None = None
    inodes: int | None = None
    cpu_s: float | None = None
    file_mb: int | None = None
    open_files: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run: argv, never a shell. `writable` and `readable` add to what the level allows.

    It may write to `cwd`, wherever that leads: for a folder in one that other commands wrote to, that one belongs into
    `writable`, and a link out of it is refused.

    `env` is all that the program sees beside the few variables every command gets.
    """

    argv: tuple[str, ...]
    cwd: Path
    scratch: Path
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    timeout_s: float = 600.0
    idle_timeout_s: float | None = None
    stall_timeout_s: float | None = None  # how long it may say nothing and compute nothing, where that can be seen
    output_bytes: int = 1_000_000
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: Network = NO_NETWORK
    offline: bool = False  # it is to reach nothing, whatever its terminal would let it
    bounds: Bounds = field(default_factory=Bounds)
    about: str = ""  # what is told of it where failing is no trouble
    lines_are_parsed: bool = False  # whoever listens reads them as JSON and redacts what it passes on itself
    lines_are_signed: bool = False  # some of them are for whoever listens alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of output, as it appears."""

    stream: Stream
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """How a command ended. `exit_code` is None unless it exited by itself.

    `refused` are the things the sandbox did not let it do, as far as the sandbox was asked: `connect 10.0.0.1:80`.
    """

    termination: Termination
    exit_code: int | None
    stdout: str
    stderr: str
    duration_ms: int
    enforced: tuple[str, ...]
    error: str = ""
    refused: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        return self.termination == "exited" and self.exit_code == 0


def ending_in_words(result: CommandResult, *, program: str, timeout_s: float) -> str:
    """How a command ended: `exit 1`, `timed out after 600 s`, `was ended by SIGSEGV`, `not found: make`."""
    match result.termination:
        case "exited":
            return f"exit {result.exit_code}"
        case "timeout":
            why = "" if result.error in ("", RAN_OUT_OF_TIME) else f": {result.error}"
            return f"timed out after {timeout_s:g} s{why}"
        case "idle":
            return f"was stopped: it {result.error or 'said nothing for too long'}"
        case "output" | "memory" | "cpu" | "disk" | "processes" | "steps":
            return f"was stopped: it {result.error or 'used too much'}"
        case "signalled" | "killed":
            return f"was {result.error or 'ended by a signal'}"
        case "not_started":
            lost = (f"{program!r} is not on PATH", f"{program!r} does not exist")
            return f"not found: {program}" if result.error.startswith(lost) else f"could not start: {result.error}"
        case _ as never:
            assert_never(never)


def enforced_by_all(held: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What the sandbox held for every command, in the order in which it is told of the first."""
    if not held:
        return ()
    first, *others = held
    return tuple(name for name in first if all(name in other for other in others))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLimits:
    """What a session of an executor may use; `timeout_s`, `output_bytes` and `cpu_s` are for one `run` of it.

    `steps` is how many runs it has, until `reset`.
    """

    timeout_s: float = 30.0
    memory_mb: int = 256
    output_bytes: int = 10_000
    steps: int = 10
    cpu_s: float | None = None
    processes: int = 64
    open_files: int = 256
    file_mb: int = 64
    disk_mb: int = 256
    inodes: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionResult:
    """What came of running code. `error` (while it `exited`), `final_value` and `verified_by` are the code's own word.

    The rest are facts. `forged` says that the code had put answers on its channel that nobody had asked for.
    """

    output: str
    is_final: bool = False
    final_value: Any = None
    verified_by: str | None = None
    error: str | None = None
    timeout: bool = False
    termination: Termination = "exited"
    duration_ms: int = 0
    memory_used_bytes: int = 0
    truncated: bool = False
    forged: bool = False
    enforced: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        return self.error is None and not self.timeout
