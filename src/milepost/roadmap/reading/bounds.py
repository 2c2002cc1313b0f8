"""What an author bounds: `Budget: $0.50, 20k tokens, 10 min`, `Timeout: 90 s`, `Approve: before`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from milepost.core.budget import UNBOUNDED, Allowance
from milepost.core.task import Approve

BoundKey = Literal["budget", "timeout", "approve"]
Amount = TypeVar("Amount", int, float)

_NUMBER = r"(?:\d{1,9}(?:[,_]\d{3})*(?:\.\d{1,6})?|\.\d{1,6})"
_TIME = rf"{_NUMBER}\s*(?:h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])"
_PART = re.compile(
    rf"""
    (?: at\ most\s+ | up\ to\s+ | max\.?\s+ )?
    (?:
        (?: \$\s*(?P<dollars>{_NUMBER}) | (?P<usd>{_NUMBER})\s*(?:usd|dollars?|\$) )(?![\w.])
      | (?P<tokens>{_NUMBER})\s*(?P<size>[km])?\s*tok(?:en)?s?\b
      | (?P<attempts>\d{{1,6}})\s*(?:attempts?|tries|try)\b
      | (?P<time>{_TIME}(?:\s*{_TIME})*)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BETWEEN = re.compile(r"\s*(?:[,;+·/]|\band\b)?\s*", re.IGNORECASE)
_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0}
_SIZES = {"": 1, "k": 1_000, "m": 1_000_000}
_EXAMPLES = {
    "budget": "write amounts: `Budget: $0.50`, `20k tokens`, `10 min`, `3 attempts`, or several with commas",
    "timeout": "write a time with its unit: `Timeout: 90 s`, `10 min`, `1 h`",
    "approve": "write one of `Approve: before`, `after`, `each`, `never`",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBounds:
    """What is bounded below one task."""

    budget: Allowance = UNBOUNDED
    timeout_s: float | None = None
    approve: Approve = ""


NO_BOUNDS = TaskBounds()


def with_bound(bounds: TaskBounds, key: BoundKey, value: str) -> TaskBounds | None:
    """The bounds with one more; None when the value is no bound. What is stated twice holds at its smaller amount."""
    said = value.strip().rstrip(".").strip("` ")
    if key == "approve":
        word = next((word for word in get_args(Approve) if word and word == said.lower()), None)
        return None if word is None else replace(bounds, approve=word)
    amounts = _amounts(said)
    if amounts is None:
        return None
    if key == "budget":
        return replace(bounds, budget=_stricter(bounds.budget, amounts))
    if amounts != Allowance(seconds=amounts.seconds):
        return None
    return replace(bounds, timeout_s=_smaller(bounds.timeout_s, amounts.seconds))


def not_a_bound(key: BoundKey, value: str) -> str:
    """What is said of a line that begins like a bound and is none."""
    return f"{value!r} after {key.capitalize()} is not understood and has no effect: {_EXAMPLES[key]}"


def _amounts(text: str) -> Allowance | None:
    """All amounts of a line; None unless it consists of them."""
    found = UNBOUNDED
    place = 0
    while place < len(text):
        part = _PART.match(text, place)
        if part is None:
            return None
        found = _stricter(found, _amount(part))
        gap = _BETWEEN.match(text, part.end())
        place = gap.end() if gap is not None else part.end()
    amounts = (found.usd, found.tokens, found.seconds, found.attempts)
    stated = [amount for amount in amounts if amount is not None]
    return found if stated and all(amount > 0 for amount in stated) else None


def _amount(part: re.Match[str]) -> Allowance:
    if part["tokens"]:
        return Allowance(tokens=int(_number(part["tokens"]) * _SIZES[(part["size"] or "").lower()]))
    if part["attempts"]:
        return Allowance(attempts=int(part["attempts"]))
    if part["time"]:
        times = re.findall(rf"({_NUMBER})\s*([hms])", part["time"], re.IGNORECASE)
        return Allowance(seconds=sum(_number(number) * _UNITS_S[unit.lower()] for number, unit in times))
    return Allowance(usd=_number(part["dollars"] or part["usd"]))


def _stricter(one: Allowance, other: Allowance) -> Allowance:
    return Allowance(
        usd=_smaller(one.usd, other.usd),
        tokens=_smaller(one.tokens, other.tokens),
        seconds=_smaller(one.seconds, other.seconds),
        attempts=_smaller(one.attempts, other.attempts),
    )


def _smaller(one: Amount | None, other: Amount | None) -> Amount | None:
    return other if one is None else one if other is None else min(one, other)


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))
