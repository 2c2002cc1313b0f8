"""The ground that both a run and a verification by hand stand on: repository, settings, journal, checkouts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from milepost.core.ports import Terminal
from milepost.core.secrets.redact import Redactor
from milepost.engine.project.env_templates import Templates
from milepost.engine.project.project import Project
from milepost.engine.project.secrets import known_secrets as known_secrets
from milepost.engine.project.secrets import local_files, secrets_for_commands
from milepost.engine.project.settings.load import CHECKS, load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.check_logs import LoggingTerminal, Logs
from milepost.engine.records.journal import Journal
from milepost.engine.terminals.interpreter import outside_environment, require_interpreter
from milepost.engine.terminals.isolation import Isolation, hold_for
from milepost.engine.terminals.limits import for_checks, for_installers
from milepost.engine.terminals.slots import AttemptSlots
from milepost.engine.terminals.wrappers import DowngradedTerminal, LimitedTerminal, RedactingTerminal
from milepost.engine.verification.baseline import Baselines
from milepost.engine.verification.equipped_checkout import CheckoutEquipper
from milepost.engine.verification.hidden_folder import hidden_folder, hidden_material
from milepost.engine.verification.kept_tests import KeptTests
from milepost.engine.verification.review import Reviewer
from milepost.engine.verification.surroundings import Surroundings, surroundings_of
from milepost.engine.verification.verifier import Verifier
from milepost.sandbox.launch import users_home
from milepost.sandbox.secrets import SecretTerminal
from milepost.sandbox.terminal import WalledTerminal
from milepost.verify.command_runner import Bench
from milepost.verify.environments import Environments, EnvironmentSettings
from milepost.verify.laid_tests import Material
from milepost.verify.levels import level_named, mode_named
from milepost.verify.verify import VerificationScope
from milepost.workspace.checkout import Checkouts, environments_folder
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts


@contextmanager
def setup_by_hand(project: Project) -> Iterator[tuple[VerificationSetup, Path]]:
    """A ground beside whatever run is going on, and a folder of its own: nothing of the state is written but logs."""
    settings = load(project.roadmap.parent, uses=CHECKS)
    with tempfile.TemporaryDirectory(prefix="milepost-") as folder, Journal(Path(":memory:")) as journal:
        own = Path(folder)
        git = project.repository.git(own / "git")
        yield (
            VerificationSetup(
                project=project,
                settings=settings,
                git=git,
                journal=journal,
                checkouts=Checkouts(own / "checkouts", git, local_files(project.repository.top, settings)),
                redact=Redactor(known_secrets(settings, project.repository.top)),
                hold=hold_for(settings),
            ),
            own,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationSetup:
    """What is worked on and where, in which run if any; `redact` knows the secrets that must not be kept."""

    project: Project
    settings: Settings
    git: Git
    journal: Journal
    checkouts: Checkouts
    redact: Redactor
    hold: Isolation
    run: str = ""

    @property
    def mileposts(self) -> Mileposts:
        return Mileposts(self.git)

    @property
    def logs(self) -> Logs:
        return Logs(self.project.state / "logs")

    def open_terminal(self, held: tuple[int, ...] = ()) -> WalledTerminal:
        """The sandbox's terminal, where commands may read the repository's objects."""
        named = map(Path, self.settings.sandbox.readable)
        readable = (*self.project.repository.object_folders(), *named)
        return self.hold.open_terminal(held_fds=held, extra_readable=readable, in_checkouts=True)

    def brokered(self, terminal: Terminal) -> Terminal:
        """The same terminal, where commands are given the secrets that the settings let them have."""
        honest = DowngradedTerminal(terminal=terminal) if self.hold.downgraded else terminal
        return SecretTerminal(honest, secrets_for_commands(self.settings))

    def examiner(
        self, terminal: Terminal, mileposts: Mileposts, ahead: ThreadPoolExecutor, reviewer: Reviewer | None
    ) -> Verifier:
        """Whoever verifies, with commands run on `terminal`, which tells all: what the checks' own runners say is
        signed, and redacted only once it was heard.
        """
        logging, verify = LoggingTerminal(self.brokered(terminal), self.logs, self.redact), self.settings.verify
        outfitter = self.outfitter(logging)
        runners = ("pytest",) if verify.mode == "pytest" else tuple(verify.runners)
        return Verifier(
            mileposts=mileposts,
            outfitter=outfitter,
            baselines=Baselines(self.journal, self.run, outfitter, runners, self.surroundings()),
            asked=VerificationScope(
                level=level_named(verify.level),
                mode=mode_named(verify.mode),
                runners=runners,
                reruns=verify.reruns,
                lint=verify.lint,
                vulnerabilities="vulnerabilities" in verify.checks,
                changed_tests=verify.changed_tests,
                own_tests=verify.own_tests,
                coverage=verify.coverage,
                most_files=verify.most_files,
                largest_bytes=verify.largest_bytes,
            ),
            redact=self.redact,
            logging=logging,
            reviewer=reviewer,
            ahead=ahead,
            hidden=self.hidden(),
            kept_tests=KeptTests(journal=self.journal, run=self.run),
        )

    def hidden(self) -> Material:
        """The user's hidden tests; raises where agents could read them."""
        folder = hidden_folder(self.settings.verify.hidden, self.project.roadmap.parent)
        return hidden_material(folder, self.git, self.project.repository.position().commit)

    def surroundings(self) -> Surroundings:
        """What answers about a tree depend on beside it."""
        top = self.project.repository.top
        path = outside_environment(os.environ, top)["PATH"]
        copied = [content for content, _ in local_files(top, self.settings).contents().values()]
        return surroundings_of(self.settings, top, require_interpreter(top, self.settings), path, copied)

    def outfitter(self, terminal: Terminal) -> CheckoutEquipper:
        """Where checks run: with the project's own environment, never with ours for its own sake."""
        top, verify = self.project.repository.top, self.settings.verify
        environ = outside_environment(os.environ, top)
        bench = Bench(
            terminal=LimitedTerminal(terminal=terminal, allowance=for_checks(self.settings)),
            path=environ["PATH"],
            interpreter=require_interpreter(top, self.settings),
            timeout_s=self.settings.limits.check_timeout_s,
            stall_timeout_s=self.settings.limits.check_stall_s,
            redact=self.redact,
        )
        environments = Environments(
            cache=environments_folder(),
            terminal=RedactingTerminal(
                LimitedTerminal(terminal=terminal, allowance=for_installers(self.settings)), self.redact
            ),
            repository=top,
            environ=environ,
            home=users_home(),
            settings=EnvironmentSettings(mode=verify.environment, python=verify.python, builds=tuple(verify.build)),
        )
        given = self.settings.surroundings
        surroundings = AttemptSlots(Templates(database_name=given.database_name, env=given.env))
        return CheckoutEquipper(self.checkouts, bench, environments, surroundings)
