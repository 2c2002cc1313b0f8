"""Evidence that was found again, seen beside the evidence that was kept."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from milepost.core.verdict import CheckResult, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One check then and now. `difference` says in words what is not the same, empty when all is."""

    name: str
    then: CheckResult | None
    now: CheckResult | None
    difference: str

    @property
    def same(self) -> bool:
        return not self.difference


def compared(then: Evidence, now: Evidence) -> tuple[Comparison, ...]:
    """Every check of both, in the order of the first; several of one name are compared in their order."""
    waiting: dict[str, list[CheckResult]] = defaultdict(list)
    for check in now.checks:
        waiting[check.name].append(check)
    pairs: list[tuple[CheckResult | None, CheckResult | None]] = []
    for check in then.checks:
        again = waiting[check.name]
        pairs.append((check, again.pop(0) if again else None))
    pairs += [(None, check) for check in now.checks if check in waiting[check.name]]
    return tuple(_comparison(one, other) for one, other in pairs)


def _comparison(then: CheckResult | None, now: CheckResult | None) -> Comparison:
    present = then or now
    assert present is not None
    return Comparison(name=present.name, then=then, now=now, difference=_difference(then, now))


def _difference(then: CheckResult | None, now: CheckResult | None) -> str:
    if then is None or now is None:
        return "did not run then" if then is None else "did not run now"
    if then.outcome != now.outcome:
        return f"{then.outcome} then, {now.outcome} now: {now.summary}"
    if then.exit_code != now.exit_code:
        return f"{_ended(then.exit_code)} then, {_ended(now.exit_code)} now"
    before, after = ({case.id: case.outcome for case in check.cases} for check in (then, now))
    other = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    if not other:
        return ""
    first = f"{other[0]} {before.get(other[0], 'missing')} then, {after.get(other[0], 'missing')} now"
    return f"{first} (and {len(other) - 1} more)" if len(other) > 1 else first


def _ended(exit_code: int | None) -> str:
    return "did not end by itself" if exit_code is None else f"exit {exit_code}"
