"""What happened, as a person and as a program read it: episodes, and one step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, duration, facts_lines, hanging, mark, money, padded, short_agent
from milepost.cli.show.memory import SHORT, day, first_line

if TYPE_CHECKING:
    from milepost.memories import Episode

STEPS_SHOWN = 30


def episodes_lines(found: tuple[Episode, ...], width: int) -> list[str]:
    """A line for each episode, the newest first."""
    if not found:
        return ["no episodes here yet", "next   milepost run"]
    lines = []
    for one in found:
        end = one.end
        ended = end.kind if end is not None else "open"
        facts = [
            padded(one.id[:SHORT], SHORT),
            day(one.start.started_at),
            padded(f"{_sign(one)} {ended}", 13),
            padded(one.start.task or "–", 5),
            one.start.title,
        ]
        lines.append(clipped("  ".join(facts), width))
    return [*lines, "", f"next   milepost memory show {found[0].id[:SHORT]}"]


def episode_lines(one: Episode, width: int) -> list[str]:
    """An episode step by step, and what came of it."""
    start, end = one.start, one.end
    ended = "open: not ended yet" if end is None else end.kind
    verdict = "not verified" if not one.verified else "verified: " + ("passed" if one.passed else "failed")
    where = " ".join(filter(None, (start.task, f"attempt {start.attempt}" if start.run else "")))
    facts = [
        ended,
        verdict,
        where,
        f"run {start.run}" if start.run else "",
        short_agent(start.agent),
        start.kind.replace("_", " "),
    ]
    if end is not None:
        facts += [duration(end.duration_ms), money(end.cost_usd)]
    lines = [
        *hanging(f"episode {one.id}  ", start.title, width),
        *facts_lines("", [fact for fact in facts if fact], width),
        *(facts_lines("of  ", _circumstances(one), width) if _circumstances(one) else []),
    ]
    if one.steps:
        lines += ["", *(_step_line(step, width) for step in one.steps[:STEPS_SHOWN])]
        if len(one.steps) > STEPS_SHOWN:
            lines.append(f"      and {len(one.steps) - STEPS_SHOWN} more: --json lists them")
    if end is not None:
        lines += ["", *(hanging("reason    ", first_line(end.reason), width) if end.reason.strip() else [])]
        lines += [line for text in end.signatures for line in hanging("error     ", text, width)]
        lines += hanging("changed   ", ", ".join(end.changed), width) if end.changed else []
        lines += hanging("evidence  ", ", ".join(end.evidence), width) if end.evidence else []
    if one.assessment is not None and end is not None:
        lines += [f"reward    {one.assessment.reward.total:.2f}"]
        thoughts = one.assessment.reflection
        told = (*thoughts.successes, *thoughts.improvements, *thoughts.insights)
        lines += [line for text in told for line in hanging("          ", text, width)]
    return lines


def episode_to_json(one: Episode) -> dict[str, Any]:
    """An episode, whole."""
    from milepost import memories

    plain: dict[str, Any] = memories.to_json(one)
    return plain | {"id": one.id, "verified": one.verified, "passed": one.passed}


def _sign(one: Episode) -> str:
    return mark(("passed" if one.passed else "failed") if one.verified else ("unverified" if one.end else None))


def _circumstances(one: Episode) -> list[str]:
    given = one.start.circumstances
    return [fact for fact in (given.language, given.framework, given.complexity, given.domain) if fact]


def _step_line(step: Any, width: int) -> str:
    facts = [f"{step.number:>4}", padded(step.result, 7), padded(step.tool, 10), step.action]
    took = f"  {duration(step.latency_ms)}" if step.latency_ms else ""
    return clipped("  ".join(facts) + took, width)
