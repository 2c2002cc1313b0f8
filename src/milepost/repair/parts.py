"""What can be said of a task itself when attempts at it fail: too vague, too large, waiting for another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from milepost.core.task import Task

FEWEST_PARTS, MOST_PARTS = 2, 5
FEW_WORDS = 12
LONGEST_ID = 64

_LETTERS = "abcde"
_CODE = (".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts", ".rs", ".go", ".java", "")

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


def provable(parts: Iterable[Task]) -> bool:
    """Whether every part says how it is proven: one that does not could only end unverified."""
    return all(verify_of(part) for part in parts)


def maker_of(missing: str, task: Task, others: Iterable[Task]) -> Task | None:
    """The other task that makes a missing file or module, where `task` does not make it itself.

    One that waits for `task`, through however many others, cannot be waited for.
    """
    others = tuple(others)
    if not missing or any(_makes(file, missing) for file in files_of(task)):
        return None
    behind = _waiting_for(task.id, others)
    return next(
        (
            other
            for other in others
            if other.id not in behind and any(_makes(file, missing) for file in files_of(other))
        ),
        None,
    )


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
        agent=part.agent or task.agent,
        subtasks=part.subtasks,
        guess=task.guess,
        tests_may_change=task.tests_may_change or part.tests_may_change,
        only_its_files=task.only_its_files and bool(part.files),
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


def _waiting_for(task_id: str, others: tuple[Task, ...]) -> set[str]:
    """The tasks that wait for this one, directly or through others."""
    behind: set[str] = {task_id}
    while more := {other.id for other in others if behind & set(other.depends_on)} - behind:
        behind |= more
    return behind


def _makes(file: str, missing: str) -> bool:
    """Whether a named file is what is missing: the same path, or the module that it holds."""
    file, wanted = _plain(file), _plain(missing)
    if not file or not wanted:
        return False
    if _ends_with(wanted, file) or _ends_with(file, wanted):
        return True
    path = PurePosixPath(file)
    if path.suffix not in _CODE:
        return False
    bare = path.parent if path.stem in ("__init__", "mod", "index") else path.with_suffix("")
    module = wanted if "/" in missing else re.sub(r"::|\.", "/", missing).strip("/")
    return _ends_with(str(bare), module) or f"/{module}/" in f"/{bare}/"


def _plain(path: str) -> str:
    parts = [part for part in path.strip().split("/") if part not in ("", ".", "..")]
    return "/".join(parts)


def _ends_with(path: str, ending: str) -> bool:
    return path == ending or path.endswith(f"/{ending}")
