"""Gates: the questions of a run to a person, and the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import ignore, path_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from milepost.api.arguments import OnEvent
    from milepost.core.events import GateAnswer
    from milepost.engine.records.gates import Gate
    from milepost.engine.run.answer_held import Acceptable, AcceptedWork


def waiting_gates(roadmap: Path | str | None = None, *, database: str = "") -> tuple[Gate, ...]:
    """The open gates of all unfinished runs, and those about held work of finished ones, oldest first.

    `database` is the address of the shared database, if the settings do not name it.
    """
    from milepost.engine.gates.answer import waiting_gates as waiting

    return waiting(path_of(roadmap), database)


def answer_gate(
    gate: str | None,
    answer: GateAnswer,
    text: str = "",
    roadmap: Path | str | None = None,
    *,
    digest: str = "",
    by: str = "",
    database: str = "",
    on_event: OnEvent | None = None,
) -> Gate:
    """Answer a gate; `gate` is its name or its task, None if there is only one.

    `text` is the reason of a `reject`, what to `edit`, or the agent to `delegate` to. With `digest` the answer counts
    only if the gate still shows what had this digest.

    Approving held work of a finished run lands it at once: `landed` of the gate says how.
    """
    from milepost.engine.run.answer_held import answer as keep

    return keep(
        path_of(roadmap),
        gate,
        answer,
        text,
        digest=digest,
        by=by,
        database=database,
        on_event=on_event or ignore,
    )


def accept(
    task: str,
    roadmap: Path | str | None = None,
    *,
    why: str = "",
    by: str = "",
    on_event: OnEvent | None = None,
) -> AcceptedWork:
    """Take held or unverified work as it is: it becomes a milepost that says who took it, and is proven nowhere.

    Only a person may decide this. `by` is their name; without it the one that git knows. While the run is on, the run
    lands it.
    """
    from milepost.engine.run.answer_held import accept as take

    return take(path_of(roadmap), task, why, by=by, on_event=on_event or ignore)


def acceptable(roadmap: Path | str | None = None) -> tuple[Acceptable, ...]:
    """The work that `accept` takes: the newest at each open task, if it is held or unverified."""
    from milepost.engine.run.answer_held import acceptable_work

    return acceptable_work(path_of(roadmap))


def person(roadmap: Path | str | None = None) -> str:
    """Who answers here, if nobody is named: git's `user.name`, else the login."""
    from milepost.engine.gates.answer import person as named

    return named(path_of(roadmap))


def to_json(gate: Gate) -> dict[str, Any]:
    """A gate as `milepost gates --json` prints it."""
    from milepost.engine.gates.answer import gate_to_json

    return gate_to_json(gate)
