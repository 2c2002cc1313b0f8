"""A checkout that is fitted out has what the project needs before the first command runs in it."""

from __future__ import annotations

import os
from pathlib import Path

from milepost.core.commands import Command, CommandResult
from milepost.engine.verification.equipped_checkout import CheckoutEquipper
from milepost.verify.command_runner import Bench
from milepost.verify.environments import Environments
from tests.integration.repositories import new_place


class NoTerminal:
    def run(self, command: Command, on_line: object = None) -> CommandResult:
        return CommandResult(termination="exited", exit_code=0, stdout="", stderr="", duration_ms=0, enforced=())


def test_packages_are_in_reach_before_anything_was_run(tmp_path: Path) -> None:
    place = new_place(tmp_path)
    place.write(".gitignore", "node_modules\n")
    place.write("package.json", '{"dependencies": {"left": "1.0.0"}}')
    place.commit()
    place.write("node_modules/left/package.json", '{"name": "left", "version": "1.0.0"}')
    terminal = NoTerminal()
    environments = Environments(
        cache=tmp_path / "cache",
        terminal=terminal,
        repository=place.top,
        environ=dict(os.environ),
        home=place.home,
    )
    outfitter = CheckoutEquipper(place.checkouts(), Bench(terminal=terminal), environments)
    with outfitter.fitted("base", place.head) as (workspace, _):
        assert (workspace.folder / "node_modules/left/package.json").is_file()
