"""A terminal for a checkout that is equipped: an agent's commands find what the checks will find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.core.attempt import Workspace
from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.verify.environments.equipment import Equipment, lay
from milepost.verify.suites.python_project import environment_for


@dataclass(frozen=True, slots=True, kw_only=True)
class EquippedTerminal:
    """Adds the equipment, to be read only, to every command; what a command brings itself goes over it.

    The links are laid once: an agent may install what it likes in its own checkout.
    """

    terminal: Terminal
    equipment: Equipment
    workspace: Workspace
    path: str

    def __post_init__(self) -> None:
        lay(self.equipment.links, self.workspace.folder)

    def run(self, command: Command, on_line: Callable[[Line], None] | None = None) -> CommandResult:
        interpreter = self.equipment.interpreter
        path = command.env.get("PATH") or self.path
        own = environment_for(interpreter, self.workspace.folder, path) if interpreter else {}
        given = {name: value for name, value in command.env.items() if name != "PATH" or name not in own}
        needed = (*(interpreter.readable if interpreter else ()), *self.equipment.readable)
        equipped = replace(
            command,
            env={**own, **self.equipment.variables, **given},
            readable=(*command.readable, *needed),
        )
        return self.terminal.run(equipped, on_line)
