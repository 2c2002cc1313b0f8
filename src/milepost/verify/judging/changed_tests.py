"""What became of the base's tests that the attempt changed or removed: told by running them, not by reading them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from milepost.core.task import Task
from milepost.core.verdict import TestCase, TestOutcome
from milepost.verify.judging.split import Split

Became = Literal["changed", "dropped", "removed", "settings"]
Now = Mapping[str, TestCase]

_REMOVES = re.compile(
    r"\b(?:remov(?:e[sd]?|ing|al)|drop(?:s|ped|ping)?|delet(?:e[sd]?|ing)|retir(?:e[sd]?|ing)|deprecat\w*|no longer"
    r"|stop (?:supporting|accepting|raising|warning))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LostTest:
    """A test that passed at the base and does not, as it was, on the new source; `why` is how it fails there.

    It was `changed` with the behaviour, its expectation was `dropped` (as it is now it passes on the old source, too),
    it was `removed`, or it passes with other `settings`, fixtures or data, though it was not touched itself.
    """

    test: str
    became: Became
    why: str = ""


def file_of(test: str) -> str:
    """The file of a test's id; the id of a file that cannot be collected is the file itself."""
    return test.partition("::")[0]


def is_of_changed_file(test: str, split: Split) -> bool:
    """Whether a test is of a test file that changed; where its id names a folder, as in Go, of one that did in it."""
    return bool(changed_files_of(test, split))


def changed_files_of(test: str, split: Split) -> tuple[str, ...]:
    """The changed test files that a test may be of: its own, or those of Go in the folder that its id names."""
    place = file_of(test)
    if place in split.tests:
        return (place,)
    return tuple(
        path for path in split.tests if path.endswith("_test.go") and (path.rpartition("/")[0] or ".") == place
    )


def is_answered(test: str, now: Now, split: Split) -> bool:
    """Whether a test that is lost as it was passes as the attempt left it, or went with a file that it changed."""
    case = now.get(test)
    if case is not None:
        return case.outcome == "passed"
    return is_built_with_it(test, now, split) or (file_of(test) in split.tests and file_of(test) not in now)


def is_built_with_it(file: str, now: Now, split: Split) -> bool:
    """Whether a source file, named in the place of its tests as it does not compile, does with all of the attempt."""
    is_source = "::" not in file and file not in split.tests
    return is_source and file not in now and any(case.outcome == "passed" for case in now.values())


def rewritten(waiting: tuple[str, ...], now: Now, split: Split) -> tuple[str, ...]:
    """Those of the tests, red at the base and red as they were, that pass only since the attempt changed them."""
    passing_files = {file_of(name) for name, case in now.items() if case.outcome == "passed"}

    def passes(test: str) -> bool:
        case = now.get(test)
        return case.outcome == "passed" if case is not None else "::" not in test and test in passing_files

    return tuple(test for test in waiting if file_of(test) in split.tests and passes(test))


def lost_tests(
    lost: tuple[str, ...],
    bench: Mapping[str, TestCase],
    now: Now,
    on_old_source: Mapping[str, TestOutcome] | None,
    split: Split,
) -> tuple[LostTest, ...]:
    """What became of each of the base's tests that do not pass on the new source as they were."""
    return tuple(
        LostTest(test=test, became=_became(test, now, on_old_source or {}, split), why=_why(test, bench))
        for test in lost
        if not ("::" not in test and any(name.startswith(f"{test}::") for name in lost))
    )


def asks_for_removal(task: Task) -> bool:
    """Whether the words of a task say that something goes."""
    return any(_REMOVES.search(f"{part.title}\n{part.text}") for part in task.walk())


def _became(test: str, now: Now, on_old_source: Mapping[str, TestOutcome], split: Split) -> Became:
    if is_built_with_it(test, now, split):
        return "settings"
    if test not in now:
        return "removed"
    if not is_of_changed_file(test, split):
        return "settings"
    return "dropped" if on_old_source.get(test) == "passed" else "changed"


def _why(test: str, bench: Mapping[str, TestCase]) -> str:
    case = bench.get(test) or bench.get(file_of(test))
    return case.message if case is not None else "it is not run any more"
