"""The broker of secrets: a command is given a value that whoever wrote the command never sees."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.sandbox.environment import DEFAULT_PATH
from milepost.sandbox.remove_folder import remove
from milepost.sandbox.visible_paths import Missing, find_program

PLACEHOLDER = re.compile(r"\{\{secret:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}\}")
_ASSIGNMENT = re.compile(rf"(?P<variable>[A-Za-z_][A-Za-z0-9_]*)=(?P<secret>{PLACEHOLDER.pattern})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A value under a name, and the programs whose commands may be given it; without programs none is."""

    name: str
    value: str = field(repr=False)
    programs: frozenset[str] = frozenset()


class SecretTerminal:
    """Runs commands on another terminal, with `{{secret:NAME}}` in their arguments and variables replaced.

    `env NAME={{secret:NAME}} program …` gives it as a variable. A command that may not have the secret it asks for is
    not started. One that may has a scratch folder of its own, empty and then gone: settings that an earlier command
    left in its home could make the program tell the secret. What commands print is not looked at here.
    """

    def __init__(self, terminal: Terminal, secrets: Iterable[Secret]) -> None:
        self._terminal = terminal
        self._secrets: Mapping[str, Secret] = {secret.name: secret for secret in secrets}

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        wanted = wanted_by(command)
        if not wanted:
            return self._terminal.run(command, on_line)
        command = with_variables_of_env(command)
        problem = next(filter(None, (self._refusal(name, command) for name in wanted)), "")
        if problem:
            return _not_started(problem)
        scratch = Path(tempfile.mkdtemp(prefix="milepost-"))
        try:
            return self._terminal.run(replace(self._filled(command), scratch=scratch), on_line)
        finally:
            remove(scratch)

    def _refusal(self, name: str, command: Command) -> str:
        """Why a command may not have a secret, empty when it may."""
        secret = self._secrets.get(name)
        if secret is None:
            return f"no secret {name!r} is available to commands"
        program = command.argv[0]
        if program not in secret.programs:
            return f"commands of {program!r} may not use the secret {name!r}"
        return _not_the_users(program, command)

    def _filled(self, command: Command) -> Command:
        def fill(text: str) -> str:
            return PLACEHOLDER.sub(lambda found: self._secrets[found["name"]].value, text)

        env = {name: fill(value) for name, value in command.env.items()}
        return replace(command, argv=tuple(map(fill, command.argv)), env=env)


def wanted_by(command: Command) -> tuple[str, ...]:
    """The names of the secrets that a command has placeholders of."""
    texts = (*command.argv, *command.env.values())
    return tuple(dict.fromkeys(found["name"] for text in texts for found in PLACEHOLDER.finditer(text)))


def with_variables_of_env(command: Command) -> Command:
    """`env A={{secret:A}} program` as the program with a variable; any other use of `env` stays what it is.

    Other variables than secrets would be a way to make a trusted program load what the guest wrote.
    """
    words = list(command.argv)
    given: dict[str, str] = {}
    while len(words) > 1 and (found := _ASSIGNMENT.fullmatch(words[1])):
        given[found["variable"]] = found["secret"]
        del words[1]
    if words[0] != "env" or not given or len(words) < 2:
        return command
    return replace(command, argv=tuple(words[1:]), env={**command.env, **given})


def _not_the_users(name: str, command: Command) -> str:
    """Why a program is not the one that the settings mean: a guest can put another of this name before it on PATH."""
    path = command.env.get("PATH") or os.environ.get("PATH") or DEFAULT_PATH
    program = find_program(name, path, command.cwd)
    if isinstance(program, Missing):
        return program.reason
    places = (program.absolute(), Path(os.path.realpath(program)))
    own = (command.cwd, command.scratch, *command.writable)
    folders = [Path(each(folder)) for folder in own for each in (os.path.abspath, os.path.realpath)]
    if any(place.is_relative_to(folder) for place in places for folder in folders):
        return f"{name!r} is in a folder that commands write to, so it may not use a secret: {program}"
    return ""


def _not_started(error: str) -> CommandResult:
    return CommandResult(
        termination="not_started", exit_code=None, stdout="", stderr="", duration_ms=0, enforced=(), error=error
    )
