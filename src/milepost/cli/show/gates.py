"""What waits for a person, as they read it: the question, what it is about, and the command for each answer."""

from __future__ import annotations

import shlex
import time
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import milepost.gates
from milepost.cli.format_text import clipped, counted, duration, wrapped
from milepost.cli.named_roadmap import proposed

if TYPE_CHECKING:
    from milepost.gates import Gate

LINES_SHOWN = 40
DIGEST_SHOWN = 12


def gates_lines(gates: tuple[Gate, ...], width: int, *, whole: bool = False, where: str = "") -> list[str]:
    """Each question with what is shown for it; `where` is added to the commands."""
    if not gates:
        return ["no questions are waiting for you", proposed("next   milepost status")]
    lines = [f"{counted(len(gates), 'question')} {'waits' if len(gates) == 1 else 'wait'} for you"]
    for gate in gates:
        lines += ["", *_gate_lines(gate, width, whole, where)]
    return lines


def answered_lines(gate: Gate, *, running: bool) -> list[str]:
    """What was answered, and what becomes of it: here and now where its run is over."""
    from milepost.cli.show.accept import landed_lines

    if gate.landed is not None:
        return landed_lines(gate.task, gate.landed)
    said = f": {visible(gate.text)}" if gate.text else ""
    done = clipped(f"{gate.gate} of run {gate.run} · {gate.answer}{said}", 200)
    if gate.over:
        return [done, proposed(_after_no(gate))]
    return [done, "the run continues with this answer" if running else proposed("next   milepost resume")]


def _after_no(gate: Gate) -> str:
    """What follows an answer about work of a finished run that does not land."""
    again = f"next   milepost retry {gate.task}"
    if gate.answer in ("reject", "edit"):
        return f"{again}   sends it back with the reason"
    if gate.answer == "delegate":
        return f"{again} --agent {shlex.quote(gate.text)}   gives it to that agent"
    return f"the work stays on its ref; the next run does {gate.task} again"


def gate_with_commands(gate: Gate, where: str = "") -> dict[str, Any]:
    """A gate for machines, with the commands that answer it."""
    words = {name: shlex.join(argv) for name, argv in commands(gate, where).items()}
    return {**milepost.gates.to_json(gate), "commands": words}


def commands(gate: Gate, where: str = "") -> dict[str, list[str]]:
    """The command for each answer; the first one holds only for what is shown now."""
    name = [gate.gate, *shlex.split(where)]
    return {
        "approve": ["milepost", "approve", *name, "--digest", gate.digest[:DIGEST_SHOWN]],
        "reject": ["milepost", "reject", *name, "--reason", "WHY"],
        "edit": ["milepost", "edit", *name, "--text", "WHAT TO DO"],
        "skip": ["milepost", "skip", *name],
        "delegate": ["milepost", "delegate", *name, "--agent", "NAME"],
    }


def where_words(roadmap: Path | None, database: str) -> str:
    """What must be added to a command so that it means the same run; an address may hold a password."""
    words = ["--roadmap", str(roadmap)] if roadmap is not None else []
    words += ["--database", "ADDRESS"] if database else []
    return shlex.join(words)


def _gate_lines(gate: Gate, width: int, whole: bool, where: str) -> list[str]:
    ago = duration(int(max(0.0, time.time() - gate.asked_at) * 1000))
    more = "" if whole else proposed("milepost gates --whole")
    yes, no, other = (shlex.join(commands(gate, where)[name]) for name in ("approve", "reject", "edit"))
    take = shlex.join(["milepost", "accept", gate.task, *shlex.split(where)])
    return [
        clipped(f"{gate.gate} · run {gate.run} · asked {ago} ago", width),
        *(line for text in gate.question.splitlines() for line in wrapped(visible(text), width, indent=2)),
        *shown_lines(gate.shown, width, more=more),
        f"  yes    {yes}",
        f"  no     {no}",
        f"  or     {other}",
        "         or skip, or delegate --agent NAME",
        *([f"  or     {take}   not verified, on your word"] if gate.kind == "held" else []),
    ]


def shown_lines(shown: str, width: int, *, more: str) -> list[str]:
    """What a decision is about; only its beginning where `more` is the command that shows all."""
    rows = [row for line in shown.rstrip("\n").split("\n") for row in _rows(visible(line), max(width, 40) - 4)]
    left = max(0, len(rows) - LINES_SHOWN) if more else 0
    rest = [f"  │ … {counted(left, 'more line')}: {more}"] if left else []
    return [*(f"  │ {row}" for row in rows[: len(rows) - left]), *rest]


def _rows(line: str, width: int) -> list[str]:
    """A line on as many rows as it needs: whoever decides must see its end, too."""
    return [line[place : place + width] for place in range(0, max(1, len(line)), width)]


def visible(text: str) -> str:
    """Text in which nothing is hidden from whoever decides: signs that a terminal would obey are written out."""
    return "".join(_written_out(sign) for sign in text)


def _written_out(sign: str) -> str:
    if sign == "\t":
        return "    "
    hidden = unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    return sign.encode("unicode_escape").decode("ascii") if hidden else sign
