"""The one place where the rooms are wired together for a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from milepost.core.commands import ExecutionLimits, Network
from milepost.core.events import Event
from milepost.core.ports import Interpreter, Stops, Terminal, Tools
from milepost.core.secrets.redact import Redactor
from milepost.engine.agents.factory import AgentFactory
from milepost.engine.attempt.review_tools import ReviewTools
from milepost.engine.context.build_context import Contexts
from milepost.engine.context.tag_cache import TagCache
from milepost.engine.events.subscribers import listeners
from milepost.engine.memory.episodes import close_left
from milepost.engine.memory.open_memory import open_memory, recaller_of, sharing
from milepost.engine.project.project import Project
from milepost.engine.project.secrets import known_secrets, local_files
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.journal import Journal
from milepost.engine.records.run_request import Caller, OnEvent
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.records.steering import file_watch
from milepost.engine.records.suspend import Suspension
from milepost.engine.services import RunServices, RunTables, open_run_tables
from milepost.engine.terminals.command_policy import UnaskedVeto, audit_in, policy_of, times_of
from milepost.engine.terminals.isolation import Isolation, hold_of
from milepost.engine.terminals.limits import for_agent, for_installers
from milepost.engine.terminals.output_writer import Output
from milepost.engine.terminals.wrappers import AuditedTerminal, LimitedTerminal, RedactingTerminal
from milepost.engine.verification.review import Reviewer
from milepost.engine.verification.setup import VerificationSetup
from milepost.memory.memory import StoredMemory
from milepost.sandbox.policy import Audit
from milepost.store.database import Database, open_database
from milepost.verify.credentials import masked_file
from milepost.workspace.checkout import Checkouts, kept_folder, remove_folder
from milepost.workspace.checkout_places import checkouts_folder, earlier_folders
from milepost.workspace.left_files import LeftLimits
from milepost.workspace.mileposts import remove_stale_locks


@contextmanager
def open_rooms(
    project: Project, settings: Settings, order: RunSpec, lock_fd: int, caller: Caller
) -> Iterator[RunServices]:
    """Wire the rooms for one engine, which holds the state directory's lock, and close them again."""
    redact, run = Redactor(known_secrets(settings, project.repository.top)), order.run
    with (
        _footing(project, settings, order, lock_fd, redact) as footing,
        ThreadPoolExecutor(1) as ahead,
        closing(TagCache(project.state)) as cache,
        footing.ground.open_terminal((lock_fd,)) as sandbox,
        listeners(settings, run, journal=footing.journal, state=project.state, redact=redact) as overhear,
        sharing(footing.database, settings, order, project.roadmap.parent),
        closing(recaller_of(footing.memory, project, order)) as recaller,
        Output(footing.journal, redact) as output,
    ):
        ground, books, parking = footing.ground, footing.books, footing.parking
        staff = AgentFactory(
            settings=settings,
            folder=project.roadmap.parent,
            given=caller.agents,
            outside=caller.outside_agents,
        )
        audit = audit_in(project.state, redact)
        brokered = AuditedTerminal(ground.brokered(sandbox), audit, run)
        installing = LimitedTerminal(terminal=brokered, allowance=for_installers(settings))
        tools = partial(tools_for, ground, brokered, parking, staff)
        reviewer = _reviewer(footing, staff, audit, tools)
        yield RunServices(
            project=project,
            settings=settings,
            books=books,
            checkouts=ground.checkouts,
            mileposts=ground.mileposts,
            sandbox=sandbox,
            terminal=RedactingTerminal(installing, redact),
            tools=tools,
            examiner=ground.examiner(sandbox, ground.mileposts, ahead, reviewer),
            parking=parking,
            redact=redact,
            audit=audit,
            on_event=_both(overhear, caller.on_event),
            lock_fd=lock_fd,
            agent=staff.agent,
            contexts=Contexts(ground.git, cache, redact),
            recall=recaller.recall,
            output=output,
            stays=caller.stays,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Footing:
    """What an engine has before anything runs: the ground, and all that is written down."""

    ground: VerificationSetup
    database: Database
    memory: StoredMemory
    books: RunTables
    parking: Suspension

    @property
    def journal(self) -> Journal:
        return self.books.journal


def _left_limits(settings: Settings) -> LeftLimits:
    limits = settings.limits
    return LeftLimits(
        file_mb=limits.file_mb,
        change_mb=limits.change_mb,
        change_files=limits.change_files,
        checkout_files=limits.checkout_files,
    )


@contextmanager
def _footing(
    project: Project, settings: Settings, order: RunSpec, lock_fd: int, redact: Redactor
) -> Iterator[_Footing]:
    """Open what is written down, and clear away what engines before this one left; at the end, what it leaves."""
    git = project.repository.git(project.state / "git", (lock_fd,))
    remove_stale_locks(project.repository.common_dir)
    checkouts = Checkouts(
        checkouts_folder(project.checkouts_key, settings.workspace.checkouts),
        git,
        local_files(project.repository.top, settings),
        _left_limits(settings),
        partial(masked_file, redact=redact),
    )
    checkouts.sweep()
    for folder in earlier_folders(project.checkouts_key, settings.workspace.checkouts):
        with suppress(OSError):  # nothing is made there any more
            remove_folder(folder)
            remove_folder(kept_folder(folder))
    parking = Suspension()
    with ExitStack() as opened:
        opened.callback(_sweep, checkouts)
        database = opened.enter_context(closing(open_database(project.store)))
        memory = open_memory(database, settings, order, redact)
        if memory.rows.database is not database:
            opened.callback(memory.rows.database.close)
        books = open_run_tables(database, order, memory, file_watch(project.roadmap), lambda: parking.stopping)
        ground = VerificationSetup(
            project=project,
            settings=settings,
            git=git,
            journal=books.journal,
            checkouts=checkouts,
            redact=redact,
            hold=hold_of(order),
            run=order.run,
        )
        ground.logs.sweep()
        if order.memory.mode != "off":
            asked = frozenset(gate.run for gate in books.gates.held() if gate.answer is None)
            close_left(memory, books.journal.runs(), asked)
        checkouts.forget_all_but({one.run for one in books.journal.runs() if one.unfinished} | {order.run})
        yield _Footing(ground=ground, database=database, memory=memory, books=books, parking=parking)


def _sweep(checkouts: Checkouts) -> None:
    with suppress(OSError):  # what is left is swept by the next engine; the cause of a failure must not be lost
        checkouts.sweep()


def _both(first: OnEvent, second: OnEvent) -> OnEvent:
    def tell(event: Event) -> None:
        first(event)
        second(event)

    return tell


def tools_for(
    ground: VerificationSetup,
    terminal: Terminal,
    stops: Stops,
    staff: AgentFactory,
    agent: str,
    say: Callable[[str], None],
) -> Tools:
    """What the agent of a name is given to work with."""
    settings, redact = ground.settings, ground.redact
    allowance = for_agent(settings, agent, staff.hosts(agent))
    return Tools(
        terminal=RedactingTerminal(LimitedTerminal(terminal=terminal, allowance=allowance), redact),
        say=lambda text: say(redact(text)),
        timeout_s=settings.limits.task_timeout_s,
        idle_timeout_s=settings.limits.idle_timeout_s,
        stops=stops,
        redact=redact,
        seconds_for=times_of(settings.terminal).seconds_for,
        open_interpreter=partial(_interpreter, ground.hold, allowance.network),
    )


def _interpreter(hold: Isolation, network: Network, folder: Path, limits: ExecutionLimits) -> Interpreter:
    """An interpreter whose code changes a folder directly, held like commands."""
    return hold.open_interpreter(folder, limits, network)


def _reviewer(
    footing: _Footing, staff: AgentFactory, audit: Audit, tools: Callable[[str, Callable[[str], None]], Tools]
) -> Reviewer | None:
    """Whoever gives a further opinion, where the settings ask for one."""
    ground = footing.ground
    verify = ground.settings.verify
    if verify.mode != "agent":
        return None
    veto = partial(UnaskedVeto, policy_of(ground.settings.terminal), audit)
    reviewing = ReviewTools(
        books=footing.books, run=ground.run, name=verify.agent, redact=ground.redact, tools=tools, veto=veto
    )
    return Reviewer(name=verify.agent, run=ground.run, agent=lambda: staff.agent(verify.agent), tools=reviewing)
