"""What tasks name that is not there: files that nobody makes, programs that this machine does not have."""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase

from milepost.core.task import Problem, Task
from milepost.plan.advice.problems import listed, problem_of
from milepost.plan.repository_facts import RepositoryFacts

_CREATES = re.compile(
    r"\b(?:creat\w+|new|scaffold\w*|generat\w+|bootstrap\w*|introduc\w+|extract\w*|split\w*|initiali[sz]e|make|mov(?:e|ing)"
    r"|renam(?:e|ing)|skeleton)\b",
    re.IGNORECASE,
)
_ADDS = re.compile(
    r"\b(?:add\w*|writ\w+|implement\w*|build\w*|set ?up|provid\w+|defin\w+|draft\w*|port\w*|support\w*|document\w*"
    r"|tests?|cover\w*|install\w*|configur\w+|publish\w*|record\w*|produc\w+|develop\w*|design\w*|prepare)\b",
    re.IGNORECASE,
)
_TEST_FILE = re.compile(r"(^|/)(tests?|specs?|__tests__)/|(^|/)test_[^/]*$|[._](test|spec)\.\w+$|_test\.\w+$")
# Not the name of one file of the repository: somewhere else, or with a part left open.
_OPEN = re.compile(r"^[/~]|^[A-Za-z][\w+.-]*:|(^|/)\.\.(/|$)|[<>{}$…]|\.\.\.")
_ALIKE = 0.82
_MOST_COMPARED, _MOST_GUESSED = 400, 200


def missing_files(tasks: Sequence[Task], ground: RepositoryFacts) -> Iterator[Problem]:
    """Files that an open task names, that are not there, and that neither it nor one before it seems to make."""
    if ground.files is None:
        return
    listing = _Listing(ground.files)
    known: set[str] = set()
    for task in tasks:
        said = " ".join(f"{part.title} {part.text}" for part in task.walk())
        lost: list[str] = []
        for file in task.files if task.status == "open" else ():
            if file in known or _OPEN.search(file) or listing.has(file):
                continue
            meant = "" if _CREATES.search(said) else listing.near(file)
            if meant:
                message = f"{task.id} names {file}, which does not exist: did you mean {meant}?"
                yield problem_of(task, message, "missing file")
            elif not _is_to_be_made(file, said, listing):
                lost.append(file)
        if lost:
            are = "which does not exist: fix the path, or say that it is new"
            are = are if len(lost) == 1 else "which do not exist: fix the paths, or say that they are new"
            yield problem_of(task, f'{task.id} names {listed(lost)}, {are} ("Create …")', "missing file")
        known.update(task.files)


def missing_programs(tasks: Sequence[Task], ground: RepositoryFacts) -> Iterator[Problem]:
    """Verify lines that cannot succeed on this machine; a task for certain workers may be done on another."""
    for task in tasks:
        lacking = {name: line for line in task.verify for name in ground.missing.get(line, ())}
        if task.status != "open" or task.needs:
            continue
        paths, programs = ([name for name in lacking if ("/" in name) == path] for path in (True, False))
        if programs:
            names = listed([f"`{name}`" for name in programs])
            message = f"{task.id} is verified by {names}, not found on this machine: install it, or fix the Verify line"
            yield problem_of(task, message, "missing program")
        if paths:
            message = f"{task.id} is verified by {listed(paths)}, which does not exist: fix the Verify line"
            yield problem_of(task, message, "missing program")


def unreadable_lines(tasks: Sequence[Task]) -> Iterator[Problem]:
    """Verify lines that no shell can read: a quote is left open."""
    for task in tasks:
        for line in task.verify if task.status == "open" else ():
            if not _is_closed(line):
                message = f"{task.id} is verified by `{line}`, where a quote is not closed: fix the Verify line"
                yield problem_of(task, message, "unreadable")


def _is_closed(line: str) -> bool:
    if "#" in line or "<<" in line:  # what follows these need not be closed
        return True
    try:
        shlex.split(line)
    except ValueError:
        return False
    return True


def _is_to_be_made(file: str, said: str, listing: _Listing) -> bool:
    if _CREATES.search(said) or _ADDS.search(said) or _TEST_FILE.search(file):
        return True
    return not listing.has_kind(file)  # the first of its kind is made by somebody


class _Listing:
    """The files of a repository, to be asked for files, folders, globs, and names that are nearly right."""

    def __init__(self, files: frozenset[str]) -> None:
        self._files = files
        self._sorted = sorted(files)
        self._kinds = {_kind(file) for file in files}
        self._guessed = 0
        self._by_name: dict[str, list[str]] = {}
        self._by_folder: dict[str, list[str]] = {}
        for file in self._sorted:
            folder, _, name = file.rpartition("/")
            self._by_name.setdefault(name.casefold(), []).append(file)
            self._by_folder.setdefault(folder, []).append(name)

    def has(self, file: str) -> bool:
        bare = file.removeprefix("./").rstrip("/")
        if bare in self._files or bare in ("", "."):
            return True
        place = bisect_left(self._sorted, f"{bare}/")
        if place < len(self._sorted) and self._sorted[place].startswith(f"{bare}/"):
            return True
        return any(sign in bare for sign in "*?[") and any(fnmatchcase(one, bare) for one in self._sorted)

    def has_kind(self, file: str) -> bool:
        return _kind(file) in self._kinds

    def near(self, file: str) -> str:
        """The one file whose name is nearly this one: in the same folder, or of the same name in another."""
        bare = file.removeprefix("./").rstrip("/")
        folder, _, name = bare.rpartition("/")
        elsewhere = self._by_name.get(name.casefold(), [])
        if len(elsewhere) == 1 and not _TEST_FILE.search(bare):
            return elsewhere[0]
        self._guessed += 1
        if self._guessed > _MOST_GUESSED:  # nobody reads more, and each takes a while
            return ""
        beside = self._by_folder.get(folder, [])[:_MOST_COMPARED]
        alike = [one for one in beside if _alike(name, one)]
        best = max(alike, key=lambda one: SequenceMatcher(None, name, one).ratio(), default="")
        return f"{folder}/{best}" if best and folder else best


def _alike(one: str, other: str) -> bool:
    """Whether two names differ as by a slip of the hand: same ending, same digits, a letter or two apart."""
    if _kind(one) != _kind(other) or re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    stem, rival = one.rpartition(".")[0] or one, other.rpartition(".")[0] or other
    if abs(len(stem) - len(rival)) > 2 or min(len(stem), len(rival)) < 4:
        return False
    return SequenceMatcher(None, stem.casefold(), rival.casefold()).ratio() >= _ALIKE


def _kind(file: str) -> str:
    return file.rpartition("/")[2].rpartition(".")[2].casefold()
