"""A terminal that tells which commands run on it, what they print as they print it, and how they end."""

from __future__ import annotations

import re
import secrets
import shlex
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.commands import Command, CommandResult, Line, ending_in_words
from milepost.core.errors import MilepostError
from milepost.core.events import CommandFinished, CommandStarted, Event, RunBy
from milepost.core.ports import Terminal
from milepost.core.secrets.redact import Redactor
from milepost.engine.records.check_logs import SIGNED
from milepost.engine.terminals.output_writer import Output, fit

CUT_SHORT = "was cut short"

OnLine = Callable[[Line], None]

_PYTHON = re.compile(r"^/\S*/(python[\d.]*)(?=\s|$)")
_OURS = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended: with which exit code if any, in words, and after how long."""

    exit_code: int | None
    ending: str
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTeller:
    """Tells of commands in the name of one attempt; `emit` writes an event down, and says whether its key was new."""

    run: str
    task: str
    attempt: int
    by: RunBy
    output: Output
    emit: Callable[[Event, str], bool]

    def around(self, terminal: Terminal) -> Terminal:
        """A terminal that tells what is run on another one."""
        return EventTerminal(terminal=terminal, teller=self)

    def start(self, command: Command) -> CommandStarted | None:
        """Tell that a command begins, under a name that no other of the run has; None when that cannot be written."""
        argv = argv_shown(command, self.output.redact)
        while True:
            name = secrets.token_hex(4)
            started = CommandStarted(
                run=self.run,
                task=self.task,
                attempt=self.attempt,
                command=name,
                argv=argv,
                by=self.by,
                about=command.about,
            )
            try:
                if self.emit(started, f"command/{name}/started"):
                    return started
            except MilepostError:
                return None

    def finish(self, started: CommandStarted, end: CommandEnd, unshown: int) -> None:
        """Tell how a command ended, after all that it printed, if that can be written."""
        finished = CommandFinished(
            run=self.run,
            task=self.task,
            attempt=self.attempt,
            command=started.command,
            exit_code=end.exit_code,
            ending=fit(self.output.redact(end.ending)),
            duration_ms=end.duration_ms,
            unshown=unshown,
        )
        with suppress(MilepostError):
            self.emit(finished, f"command/{started.command}/finished")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTerminal:
    """Runs commands on another terminal and tells of them; what is parsed as it comes is not shown, but for stderr.

    No command fails because it cannot be told: whatever must be written next says so.
    """

    terminal: Terminal
    teller: CommandTeller

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        began = time.monotonic()
        started = self.teller.start(command)
        if started is None:
            return self.terminal.run(command, on_line)
        printing = self.teller.output.begin(started)

        try:
            result = self.terminal.run(command, _listener(command, printing.hear, on_line))
        except BaseException:
            with suppress(MilepostError):  # what cut it short goes before
                cut = CommandEnd(None, CUT_SHORT, round((time.monotonic() - began) * 1000))
                self.teller.finish(started, cut, printing.end())
            raise
        ending = ending_in_words(result, program=command.argv[0], timeout_s=command.timeout_s)
        self.teller.finish(started, CommandEnd(result.exit_code, ending, result.duration_ms), printing.end())
        return result


def _listener(command: Command, hear: OnLine, on_line: OnLine | None) -> OnLine:
    """Who listens to a command: `hear` to what may be shown, `on_line` to all."""
    shown = hear
    if command.lines_are_parsed or command.lines_are_signed:

        def shown(line: Line) -> None:
            if line.stream == "stderr" or not _is_for_the_listener_alone(line, command):
                hear(line)

    if on_line is None:
        return shown

    def both(line: Line) -> None:
        shown(line)
        on_line(line)

    return both


def _is_for_the_listener_alone(line: Line, command: Command) -> bool:
    return command.lines_are_parsed or SIGNED.match(line.text) is not None


def argv_shown(command: Command, redact: Redactor) -> str:
    """A command as one line for a shell in its folder: without secrets, and without where things lie here."""
    line = shlex.join(command.argv)
    places = (command.cwd, "."), (command.scratch, "../scratch"), (command.scratch.parent, ".."), (_OURS, "milepost")
    for place, short in places:
        if _is_telling(place):
            line = line.replace(str(place), short)
    return fit(redact(_PYTHON.sub(r"\1", line)))


def _is_telling(place: Path) -> bool:
    """Whether a path is long enough to be meant wherever it stands."""
    return place.is_absolute() and len(place.parts) > 2
