"""How the outcomes of tests are judged: by what they were before the attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from milepost.core.verdict import CheckResult, TestCase, TestOutcome
from milepost.verify.checks.files import listed
from milepost.verify.suites.reruns import Reruns

Known = Mapping[str, TestOutcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What else counts: how reruns ended, which flaky tests were so at the base, and which tests others answer for."""

    reruns: Reruns = field(default_factory=Reruns)
    excused: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()


def outcomes(result: CheckResult) -> dict[str, TestOutcome]:
    """What a later attempt is compared with; a test that also passed passes, so that luck gets no credit."""
    return {case.id: "passed" if case.flaky else case.outcome for case in result.cases}


def parameters(result: CheckResult) -> dict[str, str]:
    """What each of the tests was called with, as far as that is known: by it a test is found again."""
    return {case.id: case.parameters for case in result.cases if case.parameters}


def broken(cases: tuple[TestCase, ...], known: Known) -> tuple[TestCase, ...]:
    """The tests that fail and did not before."""
    return tuple(case for case in cases if case.outcome == "failed" and known.get(case.id) != "failed")


def compare(told: CheckResult, before: Known | None, by: Comparison | None = None) -> CheckResult:
    """The answer of a run, seen against the outcomes before the attempt.

    It is decisive when a test of the base that did not pass passes now.
    """
    by = by or Comparison()
    known = before or {}
    seen = replace(told, cases=tuple(_seen(case, known, by.reruns) for case in told.cases))
    if bad := [case for case in broken(seen.cases, known) if case.id not in by.excused | by.answered]:
        return _failed(seen, _names_failures(bad, known, by.reruns))
    if gone := tuple(name for name in no_longer_run(seen.cases, known) if name not in by.answered):
        return _failed(seen, _names_gone(gone, seen))
    if told.outcome == "absent":
        return seen
    if all(case.outcome == "skipped" for case in seen.cases):
        return _all_skipped(seen, before)
    passed = [case for case in seen.cases if case.outcome == "passed"]
    fixed = [case for case in passed if _was_wrong(case, known)]
    return replace(seen, outcome="passed", summary=_summary(seen, fixed, by), decisive=bool(fixed))


def _seen(case: TestCase, known: Known, reruns: Reruns) -> TestCase:
    return replace(case, before=known.get(case.id), flaky=case.id in reruns.flaky)


def no_longer_run(cases: tuple[TestCase, ...], known: Known) -> tuple[str, ...]:
    """The tests that passed or failed before and are deleted, renamed or skipped now.

    A file that could not be imported before stands in `known` under its own name, and its tests now under theirs.
    """
    ran = {case.id for case in cases if case.outcome != "skipped"}
    files = {name.partition("::")[0] for name in ran}
    return tuple(
        name for name, outcome in known.items() if outcome != "skipped" and name not in ran and name not in files
    )


def _was_wrong(case: TestCase, known: Known) -> bool:
    """Whether the test, or its file as a whole when that could not even be imported, did not pass before."""
    if case.id in known:
        return known[case.id] != "passed"
    return known.get(case.id.partition("::")[0]) == "failed"


def _all_skipped(seen: CheckResult, before: Known | None) -> CheckResult:
    """That every test is skipped proves nothing; it is the attempt's doing unless it was so before."""
    ids = tuple(case.id for case in seen.cases)
    said = f"every test is skipped: {listed(ids)}"
    was_so = before is None or all(before.get(name) == "skipped" for name in ids)
    return replace(seen, outcome="absent" if was_so else "failed", summary=said)


def _names_failures(bad: list[TestCase], known: Known, reruns: Reruns) -> str:
    first = bad[0]
    said = f"{first.id}: {first.message}" if first.message else first.id
    if first.flaky:
        said += f" ({reruns.in_words(first.id)}{', but not on the base commit' if first.id in known else ''})"
    others = tuple(case.id for case in bad[1:])
    old = sum(outcome == "failed" for outcome in known.values())
    return (
        said
        + (f"; also failed: {listed(others)}" if others else "")
        + (f"; {old} others failed before any work" if old else "")
    )


def _names_gone(gone: tuple[str, ...], seen: CheckResult) -> str:
    word = "1 test that was there before is" if len(gone) == 1 else f"{len(gone)} tests that were there before are"
    why = f" ({seen.summary})" if seen.summary else ""
    return f"{word} gone or skipped: {listed(gone)}{why}"


def _summary(seen: CheckResult, fixed: list[TestCase], by: Comparison) -> str:
    parts = [f"{seen.count('passed')} passed"]
    if fixed:
        parts.append(f"{len(fixed)} of them did not pass before")
    if failed := sum(case.outcome == "failed" and case.id not in by.excused | by.answered for case in seen.cases):
        parts.append(f"{failed} failed already before")
    if by.excused:
        parts.append(f"{len(by.excused)} flaky, as on the base commit: {listed(tuple(sorted(by.excused)))}")
    if skipped := seen.count("skipped"):
        parts.append(f"{skipped} skipped")
    if by.answered:
        parts.append(f"{len(by.answered)} only as they were changed")
    if seen.summary:
        parts.append(seen.summary)
    return ", ".join(parts)


def _failed(seen: CheckResult, summary: str) -> CheckResult:
    return replace(seen, outcome="failed", summary=summary)
