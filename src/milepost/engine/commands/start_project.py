"""Starting a project: find its entry point, set up its environment, run it in the sandbox, explain a failure."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.commands import CommandResult, Line, TrustLevel
from milepost.core.errors import MilepostError, Misuse
from milepost.core.secrets.redact import Redactor
from milepost.engine.commands.start_environment import StartEnvironment, set_up
from milepost.engine.project.settings.load import COMMANDS, load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.terminals.command_policy import policy_of
from milepost.engine.terminals.one_command import FOREVER_S, Asking, HandTerminals, home_of, open_terminals
from milepost.sandbox.policy import decide
from milepost.sandbox.scripts import (
    EntryPoint,
    EntryRunner,
    ScriptFailure,
    ScriptResult,
    best_entry,
    entry_named,
    entry_points,
    names_of,
    project_name,
    run_with_fixes,
)
from milepost.verify.environments import EquippedTerminal

NO_NETWORK = "none"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """What a person asks for. With `only_list` nothing is run. Without `timeout_s` the program may run forever."""

    folder: Path
    entry: str | None = None
    arguments: tuple[str, ...] = ()
    trust: TrustLevel | None = None
    network: str | None = None
    timeout_s: float | None = None
    only_list: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StartResult:
    """The entry points of a project, which one was started, and how it ended.

    `entry` is None where none is named and several are equally good, `result` where nothing was run or the user
    `stopped` it. `environment` says where its packages came from, `installed` lists those installed for this run only.
    `fix` is the exact command or change to make next.
    """

    entries: tuple[EntryPoint, ...]
    names: tuple[str, ...]
    entry: EntryPoint | None = None
    trust: str = ""
    environment: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    result: CommandResult | None = None
    failure: ScriptFailure | None = None
    fix: str = ""
    stopped: bool = False


def start_project(request: StartRequest, say: Say, on_line: Callable[[Line], None], ask: Asking) -> StartResult:
    """Start a project and wait for its end. `say` hears what happens before the program runs."""
    entries = entry_points(request.folder)
    listed = StartResult(entries=entries, names=names_of(entries), entry=_chosen(request, entries))
    if request.only_list:
        return listed
    entry = _required(listed, request.folder)
    home = home_of(request.folder)
    settings = _settings(home, request)
    _require_policy(request, entry, settings, ask)
    say(f"starting {entry.name}: {entry.reason}")
    if others := [name for name, one in zip(listed.names, entries, strict=True) if one != entry]:
        say(f"other entry points, for --entry: {', '.join(others)}")
    started = replace(listed, entry=entry)
    try:
        with (
            open_terminals(home, settings, lambda _: True) as terminals,  # whoever is asked has answered by now
            tempfile.TemporaryDirectory(prefix="milepost-packages-") as packages,
        ):
            started = replace(started, trust=str(terminals.isolation))
            may_install = request.network != NO_NETWORK
            environment = set_up(
                request.folder, entry, settings, terminals, Path(packages), say, may_install=may_install
            )
            started = replace(started, environment=environment.equipment.origin)
            ran = run_with_fixes(
                lambda: _run(request, entry, terminals, environment, on_line), environment.install_missing
            )
    except KeyboardInterrupt:
        return replace(started, stopped=True)
    return replace(
        started,
        installed=tuple(environment.installed),
        result=ran.result,
        failure=_redacted(ran.failure, terminals.redact),
        fix=terminals.redact(environment.fix(ran)),
    )


def _chosen(request: StartRequest, entries: tuple[EntryPoint, ...]) -> EntryPoint | None:
    if request.entry is not None:
        return entry_named(request.folder, entries, request.entry)
    return best_entry(entries, project_name(request.folder)) if entries else None


def _required(listed: StartResult, folder: Path) -> EntryPoint:
    if listed.entry is not None:
        return listed.entry
    if not listed.entries:
        raise Misuse(f"no entry point found in {str(folder)!r}", "name a file to start: --entry FILE")
    raise Misuse(f"several entry points: {', '.join(listed.names)}", f"choose one: --entry {listed.names[0]}")


def _settings(home: Path, request: StartRequest) -> Settings:
    """The settings with what the request says; without a network nothing is installed either."""
    settings = load(home, {"trust": request.trust, "network": request.network}, uses=COMMANDS)
    if request.network != NO_NETWORK:
        return settings
    return settings.model_copy(update={"sandbox": settings.sandbox.model_copy(update={"install_network": NO_NETWORK})})


def _require_policy(request: StartRequest, entry: EntryPoint, settings: Settings, ask: Asking) -> None:
    """Refuse what the project's policy denies; a person is asked once, about the command as they would type it."""
    argv = (*entry.argv, *request.arguments)
    decision = decide(policy_of(settings.terminal), argv, (str(request.folder),))
    if decision.verdict == "deny" or (decision.verdict == "ask" and not ask(decision)):
        raise MilepostError(decision.refusal, "allow it in [terminal] of milepost.toml, or start it at a terminal")


def _run(
    request: StartRequest,
    entry: EntryPoint,
    terminals: HandTerminals,
    environment: StartEnvironment,
    on_line: Callable[[Line], None],
) -> ScriptResult:
    """Run the entry point in the environment as it is now."""
    terminal = EquippedTerminal(
        terminal=terminals.project,
        equipment=environment.equipment,
        workspace=environment.workspace,
        path=environment.path,
    )
    runner = EntryRunner(
        terminal=terminal,
        folder=request.folder,
        scratch=terminals.scratch,
        timeout_s=request.timeout_s or FOREVER_S,
        env={"PATH": environment.path},
    )
    return runner.run(entry, request.arguments, on_line)


def _redacted(failure: ScriptFailure | None, redact: Redactor) -> ScriptFailure | None:
    """What the program reported, without secrets."""
    if failure is None:
        return None
    return replace(failure, message=redact(failure.message), traceback=redact(failure.traceback))
