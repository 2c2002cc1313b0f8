"""What is remembered, as a person and as a program read it: figures, episodes, lessons, patterns."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from milepost.cli.amounts import minutes
from milepost.cli.words import (
    clipped,
    counted,
    duration,
    facts_lines,
    from_here,
    hanging,
    mark,
    money,
    padded,
    safe,
    short_agent,
)

if TYPE_CHECKING:
    from milepost import (
        Episode,
        Found,
        Heuristic,
        LessonStanding,
        LessonStory,
        Lift,
        MemoryStats,
        Pattern,
        Recollection,
        Unsynced,
    )

ENDS = ("success", "partial", "failure", "abstained", "interrupted", "open")
STATES = ("active", "candidate", "quarantined", "retired")
SHORT = 12  # signs of an id that is listed: enough to be pasted into the next command
STEPS_SHOWN = 30
LESSON_LINES = 3  # of a lesson that is listed: what it is about, and the code


def stats_lines(found: MemoryStats, width: int) -> list[str]:
    """What there is, what it changed, and what of it others have not got yet."""
    if not found.is_there:
        return ["nothing is remembered here yet", "next   milepost run"]
    others = sorted(((count, name) for name, count in found.projects.items() if name != found.project), reverse=True)
    whose = f"{found.project} and {counted(len(others), 'other project')}" if others else found.project
    lines = [
        *facts_lines("memory of ", [whose, _place(found.place), size(found.size_bytes)], width),
        *([f"mode       {found.mode}"] if found.mode != "on" else []),
        "",
        *_counts("episodes", found.episodes, ENDS, width),
        *_counts("lessons", found.lessons, STATES, width),
        *facts_lines(
            "lift       ", [*(["of this project"] if others else []), *lift_facts(found.lift, found.holdout)], width
        ),
    ]
    if others:
        parts = [f"{count} of {name}" for count, name in others]
        ours = f"{counted(found.projects.get(found.project, 0), 'episode')} of this one"
        lines += facts_lines("projects   ", [ours, *parts], width)
    lines += facts_lines("sync       ", sync_facts(found.unsynced), width)
    return [*lines, "", "next   milepost memory list   what attempts are told"]


def stats_to_json(found: MemoryStats) -> dict[str, Any]:
    return {
        "project": found.project,
        "place": found.place,
        "is_there": found.is_there,
        "mode": found.mode,
        "episodes": dict(found.episodes),
        "projects": dict(found.projects),
        "steps": found.steps,
        "lessons": dict(found.lessons),
        "votes": dict(found.votes),
        "lift": lift_to_json(found.lift),
        "holdout": found.holdout,
        "sync": sync_to_json(found.unsynced),
        "size_bytes": found.size_bytes,
    }


def lift_facts(lift: Lift, holdout: float | None = None, *, told: str = "anything") -> list[str]:
    """Attempts with lessons against those that they were held out of."""
    if not any(lift.shown) and not any(lift.held_out):
        return [f"nothing to measure yet: no verified attempt was told {told}"]
    facts = [f"told {_passed(lift.shown)}", f"held out {_passed(lift.held_out)}"]
    if lift.difference is None or lift.interval is None or lift.p_value is None:
        if any(lift.shown) and any(lift.held_out):
            return [*facts, "nothing to compare yet, none that as many lessons fitted was both told and held out"]
        nothing = "none was held out" if any(lift.shown) else "none was told"
        more = f": {holdout:.0%} are, by chance" if holdout and any(lift.shown) else ""
        return [*facts, f"nothing to compare yet, {nothing}{more}"]
    low, high = lift.interval
    sure = f"95 % sure of {_points(low)} to {_points(high)}, exact p = {lift.p_value:.2g}"
    return [*facts, f"{_points(lift.difference)} points", sure]


def lift_to_json(lift: Lift) -> dict[str, Any]:
    low, high = lift.interval or (None, None)
    return {
        "shown": {"passed": lift.shown[0], "failed": lift.shown[1]},
        "held_out": {"passed": lift.held_out[0], "failed": lift.held_out[1]},
        "difference": lift.difference,
        "low": low,
        "high": high,
        "p_value": lift.p_value,
    }


def sync_facts(found: Unsynced) -> list[str]:
    """What the primary was not told yet."""
    if not found.primary:
        return ["no primary: the memory stays here"]
    facts = [f"{found.waiting} not yet synced", found.primary]
    if found.waiting and found.oldest_at is not None:
        facts.insert(1, f"the oldest for {minutes(max(0.0, time.time() - found.oldest_at))}")
    if found.diverged:
        facts.append(f"{counted(found.diverged, 'row')} diverged")
    if found.refused:
        facts.append(f"{counted(found.refused, 'row')} not let in")
    return [*facts, *([found.last_error] if found.last_error else [])]


def sync_to_json(found: Unsynced) -> dict[str, Any]:
    return {
        "primary": found.primary,
        "waiting": found.waiting,
        "oldest_at": found.oldest_at,
        "diverged": found.diverged,
        "refused": found.refused,
        "last_error": found.last_error,
    }


def found_lines(found: tuple[Found, ...], width: int) -> list[str]:
    """A line for each thing that was found, and why it was."""
    if not found:
        return ["nothing here has these words"]
    lines = []
    for one in found:
        head = f"{padded(one.id[:SHORT], SHORT)}  {padded(one.kind, 7)}  {padded(one.outcome, 11)}  {day(one.when)}"
        lines += [clipped(f"{head}  {_first_line(one.title)}", width)]
        lines += [clipped(f"{'':<{SHORT}}  {one.why}", width)]
    return [*lines, "", f"next   milepost memory show {found[0].id[:SHORT]}"]


def found_to_json(one: Found) -> dict[str, Any]:
    from milepost import memory_to_json

    plain: dict[str, Any] = memory_to_json(one)
    return plain


def recalled_lines(found: Recollection, *, explain: bool, width: int) -> list[str]:
    """What an attempt would be told, and with `explain` why."""
    lines = [safe(line) for text in found.lines for line in text.splitlines()]
    if not lines:
        lines = ["nothing: an attempt at this would be told nothing"]
    if explain:
        lines += ["", *(line for why in found.explanation for line in hanging("  ", why, width))]
    elif not found.lines:
        lines.append("next   the same with --explain   why")
    return lines


def recalled_to_json(found: Recollection) -> dict[str, Any]:
    return {
        "lines": list(found.lines),
        "lessons": list(found.lessons),
        "explanation": list(found.explanation),
    }


def episodes_lines(found: tuple[Episode, ...], width: int) -> list[str]:
    """A line for each episode, the newest first."""
    if not found:
        return ["no episode is remembered here", "next   milepost run"]
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
            lines.append(f"      and {len(one.steps) - STEPS_SHOWN} more: --json has them")
    if end is not None:
        lines += ["", *(hanging("reason    ", _first_line(end.reason), width) if end.reason.strip() else [])]
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
    from milepost import memory_to_json

    plain: dict[str, Any] = memory_to_json(one)
    return plain | {"id": one.id, "verified": one.verified, "passed": one.passed}


def lessons_lines(found: tuple[LessonStanding, ...], project: str, width: int) -> list[str]:
    """A line for each lesson with what it did, and what it says below it."""
    if not found:
        return ["no lesson was learnt here yet", "next   milepost memory list --episodes   what happened"]
    lines = []
    for one in found:
        lesson = one.lesson
        facts = [
            padded(lesson.id[:SHORT], SHORT),
            padded(one.state, 11),
            padded(lesson.kind.replace("_", " "), 15),
        ]
        did = [f"told {_passed(one.shown)}", f"held out {_passed(one.held_out)}"]
        whose = [f"of {lesson.project}"] if lesson.project != project else []
        said = (lesson.text or lesson.subject).strip().splitlines()[:LESSON_LINES]
        lines += facts_lines(f"{'  '.join(facts)}  ", [*did, *whose], width)
        lines += [clipped(f"  {line}", width) for line in said]
    return [*lines, "", f"next   milepost memory show {found[0].lesson.id[:SHORT]}   all of it, and why it is there"]


def lesson_to_json(one: LessonStanding) -> dict[str, Any]:
    from milepost import memory_to_json

    lesson: dict[str, Any] = memory_to_json(one.lesson)
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
        *(line for text in lesson.signature.splitlines() for line in hanging("mends     ", text, width)),
        *(hanging("source    ", lesson.source, width) if lesson.source else []),
        *hanging(
            "grew from ", ", ".join(f"episode {name[:SHORT]}" for name in one.sources) or "no episode here", width
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
        return ["nothing came again in what was verified here"]
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
    from milepost import memory_to_json

    return {"patterns": memory_to_json(patterns), "heuristics": memory_to_json(heuristics)}


def day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def size(count: int) -> str:
    """`340 B`, `12 kB`, `1.2 MB`."""
    for unit, sign in ((1_000_000, "MB"), (1_000, "kB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {sign}"
    return f"{count} B"


def _place(place: str) -> str:
    from pathlib import Path

    return from_here(Path(place)) if place.startswith("/") else place


def _counts(name: str, counts: Any, order: tuple[str, ...], width: int) -> list[str]:
    facts = [f"{counts[kind]} {kind}" for kind in order if counts.get(kind)]
    total = sum(counts.values())
    return facts_lines(f"{padded(name, 10)} ", [str(total), *facts] if total else ["none yet"], width)


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def _passed(counts: tuple[int, int]) -> str:
    total = sum(counts)
    return f"{counts[0]} of {total} passed" if total else "none"


def _points(share: float) -> str:
    return f"{share * 100:+.0f}"


def _sign(one: Episode) -> str:
    return mark(("passed" if one.passed else "failed") if one.verified else ("unverified" if one.end else None))


def _circumstances(one: Episode) -> list[str]:
    given = one.start.circumstances
    return [fact for fact in (given.language, given.framework, given.complexity, given.domain) if fact]


def _step_line(step: Any, width: int) -> str:
    facts = [f"{step.number:>4}", padded(step.result, 7), padded(step.tool, 10), step.action]
    took = f"  {duration(step.latency_ms)}" if step.latency_ms else ""
    return clipped("  ".join(facts) + took, width)
