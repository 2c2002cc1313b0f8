"""What the host does for the code of a step: runs its commands, keeps its notes, takes its word that it gives up."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from typing import Any

from milepost.agents.code_agent.scratchpad import Note, Pad, one_line
from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.shell_line import words_of
from milepost.core.attempt import Workspace
from milepost.core.commands import Command, ending_in_words
from milepost.core.ports import Tools

LONGEST_STREAM = 100_000


class HostFunctions:
    """The functions of the host for the code of one step, and what it did with them.

    Code calls them from another process: what they are given is anything that JSON can hold. `say` is told of commands
    as they begin.
    """

    def __init__(
        self,
        workspace: Workspace,
        tools: Tools,
        *,
        pad: Pad,
        timeout_s: float,
        say: Callable[[str], None],
    ) -> None:
        self._workspace = workspace
        self._tools = tools
        self._pad = pad
        self._deadline = time.monotonic() + timeout_s
        self._say = say
        self.notes: list[Note] = []
        self.enforced: list[tuple[str, ...]] = []
        self.gave_up: str | None = None

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        return {name: getattr(self, name) for name in FUNCTIONS}

    def execute(self, command: str | list[str], timeout_s: float | None = None) -> dict[str, Any]:
        """Run a shell command, or a list of its words: gives {'exit_code', 'stdout', 'stderr', 'ended'}."""
        words = _words(command)
        if refusal := self._tools.judge(words):
            self._say(f"refused: {shlex.join(words)[:200]}")
            raise PermissionError(f"this command is not allowed: {refusal}")
        bounds = [self._deadline - time.monotonic(), self._tools.seconds_for(words)]
        if timeout_s is not None:
            bounds.append(float(timeout_s))
        if min(bounds) <= 0:
            raise TimeoutError("there is no time left for a command")
        started = Command(
            argv=words,
            cwd=self._workspace.folder,
            scratch=self._workspace.scratch,
            env=GIT_IDENTITY,
            timeout_s=min(bounds),
            idle_timeout_s=self._tools.idle_timeout_s,
            output_bytes=LONGEST_STREAM,
        )
        self._say(f"running {shlex.join(words)[:200]}")
        result = self._tools.terminal.run(started)
        self.enforced.append(result.enforced)
        return {
            "exit_code": result.exit_code,
            "stdout": self._tools.redact(result.stdout),
            "stderr": self._tools.redact(result.stderr),
            "ended": ending_in_words(result, program=words[0], timeout_s=started.timeout_s),
        }

    def store(self, name: str, value: Any) -> None:
        """Keep a plain value on the scratchpad, where later steps and questions see it."""
        self._note(Note(kind="variable", name=one_line(name), value=value))

    def recall(self, name: str) -> Any:
        """A value that was stored."""
        return self._pad.recalled(one_line(name))

    def observe(self, text: str) -> None:
        """Note something that you found out."""
        self._note(Note(kind="observation", text=self._line(text)))

    def fail(self, approach: str, why: str) -> None:
        """Note an approach that failed, so that you do not try it again."""
        self._note(Note(kind="failed", name=self._line(approach), text=self._line(why)))

    def uncertain(self, why: str) -> None:
        """Say that you are not sure, and why."""
        self._note(Note(kind="uncertain", text=self._line(why)))

    def explore(self, what: str) -> None:
        """Say what you are about to find out."""
        self._note(Note(kind="explore", text=self._line(what)))

    def commit(self, plan: str) -> None:
        """Say which plan you will follow from now on."""
        self._note(Note(kind="commit", text=self._line(plan)))

    def give_up(self, reason: str) -> None:
        """End the attempt after this step because the task cannot be done."""
        self.gave_up = self._line(reason)

    def _note(self, note: Note) -> None:
        self._pad.add(note)
        self.notes.append(note)

    def _line(self, text: object) -> str:
        return one_line(self._tools.redact(str(text)))


FUNCTIONS = ("execute", "store", "recall", "observe", "fail", "uncertain", "explore", "commit", "give_up")


def _words(command: object) -> tuple[str, ...]:
    argv = words_of(command) if isinstance(command, str) and command.strip() else command
    if not isinstance(argv, list | tuple) or not argv or not all(isinstance(word, str) for word in argv):
        raise TypeError("a command is a text such as 'python -m pytest', or a list of its words")
    if any("\0" in word for word in argv):
        raise ValueError("the command holds a NUL character")
    return tuple(argv)
