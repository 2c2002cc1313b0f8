"""A step of a code agent: the code of one answer, what came of it, and how the model is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from milepost.agents.clip import clip
from milepost.agents.code_agent.restored_state import StepState, kept_of
from milepost.agents.code_agent.scratchpad import Note
from milepost.agents.code_agent.signatures import used_in
from milepost.agents.prompts import filled, quoted

LONGEST_ERROR = 4_000
LONGEST_ANSWER = 4_000
_PRINTED_IN_EVENT = 1_500
_LINE = re.compile(r"\(line (?P<number>\d{1,9})\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What came of a step, as it is recorded.

    `error` says why it failed, `ended` that the session is over with it, `lost` which names earlier code had defined
    and this session does not have. `answer` is the final answer, as text. All but `ended` and `enforced` is the code's
    own word.
    """

    output: str = ""
    error: str = ""
    is_run: bool = True
    ended: bool = False
    answer: str | None = None
    verified_by: str | None = None
    gave_up: str | None = None
    forged: bool = False
    lost: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    kept: StepState | None = None
    enforced: tuple[tuple[str, ...], ...] = ()

    @property
    def failed(self) -> bool:
        return bool(self.error) and self.answer is None

    def plain(self) -> dict[str, Any]:
        """The step as a logbook keeps it; `text` is what people are shown of it."""
        kept = self.kept
        return {
            "text": f"{self.output[-_PRINTED_IN_EVENT:]}\n{self.error}".strip(),
            "output": self.output,
            "error": self.error,
            "is_run": self.is_run,
            "ended": self.ended,
            "answer": self.answer,
            "verified_by": self.verified_by,
            "gave_up": self.gave_up,
            "forged": self.forged,
            "lost": list(self.lost),
            "notes": [note.plain() for note in self.notes],
            "kept": kept and {"put": dict(kept.put), "gone": list(kept.gone), "names": list(kept.names)},
            "enforced": [list(held) for held in self.enforced],
        }


def step_of(body: Mapping[str, Any]) -> Step:
    """The step that was recorded."""
    return Step(
        output=body["output"],
        error=body["error"],
        is_run=body["is_run"],
        ended=body["ended"],
        answer=body["answer"],
        verified_by=body["verified_by"],
        gave_up=body["gave_up"],
        forged=body["forged"],
        lost=tuple(body["lost"]),
        notes=tuple(Note(**note) for note in body["notes"]),
        kept=kept_of(body["kept"]),
        enforced=tuple(map(tuple, body["enforced"])),
    )


def said_at_the_end(step: Step) -> str:
    """The last words of an attempt: its answer, and what it says has verified it, which nobody believes."""
    word = f"\nverified, by its own word, by: {step.verified_by}" if step.verified_by else ""
    return f"{step.answer or ''}{word}"


def answer_as_text(value: Any) -> str:
    """A final answer in words that are not too long."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "an answer that is nested too deeply to be told"
    return clip(text, LONGEST_ANSWER)


def report(step: Step, number: int, code: str, functions: Mapping[str, Callable[..., Any]], *, limit: int) -> str:
    """What the model is told of a step: its error with the line and the signatures it needs, and what it printed."""
    names = quoted(", ".join(step.lost), limit=LONGEST_ERROR)
    if not step.is_run and step.lost:
        return filled("code_not_run", number=str(number), lost=names)
    printed = filled("code_printed", output=quoted(step.output, limit=limit)) if step.output.strip() else ""
    lost = filled("code_lost", lost=names) if step.lost else ""
    ended = filled("code_ended") if step.ended else ""
    if not step.error:
        parts = [filled("code_ran", number=str(number)), printed or filled("code_silent"), lost]
    else:
        trace = quoted(f"{step.error}{_failing_line(step.error, code)}", limit=LONGEST_ERROR)
        signatures = used_in(code, functions)
        heads = filled("code_signatures", signatures="\n".join(f"- `{each}`" for each in signatures))
        failed = filled("code_failed", number=str(number), error=trace)
        parts = [failed, heads if signatures else "", printed, ended, lost]
    return "\n".join(part for part in parts if part)


def _failing_line(error: str, code: str) -> str:
    lines = code.split("\n")
    where = _LINE.search(error)
    at = int(where["number"]) if where else 0
    return f"\n    {lines[at - 1].strip()}" if 0 < at <= len(lines) else ""
