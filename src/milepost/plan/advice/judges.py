"""Files that a task is about and its Verify line reads: without `Files:` they judge the work and are no part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from milepost.core.task import Problem, Task
from milepost.plan.advice.problems import listed, problem_of
from milepost.plan.repository_facts import RepositoryFacts

_WORD = re.compile(r"[\w./@+-]+")


def named_as_judges(tasks: Sequence[Task], ground: RepositoryFacts) -> Iterator[Problem]:
    """Tasks whose line runs or reads a file that their own words name, and that name no files."""
    for task in tasks:
        if task.files or not ground.files:
            continue
        said = {
            word.strip(".").casefold() for part in task.walk() for word in _WORD.findall(f"{part.title} {part.text}")
        }
        read = dict.fromkeys(word.removeprefix("./") for line in task.verify for word in _WORD.findall(line))
        about = [file for file in read if file in ground.files and _names(file) & said]
        if about:
            name = listed(about)
            message = (
                f"{task.id} is verified with {name} as before the work, unless its Files name it: Files: {about[0]}"
            )
            yield problem_of(task, message, "judge")


def _names(file: str) -> set[str]:
    path = PurePosixPath(file.casefold())
    return {str(path), path.name} | ({path.stem} if len(path.stem) > 3 else set())
