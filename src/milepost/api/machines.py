"""Set up a repository, examine this machine, agree to settings, be a worker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from milepost.api.arguments import ignore, path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from milepost.api.arguments import OnEvent
    from milepost.core.asked_settings import SettingsQuestion
    from milepost.core.errors import MilepostError
    from milepost.engine.commands.doctor import Finding
    from milepost.engine.commands.find_facts import Facts
    from milepost.engine.commands.look_at_base import BaseTests
    from milepost.engine.commands.service import ServiceState
    from milepost.engine.records.worker_lease import Worker


def init(
    folder: Path | str | None = None,
    *,
    prompt: str | None = None,
    template: str = "",
    style: str = "standard",
    model: str | None = None,
    say: Callable[[str], None] | None = None,
    accept: bool = False,
    agent: str | None = None,
) -> tuple[Path, ...]:
    """Set up a repository with a first roadmap and settings, if it has none; returns the files it made.

    The roadmap is an example, one from a template, or written by a model from `prompt`. With `accept`, the settings
    that are proposed for what the repository has take effect; else they are comments. `agent` is set as the agent of
    runs; without it the first that can work on this machine, with "" none.
    """
    from milepost.engine.commands.init import init as set_up

    where = Path(folder or ".")
    if prompt is None and not template:
        return set_up(where, accept=accept, agent=agent)
    from milepost.engine.authoring.compose import ComposeWish

    wish = ComposeWish(folder=where, prompt=prompt or "", template=template, style=style, model=model)
    return set_up(where, wish, say or ignore, accept=accept, agent=agent)


def proposals(folder: Path | str | None = None) -> tuple[str, ...]:
    """What `init` would set with `accept` for a repository that has no settings yet, a sentence each."""
    from milepost.engine.commands.init import proposals_for

    return tuple(proposal.says for proposal in proposals_for(Path(folder or ".")))


def facts(folder: Path | str | None = None) -> Facts:
    """What `init` finds in a repository: its languages, tests, lock files and rules, and the agents that can work."""
    from milepost.engine.commands.init import facts_of

    return facts_of(Path(folder or "."))


def base_tests(roadmap: Path | str | None = None) -> BaseTests:
    """Run the tests of the commit that you stand on once, as a run would before any work, and say how they stand."""
    from milepost.engine.commands.look_at_base import base_tests as look

    return look(Path(roadmap or "."))


def doctor(folder: Path | str | None = None) -> tuple[Finding, ...]:
    """What works on this machine and what is missing."""
    from milepost.engine.commands.doctor import examine

    return examine(path_of(folder) or Path.cwd())


def unanswered_settings(roadmap: Path | str | None = None) -> tuple[SettingsQuestion, ...]:
    """What a repository's files want that nobody agreed to on this machine; `agree` of each keeps that you do."""
    from milepost.engine.commands.agree import questions

    return questions(path_of(roadmap))


def agree_to_settings(roadmap: Path | str | None = None, *, for_this_process: bool = False) -> None:
    """Agree to all that a repository's files set now; changed values are asked about again."""
    from milepost.engine.commands.agree import agree

    agree(path_of(roadmap), for_this_process=for_this_process)


def withdraw_settings(roadmap: Path | str | None = None) -> None:
    """Forget what was agreed to about a repository's files."""
    from milepost.engine.commands.agree import withdraw

    withdraw(path_of(roadmap))


def work(
    *,
    database: str | None = None,
    remote: str | None = None,
    capacity: int | None = None,
    labels: tuple[str, ...] = (),
    name: str | None = None,
    folder: Path | str | None = None,
    on_event: OnEvent | None = None,
    on_ready: Callable[[Worker], None] | None = None,
    on_lost: Callable[[MilepostError], None] | None = None,
) -> None:
    """Be a worker until interrupted: take tasks of the runs that were submitted to a database.

    What is not given comes from the milepost.toml of `folder`. If another worker took over, `on_lost` is called and the
    process ends at once with exit code 3.
    """
    from milepost.engine.workers.worker import work as take_turns
    from milepost.engine.workers.worker_settings import hired

    settings = path_of(folder) or Path.cwd()
    hire = hired(settings, database=database, remote=remote, capacity=capacity, labels=labels, name=name)
    take_turns(hire, on_event or ignore, on_lost or ignore, on_ready or ignore)


def install_service() -> ServiceState:
    """Install a user unit of systemd that continues runs after a restart of the machine."""
    from milepost.engine.commands import service

    return service.install()


def uninstall_service() -> bool:
    """Remove that unit; False if there is none."""
    from milepost.engine.commands import service

    return service.uninstall()


def service_state() -> ServiceState:
    """Whether that unit is installed, and which runs are interrupted."""
    from milepost.engine.commands import service

    return service.state()


def continue_runs(say: Callable[[str], None] | None = None) -> int:
    """Continue all runs that a restart of the machine interrupted, and wait for their ends; returns how many."""
    from milepost.engine.commands import service

    return service.continue_runs(say or ignore)
