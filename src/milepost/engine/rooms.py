"""The one place where the rooms are wired together for a run."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from milepost.agents.names import AgentSetup, agent_named
from milepost.core.commands import TrustLevel
from milepost.core.errors import AgentUnknown
from milepost.core.events import Event
from milepost.core.ports import Agent, Memory, Terminal, Tools
from milepost.core.redact import Redactor, secrets_of
from milepost.core.task import Task
from milepost.engine.baselines import Baselines
from milepost.engine.discretion import DiscreetTerminal
from milepost.engine.journal import Journal
from milepost.engine.parking import Parking
from milepost.engine.project import Project
from milepost.engine.settings import Settings
from milepost.memory.episodes import SqliteMemory
from milepost.sandbox.levels import open_terminal
from milepost.sandbox.terminal import IsolatedTerminal
from milepost.verify.bench import Bench
from milepost.verify.project import find_interpreter
from milepost.workspace.checkout import Checkouts, cache_folder
from milepost.workspace.mileposts import Mileposts, remove_stale_locks

OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """All that the steps of a run work with."""

    project: Project
    settings: Settings
    journal: Journal
    checkouts: Checkouts
    mileposts: Mileposts
    sandbox: IsolatedTerminal
    terminal: Terminal
    bench: Bench
    baselines: Baselines
    memory: Memory
    parking: Parking
    redact: Redactor
    on_event: OnEvent
    lock_fd: int
    agents: Mapping[str, Agent] = field(default_factory=dict)
    telling: threading.Lock = field(default_factory=threading.Lock)

    def emit(self, event: Event, key: str) -> None:
        """Write an event down, and tell it to whoever listens when it is new."""
        if self.journal.append(event, key):
            self.tell(event)

    def announce(self, event: Event, key: str) -> None:
        """Write down and tell what a step does now, in the place of what it did when it was cut short before."""
        if not self.parking.at_once:
            self.journal.replace(event, key)
            self.tell(event)

    def tell(self, event: Event) -> None:
        """Tell an event to whoever listens, one at a time."""
        with self.telling:
            self.on_event(event)

    def agent(self, name: str) -> Agent:
        """The agent of this name: one that was handed in, or one made from the settings."""
        return (
            self.agents[name] if name in self.agents else make_agent(name, self.settings, self.project.roadmap.parent)
        )

    def tools(self, say: Callable[[str], None]) -> Tools:
        limits = self.settings.limits
        return Tools(
            terminal=self.terminal,
            say=lambda text: say(self.redact(text)),
            timeout_s=limits.task_timeout_s,
            idle_timeout_s=limits.idle_timeout_s,
        )


@contextmanager
def open_rooms(
    project: Project,
    settings: Settings,
    run: str,
    trust: TrustLevel,
    lock_fd: int,
    on_event: OnEvent,
    agents: Mapping[str, Agent],
) -> Iterator[Rooms]:
    """Wire the rooms for one engine, which holds the state directory's lock, and close them again."""
    held = (lock_fd,)
    git = project.repository.git(project.state / "git", held)
    remove_stale_locks(project.repository.common_dir)
    checkouts = Checkouts(cache_folder(project.state), git)
    checkouts.sweep()
    readable = (*project.repository.object_folders(), *map(Path, settings.sandbox.readable))
    redact = Redactor(known_secrets(settings))
    journal = Journal(project.database)
    try:
        with open_terminal(trust, held_fds=held, extra_readable=readable) as sandbox:
            terminal = DiscreetTerminal(sandbox, redact)
            bench = _bench(project, settings, terminal)
            yield Rooms(
                project=project,
                settings=settings,
                journal=journal,
                checkouts=checkouts,
                mileposts=Mileposts(git),
                sandbox=sandbox,
                terminal=terminal,
                bench=bench,
                baselines=Baselines(journal, checkouts, bench),
                memory=SqliteMemory(project.database, run),
                parking=Parking(),
                redact=redact,
                on_event=on_event,
                lock_fd=lock_fd,
                agents=agents,
            )
    finally:
        journal.close()
        with suppress(OSError):  # what is left is swept by the next engine; the cause of a failure must not be lost
            checkouts.sweep()


def _bench(project: Project, settings: Settings, terminal: Terminal) -> Bench:
    """Where checks run: with the project's own interpreter, never with ours for its own sake."""
    environ = outside_environment(os.environ)
    return Bench(
        terminal=terminal,
        path=environ["PATH"],
        interpreter=find_interpreter(project.repository.top, environ, settings.verify.python),
        timeout_s=settings.limits.check_timeout_s,
    )


def outside_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's variables with our own virtual environment off the PATH, unless they activated it themselves."""
    path = environ.get("PATH") or os.defpath
    if sys.prefix != sys.base_prefix and environ.get("VIRTUAL_ENV") != sys.prefix:
        ours = Path(sys.prefix, "bin")
        path = os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry) != ours)
    return {**environ, "PATH": path}


def make_agent(name: str, settings: Settings, folder: Path) -> Agent:
    """An agent by its name, set up as its section of the settings says."""
    section = settings.agents.get(name.partition(":")[0])
    if section is None:
        return agent_named(name, folder=folder)
    missing = [variable for variable in section.env_from if variable not in os.environ]
    if missing:
        raise AgentUnknown(
            f"agent {name!r} wants {', '.join(missing)} from your environment, where it is not set",
            "export it, then run again",
        )
    passed = {variable: os.environ[variable] for variable in section.env_from}
    return agent_named(name, folder=folder, setup=AgentSetup(env=passed | section.env, args=tuple(section.args)))


def known_secrets(settings: Settings) -> frozenset[str]:
    """Secret values that must not be kept: those of the environment, and what the settings give to agents."""
    given = {value for section in settings.agents.values() for value in section.env.values()}
    passed = {os.environ.get(name, "") for section in settings.agents.values() for name in section.env_from}
    return secrets_of(os.environ) | given | passed


def agent_name(task: Task, order_agent: str) -> str:
    """Who does a task: whom the task names, else whom the run names."""
    return task.agent or order_agent
