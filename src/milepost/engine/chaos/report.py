"""What came of chaos: a column for each way of killing, and whether all that must be zero is zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class KillCosts:
    """What was counted in one copy, or in several together.

    `in_flight_*` were cut by a kill before they were recorded, and begun again: by design, and not hidden.
    """

    kills: int = 0
    lives: int = 0
    lost: tuple[str, ...] = ()
    duplicated: tuple[str, ...] = ()
    steps_repeated: tuple[str, ...] = ()
    models_repeated: tuple[str, ...] = ()
    tools_repeated: tuple[str, ...] = ()
    processes_left: tuple[str, ...] = ()
    folders_left: tuple[str, ...] = ()
    locks_left: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()
    unequal: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    in_flight_steps: int = 0
    in_flight_models: int = 0
    in_flight_tools: int = 0
    seconds: float = 0.0

    def __add__(self, other: KillCosts) -> KillCosts:
        return KillCosts(
            **{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(KillCosts)}
        )

    @property
    def clean(self) -> bool:
        """Whether nothing is to be seen of the kills."""
        return not any(getattr(self, name) for name in _FINDINGS)


# What must be nothing, with the words for it.
_FINDINGS = {
    "lost": "lost",
    "duplicated": "duplicated",
    "steps_repeated": "finished steps repeated",
    "models_repeated": "model calls made twice",
    "tools_repeated": "tool calls made twice",
    "processes_left": "leftover processes",
    "folders_left": "leftover checkouts and folders",
    "locks_left": "leftover locks",
    "damage": "git fsck",
    "unequal": "final tree",
    "problems": "lives that went wrong",
}
_IN_WORDS = {"damage": ("clean", "damaged"), "unequal": ("equal", "different")}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosReport:
    """`boundaries` is what was recorded in the undisturbed run; a way of killing that was not asked for is None."""

    roadmap: str
    tasks: int
    parallel: int
    seed: int
    mileposts: int
    boundaries: int
    model_calls: int
    calm_s: float
    every_boundary: KillCosts | None
    random: KillCosts | None
    folder: str = ""

    @property
    def passed(self) -> bool:
        return all(toll.clean for _, toll in self.tolls)

    @property
    def tolls(self) -> tuple[tuple[str, KillCosts], ...]:
        """Each way of killing by its name."""
        both = (("every boundary", self.every_boundary), ("random instants", self.random))
        return tuple((name, toll) for name, toll in both if toll is not None)


def to_json(report: ChaosReport) -> dict[str, Any]:
    """What `milepost chaos --json` prints."""
    names = [field.name for field in fields(ChaosReport) if field.name not in ("every_boundary", "random")]
    tolls = {
        name.replace(" ", "_"): {
            "clean": toll.clean,
            **{field.name: _plain(getattr(toll, field.name)) for field in fields(KillCosts)},
        }
        for name, toll in report.tolls
    }
    return {"passed": report.passed, **{name: _plain(getattr(report, name)) for name in names}, **tolls}


def rows(report: ChaosReport) -> list[tuple[str, ...]]:
    """The report as rows of words: the headings, and a row for each thing that was counted."""
    tolls = [toll for _, toll in report.tolls]
    return [
        ("", *(name for name, _ in report.tolls)),
        ("kills", *(str(toll.kills) for toll in tolls)),
        ("lives", *(str(toll.lives) for toll in tolls)),
        *((words, *(_found(name, getattr(toll, name)) for toll in tolls)) for name, words in _FINDINGS.items()),
        ("in flight at a kill, begun again", *(_in_flight(toll) for toll in tolls)),
        ("time", *(f"{toll.seconds:.0f} s" for toll in tolls)),
    ]


def findings(report: ChaosReport) -> list[str]:
    """Each thing that should not be, in a line."""
    return [
        f"{way}: {words}: {found}"
        for way, toll in report.tolls
        for name, words in _FINDINGS.items()
        for found in getattr(toll, name)
    ]


def _found(name: str, found: Sequence[str]) -> str:
    return _IN_WORDS[name][bool(found)] if name in _IN_WORDS else str(len(found))


def _in_flight(toll: KillCosts) -> str:
    each = (("step", toll.in_flight_steps), ("model call", toll.in_flight_models), ("tool call", toll.in_flight_tools))
    return ", ".join(f"{count} {word}{'s' * (count != 1)}" for word, count in each if count) or "nothing"


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    return list(value) if isinstance(value, tuple) else value
