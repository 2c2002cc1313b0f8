"""The recipe for a path in the roadmap that was wrong when it was written.

The roadmap is the user's and stays as it is. A correction holds for the run, and only where it cannot pass off other
work as the task's: the file that is meant was there before the attempt, is the only one of its name, and either the
attempt changed it or it lies where the path says but for some folders. Elsewhere it is only proposed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from milepost.core.task import Task
from milepost.repair.recipes.recipe import Advice, Answer, Correction, RecipeTools, RepairCase

# Names that mean nothing without their folder.
COMMON_NAMES = frozenset(
    (
        *("__init__.py", "__main__.py", "conftest.py", "setup.py", "main.py", "app.py", "index.js", "index.ts"),
        *("index.tsx", "index.html", "mod.rs", "lib.rs", "main.rs", "main.go", "README.md", "package.json"),
        *("pyproject.toml", "Makefile", "Dockerfile", "requirements.txt", "tsconfig.json", ".gitignore"),
    )
)
_MAKING = re.compile(
    r"\b(?:creat\w*|new file|new module|move\w*|renam\w*|split\w*|extract\w*|generat\w*|copy|copied|introduc\w*)\b",
    re.IGNORECASE,
)
_TESTING = re.compile(r"\b(?:writ\w*|add\w*|creat\w*|new)\b[^.\n]{0,60}\btests?\b", re.IGNORECASE)
_GLOB = re.compile(r"[*?\[]")
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*\.\w+")


class WrongPath:
    """Finds the file that a path in `Files:` or `Verify:` means when there is none where it says."""

    name = "wrong path in the roadmap"

    def fits(self, case: RepairCase) -> bool:
        parts = tuple(case.task.walk())
        named = [path for part in parts for path in (*part.files, *named_in(part.verify))]
        said = case.said
        return any(_plain(path) and _plain(path) in said for path in named)

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        at_base, changed = case.paths_at_base(), set(case.change.paths)
        proposals: list[str] = []
        for part in case.task.walk():
            for path in map(_plain, part.files):
                if not case.files.is_file(path) and (found := meant(path, at_base)):
                    if found in changed and case.files.is_file(found) and not _MAKING.search(_words(part)):
                        return _correction(path, found, "Files")
                    proposals.append(_proposal(path, found, "Files"))
            for path in named_in(part.verify):
                if not case.files.is_file(path) and (found := meant(path, at_base)):
                    if is_alike(path, found) and not _TESTING.search(_words(part)):
                        return _correction(path, found, "Verify")
                    proposals.append(_proposal(path, found, "Verify"))
        return Advice(what="; ".join(dict.fromkeys(proposals))) if proposals else None


def meant(path: str, paths: tuple[str, ...]) -> str:
    """The only file with the name of one that is not there; empty when there is none, or any doubt."""
    name = PurePosixPath(path).name
    if not path or path in paths or name in COMMON_NAMES or _GLOB.search(path) or not PurePosixPath(name).suffix:
        return ""
    if any(each.startswith(f"{path}/") for each in paths):
        return ""
    same = [each for each in paths if PurePosixPath(each).name == name]
    return same[0] if len(same) == 1 else ""


def is_alike(named: str, found: str) -> bool:
    """Whether one path is the other with folders left out: a command of the wrong part of a project proves nothing."""
    one, other = (
        [part.lower().removesuffix("s") for part in PurePosixPath(path).parts[:-1]] for path in (named, found)
    )
    return _is_part(one, other) or _is_part(other, one)


def named_in(lines: Iterable[str]) -> tuple[str, ...]:
    """The paths of files that command lines name, the parts after `::` of a test's id left out."""
    words: list[str] = []
    for line in lines:
        try:
            words += shlex.split(line, comments=True)
        except ValueError:
            continue
    plain = (_plain(word.partition("::")[0]) for word in words if not word.startswith("-"))
    return tuple(dict.fromkeys(word for word in plain if _PATH.fullmatch(word)))


def corrected(task: Task, correction: Correction) -> Task:
    """The task with the path that is meant, in `Files:` and `Verify:`, its subtasks as well."""
    named = re.compile(rf"(?<![\w./@+-])(?:\./)?{re.escape(correction.path_named)}(?![\w/@+-]|\.\w)")
    found = correction.path_found

    def put(text: str) -> str:
        return named.sub(lambda _: found, text)

    return replace(
        task,
        files=tuple(found if _plain(path) == correction.path_named else path for path in task.files),
        verify=tuple(put(line) for line in task.verify),
        subtasks=tuple(corrected(part, correction) for part in task.subtasks),
    )


def _correction(named: str, found: str, where: str) -> Correction:
    what = f"{where}: names {named}, which does not exist; {found} is the only file of that name and is used instead"
    return Correction(what=what, path_named=named, path_found=found)


def _proposal(named: str, found: str, where: str) -> str:
    return f"{where}: names {named}, which does not exist; if {found} is meant, say so in the roadmap"


def _words(task: Task) -> str:
    return f"{task.title}\n{task.text}"


def _is_part(few: list[str], many: list[str]) -> bool:
    """Whether the folders of one stand in the other in the same order."""
    rest = iter(many)
    return all(folder in rest for folder in few)


def _plain(path: str) -> str:
    return path.strip().removeprefix("./")
