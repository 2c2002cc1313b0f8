"""An agent that is another program: started for an attempt in a home of its own, watched, and ended at its bounds.

What it says is followed, and nothing of it is believed: its end is judged from its word and its exit code together, and
its work is what it left in the workspace.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.agents.identity import GIT_IDENTITY
from milepost.agents.models.prices import Price
from milepost.agents.programs import home as homes
from milepost.agents.programs.availability import Availability, SignedIn, not_found, not_signed_in, standing_of
from milepost.agents.programs.driver import Capabilities, Driver, Invocation, Job, ProgramSetup
from milepost.agents.programs.limits import bounds_of, hosts_of, usd_left
from milepost.agents.programs.login import bring_back, lent
from milepost.agents.programs.outcome import ProgramOutcome, at_bound, judge, with_hosts
from milepost.agents.programs.progress import ProgramLimits, ProgramProgress, ResumePoint, place_in
from milepost.agents.programs.users_setup import Lent, lend_setup, text_at
from milepost.agents.programs.visible_paths import needed_paths
from milepost.agents.programs.watch import AtBound, ProgramWatch
from milepost.agents.prompt import prompt_for
from milepost.agents.prompts import filled
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.calls import Usage
from milepost.core.commands import Command, Network
from milepost.core.errors import AgentUnknown
from milepost.core.ports import Terminal, Tools

VERSION_S = 60.0
SHORTEST_S = 1.0
FOLDER = "program"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """One attempt: what it is about and works with, and when it must be over."""

    assignment: Assignment
    workspace: Workspace
    tools: Tools
    bounds: ProgramLimits
    folder: Path
    deadline: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What came of one start of the program."""

    judgement: ProgramOutcome
    progress: ProgramProgress
    enforced: tuple[str, ...] = ()
    exited: bool = False
    given: tuple[str, ...] = ()

    @property
    def never_began(self) -> bool:
        """It ended by itself before anything came of it, and its service was not in trouble: it lost the session."""
        failed = self.exited and self.judgement.status == "gave_up"
        return failed and self.progress.trouble is None and not self.progress.began


class ProgramAgent:
    """Does attempts with an agent program, as its driver knows it and the settings set it up."""

    def __init__(
        self,
        driver: Driver,
        setup: ProgramSetup | None = None,
        *,
        users_home: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._driver = driver
        self.setup = setup or ProgramSetup()
        self._users_home = Path("~").expanduser() if users_home is None else users_home
        self._clock = clock

    def capabilities(self) -> Capabilities:
        return self._driver.capabilities()

    def require(self) -> None:
        """Raise where the program cannot be started, or is not signed in with a service that asks for it."""
        standing = Availability(name=self._driver.name)
        if self._program() is None:
            standing = not_found(standing.name, self.setup.program or self._driver.program)
        elif self._signed_in() == "no" and not self.setup.base_url:
            standing = not_signed_in(standing.name, self._driver.program, self.capabilities())
        if not standing.usable:
            raise AgentUnknown(f"the agent {standing.name!r} cannot work here: {standing.problem}", standing.advice)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Whom the program must reach: the address that is set for it, else its own."""
        return hosts_of(self.setup.base_url) or self.capabilities().hosts

    @property
    def price_known(self) -> bool:
        """Whether a bound in money can hold for this agent."""
        can = self.capabilities()
        return can.counts_usd or (can.counts_tokens and self._price("").known)

    def validate(self, terminal: Terminal) -> Availability:
        """Whether the program can be used here; it is started, in the sandbox, for its version only."""
        name, program, can = self._driver.name, self._program(), self.capabilities()
        if program is None:
            return not_found(name, self.setup.program or self._driver.program)
        with tempfile.TemporaryDirectory(prefix="milepost-") as folder:
            (work := Path(folder, "work")).mkdir()
            command = Command(
                argv=self._driver.version_argv(program),
                cwd=work,
                scratch=Path(folder, "scratch"),
                env={name: value for name, value in self.setup.env.items() if name not in can.keys},
                timeout_s=VERSION_S,
                readable=self._readable(program),
            )
            told = terminal.run(command)
        return standing_of(name, program, told, timeout_s=VERSION_S, signed_in=self._signed_in(), capabilities=can)

    def act(self, assignment: Assignment, workspace: Workspace, tools: Tools) -> Outcome:
        program = self._program()
        if program is None:
            lost = not_found(self._driver.name, self.setup.program or self._driver.program)
            return Outcome(status="gave_up", said=f"{lost.problem}: {lost.advice}")
        if not self.price_known and self._bounds(tools).usd is not None:
            tools.say(f"the price of {self._driver.name}'s model is not known: its work is counted as $0")
        attempt = _Attempt(
            assignment=assignment,
            workspace=workspace,
            tools=tools,
            bounds=self._bounds(tools),
            folder=workspace.kept or workspace.scratch / FOLDER,
            deadline=self._clock() + tools.timeout_s,
        )
        run = self._run(program, attempt)
        status, said = run.judgement.status, run.judgement.said
        return Outcome(
            status=status,
            said=said,
            usage=run.progress.place.usage,
            enforced=run.enforced,
            given=run.given,
            printed=run.progress.said if status == "finished" else "",
        )

    def _run(self, program: str, attempt: _Attempt) -> _Run:
        """Go on with the session that was noted where there is one, else start anew; also when it is not known."""
        before = place_in(attempt.tools.logbook.session)
        if before.session and before.turns and self.capabilities().sessions and _is_kept(attempt):
            home = homes.made(attempt.folder)
            attempt.tools.say(f"continuing session {before.session}")
            run = self._started(program, attempt, home, before)
            if not run.never_began:
                return run
            attempt.tools.say(f"session {before.session} is lost: starting a new one")
        anew = replace(before, session="")
        self._bring_login_back(attempt.folder)
        return self._started(program, attempt, homes.emptied(attempt.folder), anew)

    def _started(self, program: str, attempt: _Attempt, home: Path, before: ResumePoint) -> _Run:
        tools, can = attempt.tools, self.capabilities()
        job = self._job(attempt, home, before)
        setup = self._bounded(attempt.bounds, before)
        invocation = self._driver.invocation(program, job, setup)
        given = (*self._set_up(home, job.folder), *invocation.given)
        for line in given:
            tools.say(f"given: {line}")
        command = self._command(program, attempt, home, invocation)
        watch = ProgramWatch(
            reader=self._driver.reader(),
            bounds=attempt.bounds,
            before=before,
            tools=tools,
            priced_at=self._cost,
            may_leave=can.sessions and attempt.workspace.kept is not None,
            clock=self._clock,
        )
        with self._furnished(home, invocation):
            try:
                result = tools.terminal.run(command, watch.line)
            except AtBound as end:
                tools.say(end.bound.what)
                judgement = at_bound(end.bound, watch.progress)
                return _Run(judgement=judgement, progress=watch.progress, given=given)
        judgement = judge(result, watch.progress, can, attempt.bounds, program=program, timeout_s=command.timeout_s)
        judgement = replace(judgement, said=with_hosts(judgement.said, self.hosts))
        exited = result.termination == "exited"
        return _Run(judgement=judgement, progress=watch.progress, enforced=result.enforced, exited=exited, given=given)

    def _set_up(self, home: Path, folder: Path) -> tuple[str, ...]:
        """Lend the program what its user set it up with at home; what it is given of that and of the repository."""
        can, clean = self.capabilities(), self.setup.clean
        lent = Lent() if clean else lend_setup(can.at_home, users_home=self._users_home, home=home)
        projects = [] if clean and can.can_be_clean else [name for name in can.in_project if (folder / name).exists()]
        if clean and not projects:
            return ("nothing of yours or the repository's (clean = true)",)
        return (
            *([f"of the repository: {', '.join(projects)}"] if projects else []),
            *([f"of yours: {', '.join(f'~/{name}' for name in lent.given)}"] if lent.given else []),
            *(f"not given: {what}" for what in lent.left),
        )

    def _job(self, attempt: _Attempt, home: Path, before: ResumePoint) -> Job:
        assignment = attempt.assignment
        return Job(
            prompt=filled("program_resumed") if before.session else prompt_for(assignment),
            folder=attempt.workspace.folder,
            home=home,
            session=before.session,
            files=assignment.files,
            timeout_s=max(SHORTEST_S, attempt.deadline - self._clock()),
            usd_left=usd_left(attempt.bounds, before),
            users={name: text_at(self._users_home, name) for name in self.capabilities().settings},
            projects={name: text_at(attempt.workspace.folder, name) for name in self.capabilities().settings},
        )

    def _command(self, program: str, attempt: _Attempt, home: Path, invocation: Invocation) -> Command:
        return Command(
            argv=invocation.argv,
            cwd=attempt.workspace.folder,
            scratch=attempt.workspace.scratch,
            env={**GIT_IDENTITY, **_of_home(home), **self.setup.env, **invocation.env},
            stdin=invocation.stdin,
            timeout_s=max(SHORTEST_S, attempt.deadline - self._clock()),
            idle_timeout_s=attempt.tools.idle_timeout_s,
            readable=(*self._readable(program), *invocation.readable),
            writable=(attempt.folder,),
            network=Network(mode="hosts", hosts=self.hosts),
            lines_are_parsed=True,
        )

    @contextmanager
    def _furnished(self, home: Path, invocation: Invocation) -> Iterator[None]:
        """Put what the program needs into its home; what it was lent of an account is there only while it runs."""
        login = self.capabilities().login
        with ExitStack() as stack:
            if login and not self._has_key() and not self.setup.base_url:
                stack.enter_context(lent(login, users_home=self._users_home, home=home))
            homes.put(home, invocation.files)
            yield

    def _bring_login_back(self, folder: Path) -> None:
        """Give the user what an attempt that was cut short renewed, before the home that it is in is emptied."""
        if login := self.capabilities().login:
            bring_back(Path(os.path.realpath(self._users_home / login)), homes.made(folder), login)

    def _bounds(self, tools: Tools) -> ProgramLimits:
        return bounds_of(self.setup, tools.usd_left)

    def _bounded(self, bounds: ProgramLimits, before: ResumePoint) -> ProgramSetup:
        """The settings with the bounds that are left to this start of the program."""
        turns = max(1, bounds.turns - before.turns)
        return replace(self.setup, max_turns=turns, max_usd=usd_left(bounds, before))

    def _cost(self, model: str, usage: Usage) -> float:
        price = self._price(model)
        return price.of(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, read=usage.cached_tokens)

    def _price(self, model: str) -> Price:
        provider = self.capabilities().provider
        return Price(provider=provider, model=(model or self.setup.model).removeprefix(f"{provider}/"))

    def _program(self) -> str | None:
        """The file to start, by its whole path."""
        path = self.setup.env.get("PATH") or os.environ.get("PATH")
        wanted = str(Path(self.setup.program).expanduser()) if self.setup.program else self._driver.program
        found = shutil.which(wanted, path=path)
        return None if found is None else str(Path(found).absolute())

    def _readable(self, program: str) -> tuple[Path, ...]:
        return needed_paths(Path(program), users_home=self._users_home)

    def _has_key(self) -> bool:
        return any(self.setup.env.get(key) for key in self.capabilities().keys)

    def _signed_in(self) -> SignedIn:
        login = self.capabilities().login
        if self._has_key():
            return "key"
        return "login" if login and not self.setup.base_url and (self._users_home / login).is_file() else "no"


def _is_kept(attempt: _Attempt) -> bool:
    home = attempt.folder / "home"
    return home.is_dir() and not home.is_symlink() and any(home.iterdir())


def _of_home(home: Path) -> dict[str, str]:
    """The variables that lead a program into its home and nowhere else."""
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
    }
