"""A proof as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.cli.format_text import hanging, padded, safe, wrapped
from milepost.cli.named_roadmap import proposed
from milepost.cli.show.checks import check_lines

if TYPE_CHECKING:
    from milepost import Proof


def proof_lines(proof: Proof, width: int) -> list[str]:
    """What was asked of a result, how it answered, and what was refused before."""
    where = f"milepost {proof.commit[:7]}" if proof.commit else "no milepost"
    tried = f"attempt {proof.attempt} of {max(proof.attempt, len(proof.attempts))}"
    title = f"{proof.task}  {proof.title}"
    lines = [f"{padded(title, min(56, width - 46))}  {proof.words}, {tried}, {where}", ""]
    lines += check_lines(proof.evidence, width)
    lines += _basis_lines(proof, width)
    lines += _question_lines(proof, width)
    if not proof.commit:
        lines += ["", *wrapped(f"{proof.verdict}: {proof.evidence.reason}", width, indent=0)]
    lines.append("")
    if proof.agent.startswith("recipe:"):
        lines += wrapped(f"attempt {proof.attempt} was made by {proof.agent}: {_said(proof)}", width, indent=0)
    for attempt in proof.attempts:
        if attempt.number != proof.attempt:
            lines += wrapped(
                f"attempt {attempt.number} by {attempt.agent} was rejected: {attempt.evidence.reason}", width, indent=0
            )
        lines.append(safe(f"kept as     refs/milepost/{proof.run}/{proof.task}/{attempt.number}"))
    lines += [line for given in _given(proof) for line in hanging("given       ", given, width)]
    held = ", ".join(proof.evidence.enforced) or "no check was run; the agent ran at the trust level of the run"
    lines += [
        f"tree        {safe(proof.evidence.tree)}",
        f"confidence  {proof.evidence.confidence:.2f}",
        *hanging("sandbox     ", held, width),
    ]
    return [*lines, *([proposed(f"check it    milepost verify {safe(proof.task)} --replay")] if proof.commit else [])]


def _basis_lines(proof: Proof, width: int) -> list[str]:
    """What the verdict rests on: files of the base, its own tests, an exit code alone."""
    told = [line for text in proof.basis for line in wrapped(text, width, indent=0)]
    return ["", *told] if told else []


def _question_lines(proof: Proof, width: int) -> list[str]:
    """What a person was, or is, asked: each with what was expected before and what is expected now."""
    lines = [""] if proof.evidence.questions else []
    for question in proof.evidence.questions:
        place = f"{question.path}:{question.line}" if question.line else question.path
        lines += hanging("asked       ", f"{question.text} ({place})" if place else question.text, width)
        if question.before or question.after:
            lines += hanging("       was  ", question.before or "–", width)
            lines += hanging("       now  ", question.after or "–", width)
    return lines


def _given(proof: Proof) -> tuple[str, ...]:
    """What the agent of the attempt was set up with, by the repository and by its user."""
    return next((one.outcome.given for one in proof.attempts if one.number == proof.attempt), ())


def _said(proof: Proof) -> str:
    return next((one.outcome.said for one in proof.attempts if one.number == proof.attempt), "")


def log_lines(logs: tuple[tuple[str, str], ...]) -> list[str]:
    """Each log under the name of its check."""
    if not logs:
        return ["no check of this task printed anything"]
    return [line for name, text in logs for line in (f"── {name} ──", *map(safe, text.splitlines()), "")]
