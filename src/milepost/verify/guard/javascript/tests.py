"""What was taken from JavaScript and TypeScript tests that existed: deleted, held back, or made to expect less."""

from __future__ import annotations

import re
from collections.abc import Iterator

from milepost.core.change import Change, ChangedFile
from milepost.verify.guard.finding import GuardFinding, counted
from milepost.verify.guard.javascript.expectations import Expectation
from milepost.verify.guard.javascript.suite import Suite, Test, suite_of
from milepost.verify.judging.paths import JAVASCRIPT, is_test_path, suffix
from milepost.verify.syntax.javascript_tree import parsed

_RUNNERS = re.compile(
    r"(node:)?(test|assert)\b|vitest\b|@jest/|jest\b|mocha\b|chai\b|expect\b|jasmine\b|ava\b|tap\b|uvu\b|bun:test|@playwright/|cypress\b|@std/|jsr:|should\b"
)


def weakened(change: Change) -> tuple[GuardFinding, ...]:
    """The findings about every JavaScript or TypeScript test file that was there before."""
    files = [file for file in change.files if suffix(file.path) in JAVASCRIPT and is_test_path(file.path)]
    after = {file.path: suite_of(parsed(file.path, file.text_after)) for file in files}
    everywhere = [test for suite in after.values() for test in suite.tests.values()]
    findings: list[GuardFinding] = []
    for file in files:
        if file.is_link and not file.is_new:
            findings.append(GuardFinding(path=file.path, line=0, what="was replaced by a link"))
        elif file.before is not None:
            before = suite_of(parsed(file.path, file.text_before))
            findings += _missing(file, before, after[file.path], everywhere)
            findings += _weaker(file.path, before, after[file.path])
            findings += _only(file.path, before, after[file.path])
        else:
            findings += _only(file.path, Suite(tests={}), after[file.path])
    return tuple(findings)


def _missing(file: ChangedFile, before: Suite, after: Suite, everywhere: list[Test]) -> Iterator[GuardFinding]:
    lost = [
        test
        for name, test in before.tests.items()
        if name not in after.tests and not any(_says_as_much(test, other, before) for other in everywhere)
    ]
    if lost and file.is_gone:
        yield GuardFinding(path=file.path, line=0, what=f"was deleted, with {counted(len(lost), 'test')}")
        return
    for test in lost:
        yield GuardFinding(path=file.path, line=0, what=f"the test {test.name!r} was deleted")


def _says_as_much(test: Test, other: Test, before: Suite) -> bool:
    known = other.name in before.tests and other.name != test.name
    return (
        not known and not (other.held_back and not test.held_back) and not _lost(test.expectations, other.expectations)
    )


def _weaker(path: str, before: Suite, after: Suite) -> Iterator[GuardFinding]:
    for name, test in before.tests.items():
        now = after.tests.get(name)
        if now is not None:
            yield from (GuardFinding(path=path, line=now.line, what=what) for what in _less(test, now))
    for module in after.mocked.keys() - before.mocked.keys():
        yield GuardFinding(path=path, line=after.mocked[module], what=f"puts a mock in the place of {module}")
    for name, origin in after.origins.items():
        if origin != before.origins.get(name) and not _RUNNERS.match(origin):
            yield GuardFinding(path=path, line=0, what=f"{name} comes from {origin!r} now, which is no test runner")
    lost = _lost(before.outside, after.outside)
    if lost and after.tests:
        yield GuardFinding(
            path=path, line=0, what=f"{counted(len(lost), 'assertion')} of its functions changed or removed"
        )
    elif lost and not before.tests:
        yield GuardFinding(path=path, line=0, what=f"{counted(len(lost), 'assertion')} changed or removed")


def _less(before: Test, after: Test) -> Iterator[str]:
    if after.held_back and not before.held_back:
        yield f"the test {before.name!r} is skipped"
    if before.cases is not None and not before.cases <= (after.cases or frozenset()):
        yield f"cases were taken from the test {before.name!r}"
    lost = _lost(before.expectations, after.expectations)
    if not lost:
        return
    count = counted(len(lost), "assertion")
    if all(any(old.text == new.text for new in after.expectations) for old in lost):
        yield f"{count} of the test {before.name!r} may never be reached, or cannot fail it"
    elif len(after.expectations) < len(before.expectations):
        yield f"{count} removed from the test {before.name!r}"
    else:
        yield f"{count} changed in the test {before.name!r}"


def _only(path: str, before: Suite, after: Suite) -> Iterator[GuardFinding]:
    """`.only` keeps all other tests from running, in a new file as well as in an old one."""
    for name in after.only.keys() - before.only.keys():
        yield GuardFinding(
            path=path, line=after.only[name], what=f".only on {name!r} keeps the other tests from running"
        )


def _lost(before: tuple[Expectation, ...], after: tuple[Expectation, ...]) -> list[Expectation]:
    left = list(after)
    lost = []
    for expectation in before:
        match = next((other for other in left if expectation.holds_in(other)), None)
        if match is None:
            lost.append(expectation)
        else:
            left.remove(match)
    return lost
