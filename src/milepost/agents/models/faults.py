"""What a model's server does instead of answering, and how long it is waited for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Literal

from milepost.core import stated_time
from milepost.core.attempt import LIMIT_REACHED, SERVER_SILENT
from milepost.core.calls import NOTHING, Usage
from milepost.core.stated_time import LONGEST_WAIT_S

FaultKind = Literal["silent", "limited", "rejected"]

SHORT_WAIT_S = 60.0  # what is longer is not waited for with an attempt held open
LONGEST_BACKOFF_S = 30.0


class Fault(Exception):
    """No answer came. `silent`: nobody answers. `limited`: not now. `rejected`: asking again would not help.

    `wait_s` is how long the server asks to wait, if it does. `usage` is what was taken all the same, by an answer that
    broke off.
    """

    def __init__(self, kind: FaultKind, what: str, wait_s: float | None = None, usage: Usage = NOTHING) -> None:
        super().__init__(what)
        self.kind = kind
        self.what = what
        self.wait_s = wait_s
        self.usage = usage

    def after(self, usage: Usage) -> Fault:
        """The same fault as the end of several, which took so much together."""
        return Fault(self.kind, self.what, self.wait_s, usage)


def wait_before_asking_again(fault: Fault, *, tries: int, left_s: float) -> float | None:
    """How long to wait after the `tries`th fault in a row; None when it is not worth it within the time left."""
    if fault.kind == "rejected":
        return None
    wait_s = min(2.0 ** (tries - 1), LONGEST_BACKOFF_S)
    if fault.wait_s is not None:
        wait_s = max(fault.wait_s, wait_s if fault.kind == "silent" else 0.0)
    return wait_s if wait_s <= min(SHORT_WAIT_S, left_s) else None


def waiting_in_words(fault: Fault, wait_s: float) -> str:
    """What people are told while the server is waited for."""
    trouble = "the model's server does not answer" if fault.kind == "silent" else "the model's server is at its limit"
    return f"{trouble} ({fault.what}): trying again in {wait_s:g} s"


def limit_in_words(fault: Fault) -> str:
    """What an attempt says that ends here, with the wait that whoever tries again goes by, where one is stated."""
    stated = "" if fault.wait_s is None else f": try again in {max(1.0, fault.wait_s):g} s"
    return f"{fault.what}\n{SERVER_SILENT if fault.kind == 'silent' else LIMIT_REACHED}{stated}"


def stated_wait_s(headers: Mapping[str, str], now: float) -> float | None:
    """How long a server asks to wait by its headers (names in lower case), seen from `now`, in seconds since 1970."""
    if (given := _seconds(headers.get("retry-after-ms", ""))) is not None:
        return _bounded(given / 1000)
    if (given := _wait(headers.get("retry-after", ""), now)) is not None:
        return _bounded(given)
    resets = list(_resets(headers, now))
    used_up = [wait_s for wait_s, remaining in resets if remaining == "0"] or [wait_s for wait_s, _ in resets]
    return _bounded(max(used_up)) if used_up else None


def _resets(headers: Mapping[str, str], now: float) -> Iterator[tuple[float, str]]:
    """Each limit that has a reset time: how long until then, and what is left of it.

    Such as `x-ratelimit-reset-tokens: 6m0s` or `anthropic-ratelimit-tokens-reset: 2026-01-01T00:00:00Z`.
    """
    for name, value in headers.items():
        if "ratelimit" in name and "reset" in name and (wait_s := _wait(value, now)) is not None:
            yield wait_s, headers.get(name.replace("reset", "remaining"), "").strip()


def _wait(value: str, now: float) -> float | None:
    """Seconds from `5`, `6m0s`, moments since 1970, and both kinds of dates; headers speak of UTC."""
    return stated_time.stated_wait_s(f"retry-after: {value.strip()}", now, UTC)


def _seconds(value: str) -> float | None:
    return float(value) if re.fullmatch(r"\s*\d{1,15}(\.\d{1,9})?\s*", value) else None


def _bounded(wait_s: float) -> float:
    return min(max(0.0, wait_s), LONGEST_WAIT_S)
