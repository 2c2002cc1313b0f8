"""Setting a repository up: a first roadmap and settings to edit, and nothing that was there touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.core.errors import FileInTheWay, StateUnwritable
from milepost.core.own_files import SETTINGS_FILE
from milepost.engine.commands.find_facts import Facts, find_facts
from milepost.engine.commands.propose_settings import READ, Proposal, proposals
from milepost.engine.project import consent
from milepost.engine.project.project import NAMES
from milepost.engine.project.settings.load import wanted_by
from milepost.plan.advice.lint import SAMPLES
from milepost.workspace.repository import Repository

if TYPE_CHECKING:
    from milepost.engine.authoring.compose import ComposeWish

LARGEST_READ = 1_000_000

ROADMAP = f"""# Roadmap

## Phase 1: First steps

- [ ] 1.1 {SAMPLES[0]}
  - Verify: test -s README.md
- [ ] 1.2 {SAMPLES[1]}
  - Depends on: 1.1
  - Verify: grep -q Usage README.md
"""

SETTINGS = """# Milepost settings for this roadmap. Commented-out lines show the defaults.

[run]
{agent}
# parallel = 2                   # attempts running at the same time
# trust = "isolated"             # absent: the strongest level available on this machine

[limits]
# attempts = 3                   # failed attempts at a task before it is given up
# task_timeout_s = 1800
# idle_timeout_s = 300
# check_timeout_s = 900
# check_stall_s = 180
"""


AGENT = 'agent = "{name}"'
OTHERS = "# or codex, aider, tool, code, command:./agent.sh"


def facts_of(folder: Path) -> Facts:
    """What `init` finds in a repository."""
    repository = Repository.find(folder)
    return find_facts(repository.top, repository.tracked_files())


def settings_text(facts: Facts, agent: str, proposed: Iterable[str]) -> str:
    """The settings of a new project, with what was found and why they are so."""
    set_to = AGENT.format(name=agent) if agent else f"# {AGENT.format(name='claude')}"
    why = f"# can work here: {', '.join(facts.agents)}" if agent in facts.agents else OTHERS
    found = "".join(f"#   {line}\n" for line in facts.lines())
    head, _, rest = SETTINGS.partition("\n")
    body = rest.replace("{agent}", f"{set_to:<32} {why}")
    return "".join((f"{head}\n# Found here by `milepost init`:\n{found}", body, *proposed))


def proposals_for(folder: Path) -> tuple[Proposal, ...]:
    """What `init` would set for a repository that has no settings yet."""
    repository = Repository.find(folder)
    if (repository.top / SETTINGS_FILE).exists():
        return ()
    return proposals(_read(repository.top), repository.ignored_files())


def init(
    folder: Path,
    wish: ComposeWish | None = None,
    say: Callable[[str], None] = lambda _: None,
    *,
    accept: bool = False,
    agent: str | None = None,
) -> tuple[Path, ...]:
    """Write a roadmap and settings where there are none; gives what was made. `wish` is what the roadmap is about.

    `agent` is who is to work; where it is not said the first that can work here, and nobody where none can.

    What is proposed for the repository is set where somebody accepts it, and agreed to with that; else it is a comment.
    """
    top = Repository.find(folder).top
    there = next((top / name for name in NAMES if (top / name).exists()), None)
    if wish is not None and there is not None:
        raise FileInTheWay(f"{str(there)!r} exists already", "write another one: milepost roadmap new --write FILE")
    made = []
    if there is None:
        made.append((top / NAMES[0], ROADMAP if wish is None else composed_for(wish, say)))
    if not (top / SETTINGS_FILE).exists():
        proposed = (one.text(accepted=accept) for one in proposals_for(folder))
        facts = facts_of(top)
        who = next(iter(facts.agents), "") if agent is None else agent
        made.append((top / SETTINGS_FILE, settings_text(facts, who, proposed)))
    try:
        for path, text in made:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StateUnwritable(
            f"{error.filename!r} cannot be written: {error.strerror}", "make the folder writable"
        ) from error
    paths = tuple(path for path, _ in made)
    if accept and top / SETTINGS_FILE in paths:
        consent.agree(top / SETTINGS_FILE, wanted_by(top))
    return paths


def _read(top: Path) -> dict[str, str]:
    """The files at the top that tell of services."""
    found = {}
    for name in READ:
        with suppress(OSError):
            found[name] = (top / name).read_text(encoding="utf-8", errors="replace")[:LARGEST_READ]
    return found


def composed_for(wish: ComposeWish, say: Callable[[str], None]) -> str:
    """The text of a new roadmap, and what it took."""
    from milepost.engine.authoring.ask_model import cost_words
    from milepost.engine.authoring.compose import compose

    made = compose(wish, say)
    for left_out in made.left_out:
        say(f"left out: {left_out}")
    if made.model:
        say(f"{made.model}: {cost_words(made.usage, price_known=made.price_known)}")
    return made.text
