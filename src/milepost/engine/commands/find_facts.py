"""What `init` finds in a repository and on this machine: what the project is, who can work on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import MilepostError
from milepost.engine.agents.factory import make_agent
from milepost.engine.planning.agent_to_name import AGENTS
from milepost.engine.project.settings.settings import Settings
from milepost.plan.context.conventions import managers_in
from milepost.plan.context.project_facts import language_lines
from milepost.plan.context.rules import NAMES
from milepost.verify.suites.detect import FoundSuite, suites

MOST_SHOWN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found: who runs tests, the lock files' tools, files with rules for agents, agents that can work."""

    languages: str = ""
    suites: tuple[str, ...] = ()
    managers: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """Each in a sentence, on one line whatever the names in it hold."""
        return tuple("".join(sign if sign.isprintable() else "?" for sign in line) for line in self._said())

    def _said(self) -> Iterator[str]:
        if self.languages:
            yield self.languages
        tests = "none found: give each task a Verify line"
        yield f"tests: {_some(self.suites) if self.suites else tests}"
        if self.managers:
            yield f"dependencies: {', '.join(self.managers)}"
        if self.rules:
            yield f"rules for agents: {', '.join(self.rules)}"
        yield (
            f"agents that can work here: {', '.join(self.agents)}"
            if self.agents
            else ("agents that can work here: none; milepost doctor says what each of them needs")
        )


def find_facts(top: Path, tracked: Collection[str]) -> Facts:
    """Look at a repository; `tracked` are its files."""
    at_top = {path for path in tracked if "/" not in path}
    return Facts(
        languages=next((line for line in language_lines(tracked) if line.startswith("languages")), ""),
        suites=tuple(_suite(suite) for suite in suites(top)),
        managers=managers_in(at_top),
        rules=tuple(name for name in NAMES if name in tracked),
        agents=tuple(name for name in AGENTS if _can_work(name, top)),
    )


def _can_work(name: str, folder: Path) -> bool:
    try:
        make_agent(name, Settings(), folder)
    except MilepostError:
        return False
    return True


def _suite(suite: FoundSuite) -> str:
    runner = "pytest or unittest" if suite.runner.name == "python" else suite.runner.name
    return f"{runner} in {suite.folder}" if suite.folder else runner


def _some(labels: tuple[str, ...]) -> str:
    more = len(labels) - MOST_SHOWN
    return ", ".join(labels[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")
