"""A budget: the walls around money, tokens, time and attempts, and the words for what does not fit within them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from milepost.core.calls import Usage

Scope = Literal["run", "task"]
Wall = Literal["usd", "tokens", "seconds", "attempts"]

_DUST_USD = 1e-9  # sums of cents are not exact: less than this is not money


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What may be taken at most; None is no bound."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    attempts: int | None = None


UNBOUNDED = Allowance()


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may take, and what each of its tasks may take of it; None is no bound."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None
    attempts: int | None = None
    task_usd: float | None = None
    task_tokens: int | None = None
    task_seconds: float | None = None
    task_attempts: int | None = None

    @property
    def of_run(self) -> Allowance:
        return Allowance(usd=self.usd, tokens=self.tokens, seconds=self.seconds, attempts=self.attempts)

    def of_task(self, own: Allowance = UNBOUNDED) -> Allowance:
        """What one task may take: what its author says goes before what is said of all tasks."""
        return Allowance(
            usd=self.task_usd if own.usd is None else own.usd,
            tokens=self.task_tokens if own.tokens is None else own.tokens,
            seconds=self.task_seconds if own.seconds is None else own.seconds,
            attempts=self.task_attempts if own.attempts is None else own.attempts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was taken; `held` is reserved for calls whose answer has not come yet, or never will."""

    usd: float = 0.0
    tokens: int = 0
    seconds: float = 0.0
    attempts: int = 0
    held_usd: float = 0.0
    held_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OverBudget:
    """Why something does not fit; `passing` when it would, were it not for what is held."""

    scope: Scope
    wall: Wall
    message: str
    advice: str
    passing: bool = False


def left(allowed: Allowance, spent: Spent) -> Allowance:
    """What may still be taken, never less than nothing; None stays no bound."""
    return Allowance(
        usd=None if allowed.usd is None else max(0.0, allowed.usd - spent.usd - spent.held_usd),
        tokens=None if allowed.tokens is None else max(0, allowed.tokens - spent.tokens - spent.held_tokens),
        seconds=None if allowed.seconds is None else max(0.0, allowed.seconds - spent.seconds),
        attempts=None if allowed.attempts is None else max(0, allowed.attempts - spent.attempts),
    )


def refuse_call(allowed: Allowance, spent: Spent, most: Usage, scope: Scope, task: str = "") -> OverBudget | None:
    """Why a call that takes `most` at most may not be made; None when it may."""
    rest = left(allowed, spent)
    if allowed.usd is not None and spent.usd + spent.held_usd + most.cost_usd > allowed.usd + _DUST_USD:
        wanted, remaining = _two_amounts(most.cost_usd, rest.usd or 0.0)
        passing = spent.usd + most.cost_usd <= allowed.usd + _DUST_USD
        said = f"the next call could cost {wanted} and {remaining} is left of {usd_words(allowed.usd)}"
        if most.cost_usd <= _DUST_USD:
            said = f"nothing is left of {usd_words(allowed.usd)}"
        needed = spent.usd + spent.held_usd + most.cost_usd
        return _refusal(scope, "usd", said, allowed, task, passing=passing, needed_usd=needed)
    if allowed.tokens is not None and spent.tokens + spent.held_tokens + most.tokens > allowed.tokens:
        wanted, remaining = count_words(most.tokens), count_words(rest.tokens or 0)
        passing = spent.tokens + most.tokens <= allowed.tokens
        said = f"the next call could take {wanted} tokens and {remaining} are left of {count_words(allowed.tokens)}"
        return _refusal(scope, "tokens", said, allowed, task, passing=passing)
    return _out_of_time(allowed, spent, scope, task)


def refuse_attempt(allowed: Allowance, spent: Spent, scope: Scope, task: str = "") -> OverBudget | None:
    """Why no further attempt may begin; None when one may. `spent` leaves out the attempt that asks."""
    if allowed.usd is not None and spent.usd >= allowed.usd - _DUST_USD:
        said = f"{usd_words(spent.usd)} is spent of {usd_words(allowed.usd)}"
        return _refusal(scope, "usd", said, allowed, task)
    if allowed.tokens is not None and spent.tokens >= allowed.tokens:
        said = f"{count_words(spent.tokens)} tokens are spent of {count_words(allowed.tokens)}"
        return _refusal(scope, "tokens", said, allowed, task)
    if allowed.attempts is not None and spent.attempts >= allowed.attempts:
        said = f"{spent.attempts} of {allowed.attempts} attempts were made"
        return _refusal(scope, "attempts", said, allowed, task)
    return _out_of_time(allowed, spent, scope, task)


def usd_words(usd: float) -> str:
    """`$5.00`, `$0.0042`: money with as many digits as tell it from nothing."""
    exact = abs(usd - round(usd, 2)) < _DUST_USD
    if exact or usd >= 0.095 or not math.isfinite(usd):
        return f"${usd:.2f}"
    return f"${usd:.{1 - math.floor(math.log10(usd))}f}"


def count_words(count: int) -> str:
    """`950`, `20k`, `1.5M`."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + sign
    return str(count)


def seconds_words(seconds: float) -> str:
    """`40 s`, `9 min`, `2 h 05 min`: time as one speaks of it."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def _out_of_time(allowed: Allowance, spent: Spent, scope: Scope, task: str) -> OverBudget | None:
    if allowed.seconds is None or spent.seconds < allowed.seconds:
        return None
    said = f"{seconds_words(spent.seconds)} were worked of {seconds_words(allowed.seconds)}"
    return _refusal(scope, "seconds", said, allowed, task)


def _refusal(
    scope: Scope,
    wall: Wall,
    said: str,
    allowed: Allowance,
    task: str,
    *,
    passing: bool = False,
    needed_usd: float = 0.0,
) -> OverBudget:
    message = f"{task}: {said} for this task" if scope == "task" and task else said
    advice = _advice(scope, wall, allowed, needed_usd)
    return OverBudget(scope=scope, wall=wall, message=message, advice=advice, passing=passing)


def _advice(scope: Scope, wall: Wall, allowed: Allowance, needed_usd: float) -> str:
    more = {
        "usd": f"{max(2 * (allowed.usd or 0), math.ceil(needed_usd * 100) / 100):.10g}",
        "tokens": str(2 * (allowed.tokens or 0)),
        "seconds": f"{2 * (allowed.seconds or 0) / 60:.10g}",
        "attempts": str(2 * (allowed.attempts or 0)),
    }[wall]
    if scope == "run" and wall == "usd":
        return f"the run is suspended, nothing is lost: milepost resume --budget {more}"
    setting = "minutes" if wall == "seconds" else wall
    if scope == "run":
        return f"the run is suspended, nothing is lost: set {setting} = {more} under [budget], then: milepost resume"
    return f"raise it in the task (Budget: …), or set task_{setting} = {more} under [budget] in milepost.toml"


def _two_amounts(wanted: float, remaining: float) -> tuple[str, str]:
    """Both in words that show which one is more."""
    first, second = usd_words(wanted), usd_words(remaining)
    return (first, second) if first != second else (f"${wanted:.9f}", f"${remaining:.9f}")
