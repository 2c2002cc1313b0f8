"""A roadmap written as Markdown, such that reading it gives back every task with all that was said of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType

from milepost.core.budget import Allowance
from milepost.core.errors import ManuscriptMisread, RoadmapUnreadable
from milepost.core.task import Task
from milepost.roadmap.reading.read import read
from milepost.roadmap.writing.draft_roadmap import DraftSection, Manuscript, Phase

# All that a reader takes from what is written; where a task stands in the file is not told beforehand.
KEPT = (
    *("id", "title", "status", "phase", "section", "depends_on", "files", "verify", "agent", "inputs", "needs"),
    *("budget", "timeout_s", "approve", "tests_may_change", "changes_nothing", "only_its_files"),
    *("keeps_behaviour", "verify_hidden"),
    *("priority", "parallel"),
)

_PLAIN_PATH = re.compile(r"(?!none$|nothing$|n/a$)[\w][\w./+@-]*(?<!\.)", re.IGNORECASE)
_PLAIN_VALUE = re.compile(r"[A-Za-z][\w:./= -]*\w")


def write(manuscript: Manuscript) -> str:
    """The roadmap as Markdown; raises ManuscriptMisread where a reader would take it for something else."""
    text = rendered(manuscript)
    for misread in misreadings(manuscript, text):
        raise ManuscriptMisread(f"this roadmap cannot be written: {misread.what}", "use simpler wording")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Misreading:
    """What a reader would take otherwise: which field of which task, empty where it is about a task as a whole."""

    what: str
    field: str = ""


def rendered(manuscript: Manuscript) -> str:
    """The roadmap as Markdown, whatever a reader makes of it."""
    phases = (line for phase in manuscript.phases for line in _phase(phase, manuscript.origins))
    text = "\n".join([*_head(manuscript), *phases])
    return f"{text.rstrip()}\n"


def misreadings(manuscript: Manuscript, text: str) -> Iterator[Misreading]:
    """How the tasks that a reader finds in a text differ from those of the manuscript."""
    wanted = [task for top in manuscript.tasks for task in top.walk()]
    try:
        found = [task for top in read(text.encode()).tasks for task in top.walk()]
    except (RoadmapUnreadable, UnicodeEncodeError) as error:
        yield Misreading(what=f"it is not text: {error}")
        return
    for task, other in zip_longest(wanted, found):
        if task is None:
            yield Misreading(what=f"{other.title!r:.80} would be read as a task, but is not one")
            return
        if other is None:
            yield Misreading(what=f"{task.id} {task.title!r:.80} would not be read as a task")
            return
        yield from _differences(task, other)


def _differences(task: Task, other: Task) -> Iterator[Misreading]:
    for name in KEPT:
        if getattr(task, name) != getattr(other, name):
            wrong = f"{getattr(other, name)!r:.80} instead of {getattr(task, name)!r:.80}"
            yield Misreading(field=name, what=f"{name} of {task.id} would be read as {wrong}")
    if not _is_text_of(task, other.text):
        wrong = f"{other.text!r:.80} instead of {task.text!r:.80}"
        yield Misreading(field="text", what=f"the text of {task.id} would be read as {wrong}")


def _is_text_of(task: Task, read_text: str) -> bool:
    """Whether the text was read as it is; that of its subtasks, which stand below it, follows."""
    if not task.subtasks:
        return read_text == task.text
    return not task.text or read_text.startswith(f"{task.text}\n")


def _head(manuscript: Manuscript) -> Iterator[str]:
    yield f"# {manuscript.title}"
    if manuscript.intro:
        yield from ("", manuscript.intro)


def _phase(phase: Phase, origins: Mapping[str, str]) -> Iterator[str]:
    yield from ("", f"## {phase.name}")
    facts = {"Goal": phase.goal, "Priority": phase.priority.upper()}
    said = [f"> **{name}**: {fact}" for name, fact in facts.items() if fact]
    if said:
        # Two spaces at its end keep a line from running into the next one.
        yield from ("", *(f"{line}  " for line in said[:-1]), said[-1])
    for section in phase.sections:
        yield from _section(section, origins)


def _section(section: DraftSection, origins: Mapping[str, str]) -> Iterator[str]:
    if section.title:
        yield from ("", f"### {section.title}")
    yield ""
    for task in section.tasks:
        yield from task_lines(task, origins)


def task_lines(task: Task, origins: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """The lines of a task and of all below it."""
    words = [task.id, "[P]" if task.parallel else "", task.title]
    if task.id in origins:
        words.append(f"<!-- from {origins[task.id].replace('--', '- -')} -->")
    yield f"- [{'x' if task.status == 'done' else ' '}] {' '.join(filter(None, words))}"
    if task.text:
        yield from ("", *(f"  {line}" if line else "" for line in task.text.split("\n")), "")
    yield from (f"  - {line}" for line in _statements(task))
    for subtask in task.subtasks:
        yield from (f"  {line}" if line else "" for line in task_lines(subtask, origins))


def _statements(task: Task) -> Iterator[str]:
    if task.files:
        yield f"Files: {', '.join(_paths(task.files))}"
    if task.depends_on:
        yield f"Depends on: {', '.join(task.depends_on)}"
    yield from (f"Verify: {_code(command)}" for command in task.verify)
    yield from (f"Verify hidden: {_code(command)}" for command in task.verify_hidden)
    if task.agent:
        yield _agent(task.agent, task.inputs)
    if task.needs:
        yield f"Needs: {', '.join(task.needs)}"
    if task.budget != Allowance():
        yield f"Budget: {', '.join(_amounts(task.budget))}"
    if task.timeout_s is not None:
        yield f"Timeout: {_number(task.timeout_s)} s"
    if task.approve:
        yield f"Approve: {task.approve}"
    if task.priority:
        yield f"Priority: {task.priority}"
    terms = {
        "Tests: may change": task.tests_may_change,
        "Changes: none": task.changes_nothing,
        "Scope: files": task.only_its_files,
        "Behaviour: same": task.keeps_behaviour,
    }
    yield from (line for line, holds in terms.items() if holds)


def _paths(files: Sequence[str]) -> list[str]:
    """Where one of them needs to be quoted, all are: beside a quoted one the rest would be prose."""
    return list(files) if all(_PLAIN_PATH.fullmatch(path) for path in files) else [_code(path) for path in files]


def _agent(agent: str, inputs: Sequence[tuple[str, str]]) -> str:
    value, key = agent, "Agent"
    if agent.startswith("pattern:"):
        pairs = (f"{shlex.quote(name)}={shlex.quote(given)}" for name, given in inputs)
        value, key = " ".join([agent.removeprefix("pattern:"), *pairs]), "Pattern"
    return f"{key}: {value if _PLAIN_VALUE.fullmatch(value) else f'`{value}`'}"


def _amounts(budget: Allowance) -> Iterator[str]:
    if budget.usd is not None:
        yield f"${_number(budget.usd)}"
    if budget.tokens is not None:
        yield f"{budget.tokens} tokens"
    if budget.seconds is not None:
        yield f"{_number(budget.seconds)} s"
    if budget.attempts is not None:
        yield f"{budget.attempts} attempts"


def _number(amount: float) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def _code(text: str) -> str:
    """The text between more backticks than stand together in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    apart = " " if longest else ""
    return f"{fence}{apart}{text}{apart}{fence}"
