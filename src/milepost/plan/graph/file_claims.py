"""Which files are spoken for: a file, a folder and what is inside it keep each other out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Claims:
    """Remembers at which steps each file is changed."""

    def __init__(self) -> None:
        self._whole: dict[str, _Steps] = {}
        self._inside: dict[str, _Steps] = {}

    def add(self, files: Iterable[str], step: int) -> None:
        """Note that these files are changed at `step`."""
        for file in map(normal, files):
            self._whole.setdefault(file, _Steps()).take(step)
            for folder in _folders(file):
                self._inside.setdefault(folder, _Steps()).take(step)

    def first_free(self, files: Iterable[str], at_least: int) -> int:
        """The first step, from `at_least` on, at which nobody changes any of these files."""
        taken = [steps for file in map(normal, files) for steps in self._touching(file)]
        step = at_least
        while (later := max((steps.first_free(step) for steps in taken), default=step)) > step:
            step = later
        return step

    def _touching(self, file: str) -> Iterator[_Steps]:
        for name in (file, *_folders(file)):
            if name in self._whole:
                yield self._whole[name]
        if file in self._inside:
            yield self._inside[file]


class _Steps:
    """A set of steps that finds the first free one without walking over the taken ones each time."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}

    def take(self, step: int) -> None:
        self._next.setdefault(step, step + 1)

    def first_free(self, step: int) -> int:
        passed = []
        while step in self._next:
            passed.append(step)
            step = self._next[step]
        for taken in passed:
            self._next[taken] = step
        return step


def normal(file: str) -> str:
    """A file or a folder without the sign that it is one."""
    return file.rstrip("/")


def _folders(file: str) -> Iterator[str]:
    while "/" in file:
        file = file.rpartition("/")[0]
        yield file
