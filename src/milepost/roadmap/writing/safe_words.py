"""Words that somebody else chose, such as a model, made fit to be written: what reads otherwise is put plainer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from milepost.core.task import Task
from milepost.roadmap.reading.read import read
from milepost.roadmap.reading.titles import printable, unlinked
from milepost.roadmap.writing.draft_roadmap import DraftSection, Manuscript, Phase
from milepost.roadmap.writing.write import misreadings, rendered

LONGEST_TITLE = 200

_BLANK = Task(id="1.1", title="A title", status="open", line=0)
_LAST = (Task(id="1.1.1", title="A step", status="open", line=0),)
_FULL = replace(_BLANK, files=("a.py",), verify=("true",))
_AFTER = Task(id="1.2", title="Another", status="open", line=0, files=("a.py",), depends_on=("1.1",))
_MARKUP = re.compile(r"[^\w\s.,;'/+%=-]")
_NO_WORD = re.compile(r"[^\w\s]|_")
_STRUCTURE = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[.?\]|[*_]*[A-Za-z]+(?:\s[A-Za-z]+)?[*_]*\s*:)")


def tamed(task: Task) -> Task:
    """The task such that it can be written: title and text in plainer words where needed, odd paths left out."""
    below = tuple(map(tamed, task.subtasks))
    task = replace(task, text=_clean(task.text))
    # A line always follows the text: one that would swallow it is found out also where only a dependency follows.
    tried = replace(task, depends_on=(), id=_BLANK.id, subtasks=_LAST if below else (), files=task.files or _FULL.files)
    if not _can_be_written(tried):
        task = replace(
            task,
            title=tame_title(task.title),
            text=_first_that_fits(_texts(task.text), lambda text: replace(_FULL, text=text)),
            files=tuple(path for path in task.files if _can_be_written(replace(_BLANK, files=(path,)))),
            verify=tuple(command for command in task.verify if _can_be_written(replace(_BLANK, verify=(command,)))),
        )
    return replace(task, subtasks=below)


def with_priorities(manuscript: Manuscript) -> Manuscript:
    """The manuscript whose tasks have the priorities that its headings give them, such as `High priority fixes`."""
    found = iter(read(rendered(manuscript).encode()).tasks)

    def section(given: DraftSection) -> DraftSection:
        return replace(given, tasks=tuple(replace(task, priority=next(found).priority) for task in given.tasks))

    phases = (replace(phase, sections=tuple(map(section, phase.sections))) for phase in manuscript.phases)
    return replace(manuscript, phases=tuple(phases))


def tame_title(title: str) -> str:
    """The title in one line, as it is or in plainer signs."""
    return _first_that_fits((*_headings(title), "Untitled"), lambda words: replace(_BLANK, title=words))


def tame_heading(heading: str, otherwise: str) -> str:
    """The heading in one line, as it is or in plainer signs; `otherwise` where nothing is left of it."""

    def made(words: str) -> Manuscript:
        section = DraftSection(title=words, tasks=(_BLANK,))
        return Manuscript(title="Roadmap", phases=(Phase(name=f"Phase 1: {words}", sections=(section,)),))

    return next((words for words in _headings(heading) if words and _reads_back(made(words))), otherwise)


def tame_name(title: str) -> str:
    """The title of a roadmap in one line, as it is or in plainer signs."""

    def made(words: str) -> Manuscript:
        return Manuscript(title=words, phases=(Phase(name="Phase 1: A", sections=(DraftSection(tasks=(_BLANK,)),)),))

    return next((words for words in _headings(title) if words and _reads_back(made(words))), "Roadmap")


def tame_line(text: str) -> str:
    """A sentence beside the tasks in one line, without what could be read as one."""
    return _plainer(printable(text), _MARKUP)


def _headings(heading: str) -> tuple[str, ...]:
    line = printable(heading)[:LONGEST_TITLE].strip()
    return (line, unlinked(line), _plainer(line, _MARKUP), _plainer(line, _NO_WORD))


def _texts(text: str) -> Iterable[str]:
    lines = text.split("\n")
    yield text
    yield "\n".join(_as_code(line) if _STRUCTURE.match(line) else line.strip() for line in lines).strip("\n")
    yield _plainer(" ".join(lines), _MARKUP)
    yield _plainer(" ".join(lines), _NO_WORD)
    yield ""


def _clean(text: str) -> str:
    """The text without what a terminal would obey and what cannot be seen."""
    return "\n".join(_clean_line(line.replace("\t", "    ")).rstrip() for line in text.splitlines()).strip("\n")


def _clean_line(line: str) -> str:
    return line if line.isprintable() else " " * (len(line) - len(line.lstrip(" "))) + printable(line)


def _as_code(line: str) -> str:
    """What looks like a box or a statement, as code, which is neither."""
    return f"`{line.strip().replace('`', chr(39))}`"


def _plainer(text: str, unwanted: re.Pattern[str]) -> str:
    return " ".join(unwanted.sub(" ", text).split()).strip(" .,;'/+%=-")


def _first_that_fits(candidates: Iterable[str], made: Callable[[str], Task]) -> str:
    return next((words for words in candidates if _can_be_written(made(words))), "")


def _can_be_written(task: Task) -> bool:
    """Whether it reads back, with a word on where it comes from and without, and leaves what follows it alone."""
    phase = Phase(name="Phase 1: A", sections=(DraftSection(tasks=(task, _AFTER)),))
    places: tuple[dict[str, str], ...] = ({}, {task.id: "a.md:1"})
    return all(_reads_back(Manuscript(title="Roadmap", phases=(phase,), origins=origins)) for origins in places)


def _reads_back(manuscript: Manuscript) -> bool:
    """Whether a reader finds what is written, but for priorities, which headings may add."""
    return all(misread.field == "priority" for misread in misreadings(manuscript, rendered(manuscript)))
