"""Files that a task is about and its Verify line uses: without `Files:` they judge the work, and are no part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from milepost.core.task import Problem, Task
from milepost.plan.advice.problems import listed, problem_of
from milepost.plan.repository_facts import RepositoryFacts

_WORD = re.compile(r"[\w./@+-]+")
_RUNS = re.compile(r"(?:^|[|;&])\s*(?:\S*/)?(?:python[\d.]*|node|sh|bash|ruby|perl|php)\s+(?P<file>[\w./+-]+)")
_PROSE = frozenset({".md", ".rst", ".txt", ".adoc"})
_TEST = re.compile(r"(^|/)(tests?|specs?|__tests__)/|(^|/)test_[^/]*$|[._](test|spec)\.\w+$|_test\.\w+$")


def named_as_judges(tasks: Sequence[Task], ground: RepositoryFacts) -> Iterator[Problem]:
    """Tasks that name no files, and whose line runs or reads one that their own words name."""
    for task in tasks:
        if task.files or not ground.files:
            continue
        said = {
            word.strip(".").casefold() for part in task.walk() for word in _WORD.findall(f"{part.title} {part.text}")
        }
        used = dict.fromkeys(file.removeprefix("./") for line in task.verify for file in _used(line))
        about = [file for file in used if file in ground.files and not _TEST.search(file) and _names(file) & said]
        if about:
            name = listed(about)
            message = (
                f"{task.id} is verified with {name} as before the work, unless its Files name it: Files: {about[0]}"
            )
            yield problem_of(task, message, "judge")


def _used(line: str) -> Iterator[str]:
    """The programs that a line starts from a file, and the texts that it names; sources that it reads do not judge."""
    yield from (found["file"] for found in _RUNS.finditer(line))
    yield from (word for word in _WORD.findall(line) if PurePosixPath(word).suffix.lower() in _PROSE)


def _names(file: str) -> set[str]:
    path = PurePosixPath(file.casefold())
    return {str(path), path.name} | ({path.stem} if len(path.stem) > 3 else set())
