"""Code and commands in the sandbox."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.arguments import folder_of, ignore, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from milepost.core.commands import ExecutionLimits, ExecutionResult, Line
    from milepost.engine.commands.start_project import StartResult
    from milepost.engine.terminals.one_command import ByHand
    from milepost.sandbox.executor import WalledExecutor
    from milepost.sandbox.local_executor import LocalExecutor
    from milepost.sandbox.policy import Decision
    from milepost.sandbox.typescript.executor import TypeScriptExecutor
    from milepost.sandbox.workspace_changes import Changes


def execute(
    code: str,
    *,
    lang: str = "python",
    trust: str | None = None,
    network: str | None = None,
    limits: ExecutionLimits | None = None,
    workspace: Path | str | None = None,
    container: str | None = None,
    image: str | None = None,
    on_changes: Callable[[Changes], None] | None = None,
) -> ExecutionResult:
    """Run code in the sandbox, once; all arguments but `on_changes` are those of `open_executor`.

    At level sandboxed the changes to the workspace are held back: `on_changes` gets them when the code has ended, and
    accepts them or not. What it does not accept is dropped.
    """
    from milepost.sandbox.executor import WalledExecutor

    with open_executor(
        lang=lang,
        trust=trust,
        network=network,
        limits=limits,
        workspace=workspace,
        container=container,
        image=image,
    ) as executor:
        result = executor.run(code)
        if on_changes is not None and isinstance(executor, WalledExecutor) and executor.holds_changes:
            with executor.changes() as changes:
                on_changes(changes)
        return result


def open_executor(
    *,
    lang: str = "python",
    trust: str | None = None,
    network: str | None = None,
    limits: ExecutionLimits | None = None,
    workspace: Path | str | None = None,
    container: str | None = None,
    image: str | None = None,
) -> LocalExecutor | WalledExecutor | TypeScriptExecutor:
    """A session in the sandbox that keeps its variables; `lang` is `python`, `typescript` or `javascript`.

    `network` is `none` (the default), `loopback`, `open`, or hosts separated by commas. `container` is podman or
    docker, instead of a trust level. The default level is that of `MILEPOST_TRUST` or of the settings here, else the
    strongest one. At level sandboxed, changes to the workspace are held back.
    """
    from milepost.core.commands import NO_NETWORK
    from milepost.engine.project.network_setting import network_named
    from milepost.engine.project.settings.load import load
    from milepost.sandbox import executors

    if not container:
        level = load(Path.cwd(), uses=() if trust else ("run.trust",)).run.trust
        trust = trust or (level.value if level else None)
    network = network or os.environ.get("MILEPOST_NETWORK")
    holder = executors.holder_named(trust, container, image)
    reached = network_named(network) if network else NO_NETWORK
    return executors.open_executor(holder, limits, lang=lang, workspace=folder_of(workspace), network=reached)


def run_command(
    argv: Sequence[str],
    *,
    shell: bool = False,
    timeout_s: float | None = None,
    trust: str | None = None,
    folder: Path | str | None = None,
    on_line: Callable[[Line], None] | None = None,
    ask: Callable[[Decision], bool] | None = None,
) -> ByHand:
    """Run one command in the sandbox, under the policy of a folder; with `shell`, `argv` is one line of shell text.

    `ask` decides on a command that the policy asks about; without it such a command is refused.
    """
    from milepost.core.commands import trust_named
    from milepost.engine.terminals.one_command import CommandRequest, run_by_hand

    wish = CommandRequest(
        argv=tuple(argv),
        folder=(path_of(folder) or Path.cwd()).absolute(),
        shell=shell,
        trust=trust_named(trust) if trust else None,
        timeout_s=timeout_s,
    )
    return run_by_hand(wish, on_line or ignore, ask or (lambda _: False))


def explain_command(
    argv: Sequence[str], *, shell: bool = False, timeout_s: float | None = None, folder: Path | str | None = None
) -> ByHand:
    """What the policy of a folder decides about a command, and its time limit; nothing is run."""
    from milepost.engine.terminals.one_command import CommandRequest, explain

    place = (path_of(folder) or Path.cwd()).absolute()
    return explain(CommandRequest(argv=tuple(argv), folder=place, shell=shell, timeout_s=timeout_s))


def start_project(
    folder: Path | str | None = None,
    *,
    entry: str | None = None,
    arguments: Sequence[str] = (),
    trust: str | None = None,
    network: str | None = None,
    timeout_s: float | None = None,
    only_list: bool = False,
    say: Callable[[str], None] | None = None,
    on_line: Callable[[Line], None] | None = None,
    ask: Callable[[Decision], bool] | None = None,
) -> StartResult:
    """Find the entry point of a project and run it in the sandbox; with `only_list` only find the entry points.

    Missing packages are installed for this run only, unless `network` is none. `say` is given what happens before the
    program runs, `on_line` its output. `ask` is as for `sh`.
    """
    from milepost.core.commands import trust_named
    from milepost.engine.commands import start_project as engine

    request = engine.StartRequest(
        folder=(folder_of(folder) or Path.cwd()).resolve(),
        entry=entry,
        arguments=tuple(arguments),
        trust=trust_named(trust) if trust else None,
        network=network,
        timeout_s=timeout_s,
        only_list=only_list,
    )
    return engine.start_project(request, say or ignore, on_line or ignore, ask or (lambda _: False))
