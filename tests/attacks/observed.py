"""What an attack did, seen from outside, and what of it shows that the attack succeeded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from tests.attacks.attack import ORACLES, Attack, Oracle


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """All that can be seen of one trial. `said` is everything the guest wrote, in its output, value and workspace.

    `harmed` is what the host suffered, `overran` what it got more of than it had asked for.
    """

    said: str
    changed: tuple[str, ...] = ()
    visits: tuple[str, ...] = ()
    harmed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    overran: tuple[str, ...] = ()
    believed: tuple[str, ...] = ()


def successes(attack: Attack, observed: Observed, tokens: Iterable[str]) -> list[str]:
    """What shows that the attack succeeded, by its own oracle and by those that watch over every attack."""
    watching: set[Oracle] = {attack.oracle, "leak", "write", "canary", "host", "orphan"}
    return [
        f"{oracle}: {sign}"
        for oracle in ORACLES
        if oracle in watching
        for sign in signs(oracle, observed, tokens, attack.proof)
    ]


def signs(oracle: Oracle, observed: Observed, tokens: Iterable[str], proof: str) -> Iterator[str]:
    """What one oracle sees."""
    match oracle:
        case "leak":
            yield from (token for token in tokens if token in observed.said)
        case "write":
            yield from observed.changed
        case "canary":
            yield from observed.visits
        case "host":
            yield from observed.harmed
        case "orphan":
            yield from observed.left
        case "bound":
            yield from observed.overran
            yield from re.findall(proof, observed.said)
        case "fooled":
            yield from observed.believed
        case "token":
            yield from re.findall(proof, observed.said)
        case _ as never:
            assert_never(never)
