"""How a `Verify:` line stood at the base: what it came to, which tests it selects, which files it opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from milepost.core.verdict import CheckOutcome, TestCase
from milepost.verify.selection.selection import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class LineAtBase:
    """`cases` are the selected tests as the engine saw them, `selections` what selects them.

    `is_runner`: the line is nothing but these test runners, so that a witnessed run of them is a run of the line.
    `opened` are files of the checkout; without `opens_known` it is not known which. `problem` is why the tests could
    not be run to their end there. `excused` are tests that passed when the line ran them, and fail for the engine: they
    are not run here as they are there, and say nothing. `unseen` is why nothing but the exit code can be told, empty
    where tests are seen. A command that had not `ended` when it was stopped says nothing.
    """

    outcome: CheckOutcome
    summary: str = ""
    cases: tuple[TestCase, ...] = ()
    selections: tuple[Selection, ...] = ()
    is_runner: bool = False
    opened: tuple[str, ...] = ()
    opens_known: bool = False
    problem: str = ""
    excused: tuple[str, ...] = ()
    unseen: str = ""
    ended: bool = True

    def to_json(self) -> dict[str, Any]:
        """What is kept of it; of a test only what a later run is compared with."""
        told = asdict(self)
        names = ("id", "outcome", "message", "parameters", "flaky")
        return {**told, "cases": [{name: case[name] for name in names} for case in told["cases"]]}


def from_json(told: Mapping[str, Any]) -> LineAtBase:
    return LineAtBase(
        **{
            **told,
            "cases": tuple(TestCase(**case) for case in told["cases"]),
            "selections": tuple(_selection(each) for each in told["selections"]),
            "opened": tuple(told["opened"]),
            "excused": tuple(told["excused"]),
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteAtBase:
    """The project's own suite at the base, as the engine ran it; `opened` is None where that is not known."""

    cases: tuple[TestCase, ...] = ()
    opened: tuple[str, ...] | None = None


def _selection(told: Mapping[str, Any]) -> Selection:
    return Selection(
        runner=told["runner"],
        words=tuple(told["words"]),
        folder=told["folder"],
        env=tuple((name, value) for name, value in told["env"]),
        node_words=tuple(told["node_words"]),
    )
