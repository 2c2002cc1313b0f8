"""Gates: the questions of a run to a person, and the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.api.arguments import path_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from milepost.core.events import GateAnswer
    from milepost.engine.records.gates import Gate


def waiting_gates(roadmap: Path | str | None = None, *, database: str = "") -> tuple[Gate, ...]:
    """The open gates of all unfinished runs, oldest first.

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
) -> Gate:
    """Answer a gate; `gate` is its name or its task, None if there is only one.

    `text` is the reason of a `reject`, what to `edit`, or the agent to `delegate` to. With `digest` the answer counts
    only if the gate still shows what had this digest.
    """
    from milepost.engine.gates.answer import answer_gate as keep

    return keep(path_of(roadmap), gate, answer, text, digest=digest, by=by, database=database)


def to_json(gate: Gate) -> dict[str, Any]:
    """A gate as `milepost gates --json` prints it."""
    from milepost.engine.gates.answer import gate_to_json

    return gate_to_json(gate)
