"""What lessons changed, as a person and as a program read it: told against held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milepost.memories import Lift


def lift_facts(lift: Lift, holdout: float | None = None, *, told: str = "lessons") -> list[str]:
    """Attempts with lessons against those that they were held out of."""
    if not any(lift.shown) and not any(lift.held_out):
        return [f"nothing to measure yet: no verified attempt was shown {told}"]
    facts = [f"shown: {passed_of(lift.shown)}", f"withheld: {passed_of(lift.held_out)}"]
    if lift.difference is None or lift.interval is None or lift.p_value is None:
        if any(lift.shown) and any(lift.held_out):
            return [*facts, "nothing to compare yet, no attempts with equally many matching lessons are in both groups"]
        nothing = "lessons were never withheld" if any(lift.shown) else "lessons were never shown"
        more = f": they are in {holdout:.0%} of attempts, at random" if holdout and any(lift.shown) else ""
        return [*facts, f"nothing to compare yet, {nothing}{more}"]
    low, high = lift.interval
    sure = f"95 % interval {_points(low)} to {_points(high)}, exact p = {lift.p_value:.2g}"
    return [*facts, f"{_points(lift.difference)} points", sure]


def lift_to_json(lift: Lift) -> dict[str, Any]:
    low, high = lift.interval or (None, None)
    return {
        "shown": {"passed": lift.shown[0], "failed": lift.shown[1]},
        "held_out": {"passed": lift.held_out[0], "failed": lift.held_out[1]},
        "difference": lift.difference,
        "low": low,
        "high": high,
        "p_value": lift.p_value,
    }


def passed_of(counts: tuple[int, int]) -> str:
    """`3 of 5 passed`, of (passed, failed)."""
    total = sum(counts)
    return f"{counts[0]} of {total} passed" if total else "none"


def _points(share: float) -> str:
    return f"{share * 100:+.0f}"
