"""The pattern agent: does a task from its inputs, without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from milepost.agents.clip import clip
from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.patterns.pattern import Pattern
from milepost.agents.patterns.pending_changes import PendingChanges, TookTooLong
from milepost.core.attempt import Assignment, Outcome, OutcomeStatus, Workspace
from milepost.core.calls import Call, Reply
from milepost.core.commands import Command, CommandResult, Line, enforced_by_all
from milepost.core.errors import MilepostError, PatternInputsInvalid
from milepost.core.ports import Tools
from milepost.sandbox.confined import PathRefused

LONGEST_SAID = 4_000


@dataclass(frozen=True, slots=True)
class PatternAgent:
    """Executes one pattern with the inputs of the task."""

    pattern: Pattern

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        commands = WalledCommands(workspace=workspace, tools=tools)
        site = PendingChanges(workspace.folder, commands)
        try:
            execute(self.pattern, _inputs_of(assignment), site)
        except PatternInputsInvalid as error:
            tools.say(error.message)
            status: OutcomeStatus = "timed_out" if isinstance(error.__cause__, TookTooLong) else "gave_up"
            return Outcome(status=status, said=clip(error.message, LONGEST_SAID), enforced=commands.enforced)
        said = [*site.remarks, *(f"wrote {path}" for path in site.written)]
        for line in said or ["nothing to change: everything is in place already"]:
            tools.say(line)
        summary = f"{self.pattern.name} wrote {', '.join(site.written) or 'nothing new'}"
        return Outcome(
            status="finished",
            said=clip("\n".join((*site.remarks, summary)), LONGEST_SAID),
            enforced=commands.enforced,
        )


def execute(pattern: Pattern, inputs: Mapping[str, str], site: PendingChanges) -> None:
    """Execute a pattern and write what it changed, unless the site is dry; PatternInputsInvalid when it may not be.

    A pattern may come from a user: one that breaks has not done its work, and nothing of it is written.
    """
    try:
        if problems := pattern.validate_inputs(inputs):
            raise PatternInputsInvalid("; ".join(problems), "correct the inputs of the task")
        pattern.execute(inputs, site)
        if not site.dry:
            site.write_out()
    except PathRefused as refusal:
        raise PatternInputsInvalid(str(refusal), "change the inputs or the existing files") from refusal
    except MilepostError:
        raise
    except Exception as error:
        message = f"the pattern {pattern.name} failed: {type(error).__name__}: {error}"
        raise PatternInputsInvalid(message, "correct the pattern") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class WalledCommands:
    """The commands of a pattern, behind the walls of the attempt; one that may change files is made once."""

    workspace: Workspace
    tools: Tools
    held: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def enforced(self) -> tuple[str, ...]:
        """What the sandbox held for every command."""
        return enforced_by_all(self.held)

    def ask(self, argv: tuple[str, ...]) -> CommandResult:
        return self._made(argv, self.tools.seconds_for(argv), aloud=False)

    def run(self, argv: tuple[str, ...], timeout_s: float | None) -> CommandResult:
        self.tools.stops.check()
        call = Call(kind="tool", name="execute", summary=" ".join(argv), request=repr(argv), changes=True, argv=argv)
        seconds = self.tools.seconds_for(argv) if timeout_s is None else timeout_s
        reply = self.tools.logbook.once(call, lambda: Reply(body=asdict(self._made(argv, seconds, aloud=True))))
        if reply.refused:
            raise PathRefused(f"{argv[0]} was not allowed: {reply.refused}")
        result = _result_in(reply.body)
        self.held.append(result.enforced)
        return result

    def _made(self, argv: tuple[str, ...], timeout_s: float, *, aloud: bool) -> CommandResult:
        command = Command(
            argv=argv,
            cwd=self.workspace.folder,
            scratch=self.workspace.scratch,
            env=GIT_IDENTITY,
            timeout_s=min(timeout_s, self.tools.timeout_s),
            idle_timeout_s=self.tools.idle_timeout_s,
        )
        return self.tools.terminal.run(command, self._say if aloud else None)

    def _say(self, line: Line) -> None:
        self.tools.say(line.text)


def _result_in(body: Mapping[str, Any]) -> CommandResult:
    lists = {name: tuple(body[name]) for name in ("enforced", "refused")}
    return CommandResult(**{**body, **lists})


def _inputs_of(assignment: Assignment) -> Mapping[str, str]:
    counts = Counter(name for name, _ in assignment.inputs)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise PatternInputsInvalid(f"given more than once: {', '.join(repeated)}")
    return dict(assignment.inputs)
