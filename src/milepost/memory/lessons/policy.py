"""The life of a lesson: who is shown it, what it is said to have done, when it is believed and when no longer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator

from milepost.core.memories import Arm, Effect, Lesson, LessonKind, LessonStanding, LessonState
from milepost.memory.lessons.experience import FileChange
from milepost.memory.lessons.lesson_followed import concerns, follows, uses
from milepost.memory.lessons.suspicious_lessons import objection

ENOUGH = 2  # independent verified episodes that make a lesson active
FEWEST_SHOWN = 3
SURE = 0.95
PRIOR = 20.0  # attempts that the project's own rate of success counts as
MOST_UNUSED = 20

HARM = "harm"
CONTRADICTED = "contradicted"
UNDONE = "undone"
GONE = "gone"
_MAY_RETURN = (CONTRADICTED, UNDONE, GONE)

# Two lessons of these that are about the same thing and say something else cannot both be right.
CONTRADICTING: frozenset[LessonKind] = frozenset({"usage", "recovery", "command", "convention"})
# Nothing is said of a command before it ended well twice.
WAITING: frozenset[LessonKind] = frozenset({"command"})

Move = tuple[LessonState, str]


def arm_of(lesson: str, episode: str, share: float) -> Arm:
    """Whether an attempt is shown a lesson that fits it: by hash, so that it is the same after a crash."""
    digest = hashlib.sha256(f"{lesson}\0{episode}".encode("utf-8", "backslashreplace")).digest()
    return "held_out" if int.from_bytes(digest[:8]) < share * 2**64 else "shown"


def why_hidden(standing: LessonStanding) -> str:
    """Why attempts may not be shown a lesson; empty where they may.

    Candidates are: in the measurements a lesson of one verified episode already helps, and one that is never shown
    never earns a vote. The hold-out measures them as it does active ones, and harm takes them out as fast.
    """
    if not _is_live(standing):
        is_early = standing.state == "candidate"
        return "is shown only after another verified attempt confirms it" if is_early else f"is {standing.state}"
    return objection(standing.lesson) if standing.sources else "has no known source here"


def vote_for(lesson: Lesson, passed: bool, changes: Iterable[FileChange], errors: Iterable[str] = ()) -> Effect:
    """What a lesson that was shown did for a verified attempt: something only where the change is about it.

    It harmed one that did as it says and failed with an error about that; one that failed otherwise says nothing of it.
    """
    changed = tuple(changes)
    if passed:
        return "helped" if uses(lesson, changed) else "none"
    return "harmed" if follows(lesson, changed) and concerns(lesson, errors) else "none"


def next_state(standing: LessonStanding, base_rate: float) -> Move | None:
    """The state that a lesson should have by all that is known of it, and why; None while it stays.

    `base_rate` is the share of attempts that passed in the projects where it was shown. What a person decided stays.
    """
    if standing.by_hand:
        return None
    match standing.state:
        case "candidate" | "active":
            return _onward(standing, base_rate)
        case "quarantined":
            return _return(standing, base_rate)
        case "retired":
            return _believed(standing, "verified again") if standing.since else None


def contradictions(standings: Iterable[LessonStanding]) -> Iterator[tuple[str, str]]:
    """Pairs of a lesson that has to go and the one that says otherwise: the newer verified use stays.

    One that a person activated stays before all others.
    """
    newest: dict[tuple[str, LessonKind, str], LessonStanding] = {}
    rivals = [one for one in standings if one.lesson.kind in CONTRADICTING and _is_live(one)]
    for one in sorted(rivals, key=_precedence, reverse=True):
        stays = newest.setdefault((one.lesson.project, one.lesson.kind, one.lesson.subject), one)
        if stays is not one and not one.by_hand:
            yield one.lesson.id, stays.lesson.id


def chance_of_harm(standing: LessonStanding, base_rate: float) -> float:
    """How likely attempts do worse with a lesson than without it; the project's own rate counts as some without."""
    passed, failed = standing.shown
    without_passed, without_failed = standing.held_out
    return _chance_less(
        (1 + passed, 1 + failed),
        (1 + without_passed + PRIOR * base_rate, 1 + without_failed + PRIOR * (1 - base_rate)),
    )


def _precedence(standing: LessonStanding) -> tuple[bool, float, float, str]:
    return standing.by_hand, standing.supported_at, standing.lesson.made_at, standing.lesson.id


def _is_live(standing: LessonStanding) -> bool:
    is_early = standing.state == "candidate" and standing.lesson.kind in WAITING
    return standing.state in ("candidate", "active") and not is_early


def _onward(standing: LessonStanding, base_rate: float) -> Move | None:
    if _does_harm(standing, base_rate):
        return "quarantined", f"{HARM}: {_counts(standing)}, and {base_rate:.0%} of all attempts"
    unused = min(standing.opportunities, standing.without_effect)
    if standing.lesson.symbols and unused >= MOST_UNUSED:
        return "retired", f"not used by the last {unused} attempts that were shown it"
    is_believed = _by_support(standing) == "active"
    return ("active", _supported(standing)) if standing.state == "candidate" and is_believed else None


def _return(standing: LessonStanding, base_rate: float) -> Move | None:
    if standing.why.startswith(HARM):
        is_better = standing.since > 0 and not _does_harm(standing, base_rate)
        return _believed(standing, "verified again, and no longer worse") if is_better else None
    is_back = standing.since > 0 and standing.why.startswith(_MAY_RETURN)
    return _believed(standing, "verified again") if is_back else None


def _believed(standing: LessonStanding, why: str) -> Move:
    return _by_support(standing), why


def _by_support(standing: LessonStanding) -> LessonState:
    is_shown_well = standing.helped > 0 and standing.lesson.kind not in WAITING
    return "active" if standing.independent >= ENOUGH or (standing.sources and is_shown_well) else "candidate"


def _supported(standing: LessonStanding) -> str:
    if standing.independent >= ENOUGH:
        return f"{standing.independent} verified attempts, none of which was shown it"
    return "a verified attempt that was shown it used it and passed"


def _does_harm(standing: LessonStanding, base_rate: float) -> bool:
    return sum(standing.shown) >= FEWEST_SHOWN and chance_of_harm(standing, base_rate) > SURE


def _counts(standing: LessonStanding) -> str:
    (passed, failed), (other_passed, other_failed) = standing.shown, standing.held_out
    return f"passed {passed} of {passed + failed} with it, {other_passed} of {other_passed + other_failed} without"


def _chance_less(one: tuple[float, float], other: tuple[float, float]) -> float:
    """How likely a draw of the first Beta distribution is below one of the second, both taken as normal."""
    (mean, variance), (other_mean, other_variance) = _moments(*one), _moments(*other)
    return 0.5 * (1 + math.erf((other_mean - mean) / math.sqrt(2 * (variance + other_variance))))


def _moments(a: float, b: float) -> tuple[float, float]:
    return a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
