"""What a task was like from its first attempt to its verdict: all that lessons are distilled from.

The engine builds it from git and from the checks that it ran itself. Every text in it is somebody else's.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file as it was at the base and as an attempt left it; None where it is not there."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """A check that the engine ran: by which command, how it ended, the tests that failed and passed on one tree.

    `of_the_task` means that the command is the task's own, as its Verify line says.
    """

    name: str
    argv: tuple[str, ...] = ()
    exit_code: int | None = None
    outcome: str = ""
    duration_ms: int = 0
    flaky: tuple[str, ...] = ()
    of_the_task: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedAttempt:
    """One verified attempt: whether it passed, the error that it failed with, what it changed since the base.

    `known_by` are the signatures by which lessons of that error are found; none where it is not certain which one
    was mended. `error_class` and `signature` are of the same error then.
    """

    episode: str
    agent: str = ""
    passed: bool
    signature: str = ""
    error_class: str = ""
    known_by: tuple[str, ...] = ()
    changes: tuple[FileChange, ...] = ()
    checks: tuple[CheckRun, ...] = ()
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    """A task with its attempts, oldest first: the last one passed, or none did.

    `changed_before` has the files of each earlier verified milepost of the project, oldest first; `commands_before`
    has the commands by which checks of other tasks passed, without those of Verify lines.
    """

    project: str
    task: str
    title: str
    text: str = ""
    files: tuple[str, ...] = ()
    tries: tuple[VerifiedAttempt, ...] = ()
    changed_before: tuple[tuple[str, ...], ...] = ()
    commands_before: tuple[tuple[str, ...], ...] = ()
    at: float = 0.0

    @property
    def accepted(self) -> VerifiedAttempt | None:
        """The attempt that passed."""
        return self.tries[-1] if self.tries and self.tries[-1].passed else None

    @property
    def failed(self) -> tuple[VerifiedAttempt, ...]:
        """The attempts that did not pass."""
        return tuple(one for one in self.tries if not one.passed)
