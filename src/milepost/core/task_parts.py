"""What a task says of itself: whether that is enough to go by, and the parts that it falls into."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from milepost.core.task import Task

FEWEST_PARTS, MOST_PARTS = 2, 5
FEW_WORDS = 12
LONGEST_ID = 64

_LETTERS = "abcde"
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=\S)|\n\s*\n|\n\s*[-*]\s+")


def is_vague(task: Task) -> bool:
    """Whether a task says neither where nor how it is proven, and little else."""
    words = " ".join(f"{part.title} {part.text}" for part in task.walk()).split()
    return not files_of(task) and not verify_of(task) and len(set(words)) < FEW_WORDS


def files_of(task: Task) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file for part in task.walk() for file in part.files))


def verify_of(task: Task) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for part in task.walk() for line in part.verify))


def parts_of(task: Task) -> tuple[Task, ...]:
    """Two to five tasks that a task falls into, each waiting for the one before; none where it falls into none.

    By its own subtasks, else by its Verify lines, its files, or its sentences.
    """
    ways = (_by_subtasks(task), _by_verify(task), _by_files(task), _by_sentences(task))
    parts = next((parts for parts in ways if FEWEST_PARTS <= len(parts) <= MOST_PARTS), ())
    chained: list[Task] = []
    for number, part in enumerate(parts, 1):
        waits = (*task.depends_on, *(one.id for one in chained[-1:]))
        chained.append(_part(task, part, number, waits))
    return tuple(chained)


def _part(task: Task, part: Task, number: int, waits: tuple[str, ...]) -> Task:
    ending = f".{_LETTERS[number - 1]}"
    return Task(
        id=part.id if part.id != task.id else task.id[: LONGEST_ID - len(ending)] + ending,
        title=part.title,
        status="open",
        line=part.line,
        phase=task.phase,
        section=task.section,
        text=part.text,
        depends_on=tuple(dict.fromkeys(waits)),
        files=part.files,
        verify=part.verify,
        verify_hidden=part.verify_hidden,
        agent=part.agent or task.agent,
        subtasks=part.subtasks,
        guess=task.guess,
        tests_may_change=task.tests_may_change or part.tests_may_change,
        only_its_files=task.only_its_files and bool(part.files),
        keeps_behaviour=task.keeps_behaviour or part.keeps_behaviour,
        budget=task.budget,
        timeout_s=task.timeout_s,
        approve=task.approve,
        needs=task.needs,
    )


def _by_subtasks(task: Task) -> tuple[Task, ...]:
    return tuple(subtask for subtask in task.subtasks if subtask.status == "open")


def _by_verify(task: Task) -> tuple[Task, ...]:
    return tuple(
        _piece(task, f"{task.title}: until `{line}` passes", verify=(line,), files=_spoken_of(task, line))
        for line in task.verify
    )


def _by_files(task: Task) -> tuple[Task, ...]:
    return tuple(_piece(task, f"{task.title}: {file}", files=(file,)) for file in task.files)


def _by_sentences(task: Task) -> tuple[Task, ...]:
    sentences = (" ".join(sentence.split()).strip("-* ") for sentence in _SENTENCE.split(task.text))
    return tuple(_piece(task, sentence.rstrip(".;")) for sentence in sentences if len(sentence.split()) > 2)


def _piece(task: Task, title: str, *, files: tuple[str, ...] = (), verify: tuple[str, ...] = ()) -> Task:
    return Task(id=task.id, title=title, status="open", line=task.line, text=task.text, files=files, verify=verify)


def _spoken_of(task: Task, line: str) -> tuple[str, ...]:
    """The files of a task that a Verify line speaks of, by their path or their bare name."""
    words = set(re.split(r"[^\w.]+", line)) | set(re.split(r"[^\w]+", line))
    return tuple(file for file in task.files if file in line or PurePosixPath(file).stem in words)
