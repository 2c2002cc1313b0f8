"""What waits for a person, and the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.given import path_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from milepost.core.events import GateAnswer
    from milepost.engine.records.gates import Gate


def waiting_gates(roadmap: Path | str | None = None, *, database: str = "") -> tuple[Gate, ...]:
    """What waits for a person: the questions of all unfinished runs, the oldest first.

    `database` is the address of the one that the runs share, where that is not in the settings.
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
) -> Gate:
    """Answer what waits for a person; `gate` is its name or its task's, None for the only one there is.

    `text` is the reason of a `reject`, what to `edit`, or the agent to `delegate` to. With `digest` the answer is to
    what was shown under it, and to nothing else.
    """
    from milepost.engine.gates.answer import answer_gate as keep

    return keep(path_of(roadmap), gate, answer, text, digest=digest, by=by, database=database)


def gate_to_json(gate: Gate) -> dict[str, Any]:
    """A gate as `milepost gates --json` prints it."""
    from milepost.engine.gates.answer import gate_to_json as to_json

    return to_json(gate)
