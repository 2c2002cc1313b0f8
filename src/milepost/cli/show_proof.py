"""A proof as a person reads it."""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING

from milepost.cli.words import clipped, duration, padded, wrapped

if TYPE_CHECKING:
    from milepost import CheckResult, Proof


def proof_lines(proof: Proof, width: int) -> list[str]:
    """What was asked of a result, how it answered, and what was refused before."""
    where = f"milepost {proof.commit[:7]}" if proof.commit else "no milepost"
    tried = f"attempt {proof.attempt} of {max(proof.attempt, len(proof.attempts))}"
    title = f"{proof.task}  {proof.title}"
    lines = [f"{padded(title, min(56, width - 46))}  {proof.verdict}, {tried}, {where}", ""]
    lines += [_check_line(check, width) for check in proof.evidence.checks]
    for check in proof.evidence.checks:
        lines += [
            clipped(f"            {case.id}: {case.message}", width) for case in check.cases if case.outcome == "failed"
        ][:5]
        if check.outcome == "failed":
            lines += [clipped(f"            {line}", width) for line in check.log.splitlines()[-8:]]
    if not proof.commit:
        lines += ["", *wrapped(f"{proof.verdict}: {proof.evidence.reason}", width, indent=0)]
    for attempt in proof.attempts:
        if attempt.number != proof.attempt:
            lines += wrapped(f"attempt {attempt.number} refused: {attempt.evidence.reason}", width, indent=0)
        lines.append(f"            refs/milepost/{proof.run}/{proof.task}/{attempt.number}")
    held = ", ".join(proof.evidence.enforced) or "nothing was run"
    held_lines = textwrap.wrap(held, max(40, width - 12), initial_indent="", subsequent_indent=" " * 12)
    return [*lines, "", f"tree        {proof.evidence.tree}", f"held by     {held_lines[0]}", *held_lines[1:]]


def _check_line(check: CheckResult, width: int) -> str:
    argv = shlex.join(check.argv) if check.argv else ""
    tests = f"{check.count('passed')} of {len(check.cases)} tests  " if check.cases else ""
    code = f"exit {check.exit_code}  " if check.exit_code is not None else ""
    facts = f"{check.outcome:<7} {tests or code}{duration(check.duration_ms) if check.argv else ''}".rstrip()
    what = argv or check.summary
    return f"{padded(check.name, 10)}  {padded(what, max(20, width - 48))}  {facts}"
