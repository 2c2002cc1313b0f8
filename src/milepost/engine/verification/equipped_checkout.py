"""Checkouts with all that a project's commands need in them: its interpreter, its packages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from milepost.core.attempt import Workspace
from milepost.core.errors import MilepostError
from milepost.core.ports import Terminal
from milepost.engine.project.env_templates import Templates
from milepost.engine.terminals.slots import AttemptSlots, SlotTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.environments import Environments, Equipment, EquippedTerminal
from milepost.verify.environments.equipment import lay
from milepost.verify.suites.python_project import ProjectPython
from milepost.workspace.checkout import Checkouts


class CheckoutEquipper:
    """Makes checkouts and equips them; used by several threads at once."""

    def __init__(
        self, checkouts: Checkouts, bench: Bench, environments: Environments, surroundings: AttemptSlots | None = None
    ) -> None:
        self._checkouts = checkouts
        self._bench = bench
        self._environments = environments
        self._surroundings = surroundings or AttemptSlots(Templates())

    @contextmanager
    def fitted(self, name: str, commit: str, *, tree: str = "") -> Iterator[tuple[Workspace, Bench]]:
        """A checkout of a commit, or of `tree` on top of it, and the bench to check it on; gone afterwards."""
        workspace = self._checkouts.make(name, commit, tree=tree)
        with self._surroundings.slot() as env:
            bench = self.bench_for(workspace)
            yield workspace, replace(bench, terminal=SlotTerminal(terminal=bench.terminal, env=env))
        self._checkouts.drop(name)

    def bench_for(self, workspace: Workspace) -> Bench:
        """The bench with what this checkout's own files say that it needs; what is linked is there from now on."""
        equipment = self._equipment_for(workspace)
        with suppress(OSError):  # whoever runs a command there hears what is in the way
            lay(equipment.links, workspace.folder)
        return self._bench.equipped(equipment)

    @contextmanager
    def terminal_for(self, workspace: Workspace, terminal: Terminal) -> Iterator[Terminal]:
        """The terminal on which an agent's commands find in its workspace what the checks will find in theirs."""
        equipment = self._equipment_for(workspace)
        with self._surroundings.terminal(terminal) as own:
            yield EquippedTerminal(terminal=own, equipment=equipment, workspace=workspace, path=self._bench.path)

    def _equipment_for(self, workspace: Workspace) -> Equipment:
        return equipment_for(self._environments, workspace, self._bench.interpreter)


def equipment_for(environments: Environments, workspace: Workspace, interpreter: ProjectPython | None) -> Equipment:
    """What a checkout needs; where its manifests cannot be read, the plain interpreter and the problem."""
    try:
        return environments.for_checkout(workspace)
    except MilepostError:
        raise
    except Exception as error:
        problem = f"what the project needs cannot be read: {type(error).__name__}: {error}"
        return Equipment(interpreter=interpreter, problem=problem)
