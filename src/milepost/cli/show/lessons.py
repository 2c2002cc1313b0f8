"""What was learnt, as a person and as a program read it: lessons with what they did, one with its story, patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, facts_lines, hanging, padded
from milepost.cli.show.lift import lift_facts, lift_to_json, passed_of
from milepost.cli.show.memory import SHORT, day

if TYPE_CHECKING:
    from milepost.memories import Heuristic, LessonStanding, LessonStory, Pattern

LESSON_LINES = 3  # of a lesson that is listed: what it is about, and the code


def lessons_lines(found: tuple[LessonStanding, ...], project: str, width: int) -> list[str]:
    """A line for each lesson with what it did, and what it says below it."""
    if not found:
        return ["no lessons learnt here yet", "next   milepost memory list --episodes   what happened"]
    lines = []
    for one in found:
        lesson = one.lesson
        facts = [
            padded(lesson.id[:SHORT], SHORT),
            padded(one.state, 11),
            padded(lesson.kind.replace("_", " "), 15),
        ]
        did = [f"shown: {passed_of(one.shown)}", f"withheld: {passed_of(one.held_out)}"]
        whose = [f"from {lesson.project}"] if lesson.project != project else []
        said = (lesson.text or lesson.subject).strip().splitlines()[:LESSON_LINES]
        lines += facts_lines(f"{'  '.join(facts)}  ", [*did, *whose], width)
        lines += [clipped(f"  {line}", width) for line in said]
    return [*lines, "", f"next   milepost memory show {found[0].lesson.id[:SHORT]}   in full, and where it came from"]


def lesson_to_json(one: LessonStanding) -> dict[str, Any]:
    from milepost import memories

    lesson: dict[str, Any] = memories.to_json(one.lesson)
    return lesson | {
        "state": one.state,
        "why": one.why,
        "episodes": list(one.sources),
        "shown": {"passed": one.shown[0], "failed": one.shown[1]},
        "held_out": {"passed": one.held_out[0], "failed": one.held_out[1]},
        "votes": {"helped": one.helped, "harmed": one.harmed, "none": one.without_effect},
    }


def story_lines(found: LessonStory, width: int) -> list[str]:
    """A lesson, why it is there, and what was measured of it."""
    one, lesson = found.standing, found.lesson
    lines = [
        f"lesson {lesson.id}",
        *facts_lines("", [one.state, lesson.kind.replace("_", " "), f"for this {lesson.scope}", lesson.project], width),
        "",
        *(clipped(f"  {line}", width) for line in lesson.text.splitlines()),
        "",
        *hanging("about     ", lesson.subject, width),
        *(line for text in lesson.signature.splitlines() for line in hanging("fixes     ", text, width)),
        *(hanging("source    ", lesson.source, width) if lesson.source else []),
        *hanging(
            "from      ", ", ".join(f"episode {name[:SHORT]}" for name in one.sources) or "no episode here", width
        ),
        *facts_lines("effect    ", lift_facts(found.lift, told="this lesson"), width),
        *facts_lines(
            "votes     ", [f"{one.helped} helped", f"{one.harmed} harmed", f"{one.without_effect} no effect"], width
        ),
        *(hanging("suspect   ", found.suspicion, width) if found.suspicion else []),
        "",
    ]
    for move in found.moves:
        lines += hanging(f"{day(move.at)}  {padded(move.state, 11)} ", move.why, width)
    undo = "activate" if one.state in ("quarantined", "retired") else "quarantine"
    return [*lines, "", f"next   milepost memory {undo} {lesson.id[:SHORT]} --why TEXT"]


def story_to_json(found: LessonStory) -> dict[str, Any]:
    return lesson_to_json(found.standing) | {
        "lift": lift_to_json(found.lift),
        "moves": [{"state": move.state, "why": move.why, "at": move.at} for move in found.moves],
        "attempts": [
            {"episode": one.episode, "arm": one.arm, "verdict": one.verdict, "effect": one.effect} for one in found.told
        ],
        "suspicion": found.suspicion,
    }


def patterns_lines(patterns: tuple[Pattern, ...], heuristics: tuple[Heuristic, ...], width: int) -> list[str]:
    """What comes again, then what that says to do."""
    if not patterns:
        return ["no recurring patterns in verified attempts yet"]
    lines = [
        clipped(
            f"{one.passed:>3} of {one.seen:<3} {padded(one.kind.replace('_', ' '), 15)} {' → '.join(one.parts)}", width
        )
        for one in patterns
    ]
    if heuristics:
        lines.append("")
    for told in heuristics:
        sure = f"{told.passed} of {told.seen}, at least {told.confidence:.0%}"
        lines += hanging("where ", f"{told.condition}: {told.action} ({sure})", width)
    return lines


def patterns_to_json(patterns: tuple[Pattern, ...], heuristics: tuple[Heuristic, ...]) -> dict[str, Any]:
    from milepost import memories

    return {"patterns": memories.to_json(patterns), "heuristics": memories.to_json(heuristics)}
