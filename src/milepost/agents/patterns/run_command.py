"""The pattern run_command: one command, whose exit code decides."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from milepost.agents.clip import last_lines
from milepost.agents.models.schema import Schema
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.pending_changes import PathRefused, PendingChanges, TookTooLong
from milepost.core.commands import CommandResult, ending_in_words

LONGEST_S = 86_400


class RunCommand:
    """Runs a command in the sandbox; what it prints may be kept in a file."""

    name = "run_command"

    @property
    def schema(self) -> Schema:
        return inputs_schema(
            "Run one command in the sandbox; its exit code decides.",
            {
                "command": {
                    "type": "string",
                    "minLength": 1,
                    "description": "the arguments, quoted as for a shell; no shell runs",
                },
                "expect": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 255,
                    "default": 0,
                    "description": "the exit code",
                },
                "output": {"type": "string", "minLength": 1, "description": "a file for what it prints"},
                "timeout_s": {"type": "integer", "minimum": 1, "maximum": LONGEST_S, "description": "its time"},
            },
            required=("command",),
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        return (*problems_in(self.schema, inputs), *_command_problems(inputs.get("command", "")))

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        values = values_in(self.schema, inputs)
        argv = tuple(shlex.split(values["command"]))
        result = site.run(argv, values.get("timeout_s"))
        if result is None:
            site.say(f"would run: {shlex.join(argv)}")
            return
        timeout_s = values.get("timeout_s") or result.duration_ms / 1000
        ending = ending_in_words(result, program=argv[0], timeout_s=timeout_s)
        if result.termination in ("timeout", "idle"):
            raise TookTooLong(_complaint(argv, ending, result))
        if result.exit_code != values["expect"]:
            raise PathRefused(_complaint(argv, ending, result))
        site.say(f"{shlex.join(argv)}: {ending}")
        if "output" in values:
            site.write(values["output"], result.stdout)


def _complaint(argv: tuple[str, ...], ending: str, result: CommandResult) -> str:
    printed = "\n".join(part for part in (last_lines(result.stdout), last_lines(result.stderr)) if part)
    return f"{shlex.join(argv)}: {ending}\n{printed}".rstrip()


def _command_problems(command: str) -> tuple[str, ...]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        return (f"command {command!r:.100} cannot be split into words: {error}",)
    if "\0" in command or (command and not (words and words[0])):
        return (f"command {command!r:.100} names no program",)
    return ()
