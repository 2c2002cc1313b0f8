"""One command by hand: under the policy of the folder's settings, in the sandbox, with the folder as its workspace."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from milepost.core.commands import Command, CommandResult, Line, TrustLevel
from milepost.core.errors import Misuse, RoadmapMissing
from milepost.core.ports import Terminal
from milepost.core.secrets.redact import Redactor
from milepost.engine.project.project import find_roadmap
from milepost.engine.project.secrets import known_secrets, secrets_for_commands
from milepost.engine.project.settings.load import COMMANDS, load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.state_directory import make_state, open_state
from milepost.engine.terminals.command_policy import audit_in, policy_of, times_of
from milepost.engine.terminals.isolation import Isolation, hold_for
from milepost.engine.terminals.limits import for_checks, for_installers
from milepost.engine.terminals.wrappers import AuditedTerminal, DowngradedTerminal, LimitedTerminal, RedactingTerminal
from milepost.sandbox.policy import Decision, PolicedTerminal, TimeClass, decide, time_class
from milepost.sandbox.secrets import SecretTerminal

SHELL = ("sh", "-c")
BY_HAND = "by hand"
FOREVER_S = 10 * 365 * 86_400.0  # for what never ends by itself: whoever started it by hand watches it

Asking = Callable[[Decision], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand:
    """What was decided about a command and how it ended; `result` is None where it was only to be explained.

    `trust` says what held it then: a trust level or containers.
    """

    argv: tuple[str, ...]
    decision: Decision
    time_class: TimeClass
    timeout_s: float
    trust: str = ""
    result: CommandResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """A command as a person wants it. With `shell` its one word is a text for a shell."""

    argv: tuple[str, ...]
    folder: Path
    shell: bool = False
    trust: TrustLevel | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandTerminals:
    """Where commands started by hand run: those of the project under its policy, and those that fetch packages."""

    project: Terminal
    installers: Terminal
    scratch: Path
    redact: Redactor
    isolation: Isolation


def explain(wish: CommandRequest) -> ByHand:
    """What would be decided about a command; nothing is run, nothing is written down."""
    return _planned(wish, load(home_of(wish.folder), uses=COMMANDS))


def run_by_hand(wish: CommandRequest, on_line: Callable[[Line], None], ask: Asking) -> ByHand:
    """Run a command if it may run; lines go to `on_line` as they come, `ask` says yes to what is asked about."""
    home = home_of(wish.folder)
    settings = load(home, {"trust": wish.trust}, uses=COMMANDS)
    planned = _planned(wish, settings)
    with open_terminals(home, settings, ask) as terminals:
        command = Command(argv=planned.argv, cwd=wish.folder, scratch=terminals.scratch, timeout_s=planned.timeout_s)
        result = terminals.project.run(command, on_line)
    return ByHand(
        argv=planned.argv,
        decision=planned.decision,
        time_class=planned.time_class,
        timeout_s=planned.timeout_s,
        trust=str(terminals.isolation),
        result=result,
    )


@contextmanager
def open_terminals(home: Path, settings: Settings, ask: Asking) -> Iterator[HandTerminals]:
    """The terminals for commands started by hand in the project at `home`; at the end all that runs there is ended."""
    redact = Redactor(known_secrets(settings))
    state = open_state(home)
    make_state(state)
    hold = hold_for(settings)
    audit = audit_in(state, redact)
    with (
        hold.open_terminal(extra_readable=tuple(map(Path, settings.sandbox.readable))) as sandbox,
        tempfile.TemporaryDirectory(prefix="milepost-") as scratch,
    ):
        honest = DowngradedTerminal(terminal=sandbox) if hold.downgraded else sandbox
        brokered = SecretTerminal(honest, secrets_for_commands(settings))
        allowing = LimitedTerminal(terminal=brokered, allowance=for_checks(settings))
        terminal = PolicedTerminal(
            AuditedTerminal(RedactingTerminal(allowing, redact), audit, BY_HAND),
            policy_of(settings.terminal),
            audit=audit,
            ask=lambda decision, _: ask(decision),
            place=BY_HAND,
        )
        fetching = LimitedTerminal(terminal=brokered, allowance=for_installers(settings))
        yield HandTerminals(
            project=terminal,
            installers=RedactingTerminal(fetching, redact),
            scratch=Path(scratch),
            redact=redact,
            isolation=hold,
        )


def _planned(wish: CommandRequest, settings: Settings) -> ByHand:
    argv = _argv(wish)
    found = time_class(argv)
    by_class = FOREVER_S if found == "background" else times_of(settings.terminal).seconds_for(argv)
    return ByHand(
        argv=argv,
        decision=decide(policy_of(settings.terminal), argv, (str(wish.folder),)),
        time_class=found,
        timeout_s=wish.timeout_s or by_class,
    )


def _argv(wish: CommandRequest) -> tuple[str, ...]:
    if not wish.argv or not wish.argv[0].strip():
        raise Misuse("there is no command to run", "name one: milepost sh -- ls -l")
    if any("\0" in word for word in wish.argv):
        raise Misuse("an argument of the command contains a NUL character", "remove it")
    if not wish.shell:
        return wish.argv
    if len(wish.argv) != 1:
        raise Misuse("--shell takes the whole command as one argument", "quote it: milepost sh --shell 'ls | wc -l'")
    return (*SHELL, wish.argv[0])


def home_of(folder: Path) -> Path:
    """Where the settings and the state directory of a folder are: beside its roadmap, or in the folder itself."""
    try:
        return find_roadmap(start=folder).parent
    except RoadmapMissing:
        return folder
