"""The breaker of a connection: after some failures in a row nothing is tried for a while, then one try decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

BreakerState = Literal["closed", "open", "half-open"]

FAILURES = 5
OPEN_S = 30.0
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """What is known of the tries so far; `since` is when it opened, or when the one try began. Times are a clock's."""

    state: BreakerState = "closed"
    failures: int = 0
    since: float = 0.0

    def asked(self, now: float) -> tuple[Breaker, bool]:
        """Whether to try now. One that is half open lets nobody else try, unless the try never ended."""
        if self.state == "closed":
            return self, True
        if now - self.since < OPEN_S:
            return self, False
        return replace(self, state="half-open", since=now), True

    def failed(self, now: float) -> Breaker:
        """After a try that failed."""
        failures = self.failures + 1
        if self.state != "closed" or failures >= FAILURES:
            return Breaker(state="open", failures=failures, since=now)
        return replace(self, failures=failures)

    def succeeded(self) -> Breaker:
        """After a try that succeeded."""
        return Breaker()

    def left_s(self, now: float) -> float:
        """How long nothing will be tried."""
        return 0.0 if self.state == "closed" else max(0.0, self.since + OPEN_S - now)


def pause_s(failures: int, luck: float) -> float:
    """How long to wait after so many failures in a row; `luck` from 0 to 1 keeps many from coming back at once."""
    longest = min(FIRST_PAUSE_S * 2.0 ** min(failures - 1, 30), LONGEST_PAUSE_S) if failures > 0 else 0.0
    return longest * (0.5 + luck / 2)
