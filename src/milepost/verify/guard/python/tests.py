"""What was taken from Python tests that existed: deleted, held back, or made to say less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from milepost.core.change import Change, ChangedFile
from milepost.verify.guard.finding import GuardFinding, counted
from milepost.verify.guard.python.claims import Claim
from milepost.verify.guard.python.suite import Suite, Test, suite_of
from milepost.verify.judging.paths import is_test_path, name_of, suffix
from milepost.verify.syntax.python_tree import parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two versions of a test file; one that is gone is one without tests."""

    path: str
    before: Suite
    after: Suite
    is_gone: bool


def weakened(change: Change, proving: frozenset[str] = frozenset()) -> tuple[GuardFinding, ...]:
    """The findings about every Python test file that was there before, and about those in `proving`."""
    files = [
        file
        for file in change.files
        if suffix(file.path) == ".py" and (is_test_path(file.path) or file.path in proving)
    ]
    after = {file.path: _suite(file.text_after) for file in files if not file.is_link}
    collected = [
        test
        for file in files
        if _is_collected(file) and (suite := after.get(file.path)) is not None
        for test in suite.tests.values()
        if test.is_test
    ]
    findings: list[GuardFinding] = []
    for file in files:
        findings += _unreadable(file)
        before = _suite(file.text_before) if file.before is not None else None
        now = after.get(file.path)
        if before is not None and now is not None:
            pair = _Pair(path=file.path, before=before, after=now, is_gone=file.is_gone)
            findings += _missing(pair, collected)
            findings += [*_weaker(pair), *_whole_file(pair)] if not file.is_gone else []
    return tuple(findings)


def _suite(text: str) -> Suite | None:
    tree = parsed(text)
    return suite_of(tree) if tree is not None else None


def _is_collected(file: ChangedFile) -> bool:
    """Whether a runner looks for tests in a file, by its name or because it did before."""
    name = name_of(file.path)
    return not file.is_gone and (name.startswith("test_") or name.endswith("_test.py") or file.before is not None)


def _unreadable(file: ChangedFile) -> Iterator[GuardFinding]:
    if file.before is None:
        return
    if file.is_link:
        yield GuardFinding(path=file.path, line=0, what="was replaced by a link")
    elif parsed(file.text_after) is None and parsed(file.text_before) is not None:
        yield GuardFinding(
            path=file.path, line=0, what="cannot be read as Python any more, so that its tests cannot run"
        )


def _missing(pair: _Pair, collected: list[Test]) -> Iterator[GuardFinding]:
    """Tests that are gone: not here, and nowhere else with the same claims."""
    known = {test.name for test in pair.before.tests.values()}
    now = {test.name for test in pair.after.tests.values()}
    lost = [
        test
        for test in pair.before.tests.values()
        if test.is_test
        and (test.name not in now or _is_gone_with(test, pair))
        and not _lives_on(test, collected, known)
    ]
    if lost and pair.is_gone:
        yield GuardFinding(path=pair.path, line=0, what=f"was deleted, with {counted(len(lost), 'test')}")
        return
    for test in lost:
        yield GuardFinding(path=pair.path, line=0, what=f"{test.name} was deleted")


def _is_gone_with(test: Test, pair: _Pair) -> bool:
    return pair.is_gone and bool(test.claims)


def _lives_on(test: Test, tests: list[Test], known: set[str]) -> bool:
    return any(
        (other.name not in known or other.name == test.name)
        and not _lost_claims(test, other)
        and other.skips <= test.skips
        and _keeps_cases(test, other)
        for other in tests
    )


def _weaker(pair: _Pair) -> Iterator[GuardFinding]:
    helping = [claim for test in pair.after.tests.values() if not test.is_test for claim in test.claims]
    for name, before in pair.before.tests.items():
        after = pair.after.tests.get(name)
        if after is not None:
            lost = _lost_claims(before, after) if before.is_test else _lost_help(before, helping)
            yield from (GuardFinding(path=pair.path, line=after.line, what=what) for what in _less(before, after, lost))
    for name, test in pair.after.tests.items():
        if name not in pair.before.tests and test.at_each_test and test.skips:
            yield GuardFinding(path=pair.path, line=test.line, what=f"{test.name} skips tests")


def _less(before: Test, after: Test, lost: list[Claim]) -> Iterator[str]:
    """What one function says less than before, in words."""
    name = before.name
    if after.skips - before.skips:
        words = "is expected to fail" if _are_xfails(after.skips - before.skips) else "is skipped"
        yield f"{name} {words}"
    if not _keeps_cases(before, after):
        yield f"cases were taken from the parameters of {name}"
    if after.wrappers - before.wrappers and before.is_test:
        yield f"{name} is wrapped by @{min(after.wrappers - before.wrappers)}"
    if after.patches > before.patches and before.is_test:
        yield f"{name} patches something that it did not patch before"
    if before.is_plain and not after.is_plain and before.is_test:
        yield f"{name} does not run any more unless it is awaited or iterated"
    if after.given - before.given and before.is_test:
        yield f"{name} gives itself a value for {min(after.given - before.given)}"
    if before.gives - after.gives and not before.is_test:
        yield f"{name} gives another value to the tests"
    if lost:
        yield _lost_in_words(name, lost, before, after)


def _lost_in_words(name: str, lost: list[Claim], before: Test, after: Test) -> str:
    same_words = sum(any(claim.text == other.text for other in after.claims) for claim in lost)
    vacuous = sum(claim.vacuous for claim in after.claims) - sum(claim.vacuous for claim in before.claims)
    count = counted(len(lost), "assertion")
    if same_words == len(lost):
        return f"{count} of {name} may never be reached, or cannot fail the test"
    if vacuous > 0:
        return f"{count} of {name} made vacuous"
    if len(after.claims) < len(before.claims):
        return f"{count} removed from {name}"
    return f"{count} changed in {name}"


def _lost_claims(before: Test, after: Test) -> list[Claim]:
    """The claims of a test that the other does not make; each of the other's stands for one."""
    left = list(after.claims)
    lost = []
    for claim in before.claims:
        match = next((other for other in left if claim.holds_in(other)), None)
        if match is None and not claim.vacuous:
            lost.append(claim)
        elif match is not None:
            left.remove(match)
    return lost


def _lost_help(before: Test, helping: list[Claim]) -> list[Claim]:
    """The claims of a helper that none makes any more; helpers may be made otherwise, and be split."""
    return [claim for claim in before.claims if not any(claim.is_written_in(other) for other in helping)]


def _keeps_cases(before: Test, after: Test) -> bool:
    left = list(after.parameters)
    for cases in before.parameters:
        match = next((other for other in left if cases <= other), None)
        if match is None:
            return False
        left.remove(match)
    return set(before.opaque_parameters) <= set(after.opaque_parameters) or bool(left)


def _whole_file(pair: _Pair) -> Iterator[GuardFinding]:
    before, after = pair.before, pair.after
    for skip in after.skips.keys() - before.skips.keys():
        words = "is expected to fail" if _are_xfails({skip}) else "is skipped"
        yield GuardFinding(path=pair.path, line=after.skips[skip], what=f"the whole file {words}")
    for name in after.uncollected.keys() - before.uncollected.keys():
        yield GuardFinding(
            path=pair.path, line=after.uncollected[name], what=f"tests are not collected any more: {name}"
        )
    for name in after.rebound.keys() - before.rebound.keys():
        yield GuardFinding(path=pair.path, line=after.rebound[name], what=f"puts something else in the place of {name}")
    for name in after.overridden.keys() - before.overridden.keys():
        if name.partition(".")[0] in before.bases:
            yield GuardFinding(
                path=pair.path, line=after.overridden[name], what=f"{name} decides what counts as passed"
            )
    for owner, bases in before.bases.items():
        lost = bases - after.bases.get(owner, bases)
        if lost:
            yield GuardFinding(path=pair.path, line=0, what=f"{owner} does not inherit from {min(lost)} any more")


def _are_xfails(skips: Iterable[str]) -> bool:
    return all(skip.startswith(("xfail", "expectedFailure")) for skip in skips)
