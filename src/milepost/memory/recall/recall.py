"""Recall: the few lines of what was learnt that fit a task, and why it is these and no others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.failure_signature import plain
from milepost.core.memories import Episode, Lessons, LessonStanding, Query, Showing
from milepost.memory.lessons.policy import arm_of, why_hidden
from milepost.memory.memory import StoredMemory
from milepost.memory.recall.candidates import Candidate, Looked, look
from milepost.memory.recall.index import Index
from milepost.memory.recall.origin import origin, project_mark
from milepost.memory.recall.query import asked, sought
from milepost.memory.recall.relevance import DAY_S
from milepost.memory.recall.search import Found, search
from milepost.memory.recall.semantic import Meaning

MOST_LESSONS = 3
MOST_TOKENS = 300
SIGNS_PER_TOKEN = 4
MOST_REJECTED = 3  # told in an explanation
FEW = 8  # candidates whose standing is asked for at once: seldom more are needed

# What a lesson grew from, without the attempts that were told it themselves; for one of these, what was known then.
_SOURCES = """
    select starts.run, starts.task, coalesce(starts.at, supports.at) from memory_supports as supports
    left join memory_episodes as starts on starts.id = supports.episode
    left join memory_showings as told on told.lesson = supports.lesson and told.episode = ?
    left join memory_showings as copied
        on copied.lesson = supports.lesson and copied.episode = supports.episode and copied.arm = 'shown'
    where supports.lesson = ? and supports.at <= coalesce(told.at, supports.at) and copied.episode is null
    order by coalesce(starts.at, supports.at) desc
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """What is told, line by line with its lesson, what is held out, and what was not chosen after all."""

    told: tuple[tuple[Candidate, str], ...]
    held_out: tuple[Candidate, ...]
    left: tuple[str, ...]


class Recaller:
    """Recalls what fits from a memory. `index` is a cache file; None keeps the index in the process' own memory.

    `holdout` is the share of attempts that a lesson is kept from, to measure what it does. `rule` says why nobody may
    be shown a lesson, by all that the memory knows of it; empty where nothing speaks against it.
    """

    def __init__(
        self,
        memory: StoredMemory,
        *,
        index: Path | None,
        holdout: float = 0.2,
        meaning: Meaning | None = None,
        rule: Callable[[LessonStanding], str] = why_hidden,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._memory = memory
        self._index = Index(memory.rows, index)
        self._holdout = holdout
        self._meaning = meaning
        self._rule = rule
        self._now = now

    def recall(self, query: Query) -> Lessons:
        """At most three lessons and 300 tokens for an attempt; nothing where nothing fits.

        For an episode it is written down what it was told and what was held out; asked again, it is told the same,
        whatever was learnt meanwhile.
        """
        if query.episode and (before := self._memory.lessons.shown_to(query.episode)):
            return self._again(query, before)
        task = asked(query)
        looked = self._index.use(lambda entries: look(entries, task, self._now(), self._meaning))
        choice = self._choice(looked, query)
        if query.episode:
            self._memory.lessons.show(_showings(choice, query.episode))
        return Lessons(
            lines=tuple(line for _, line in choice.told),
            shown=tuple(one.lesson.id for one, _ in choice.told),
            held_out=tuple(one.lesson.id for one in choice.held_out),
            explanation=_explanation(query, looked, choice),
        )

    def record(self, episode: Episode) -> None:
        """Keep an episode that has ended; it is found from then on."""
        self._memory.record(episode)

    def search(self, text: str, project: str = "", most: int = 10) -> tuple[Found, ...]:
        """Episodes and lessons that fit a text, best first; those of a project before those of others."""
        question = sought(text, project)
        return self._index.use(lambda entries: search(entries, question, most, self._now(), self._meaning))

    def rebuild(self) -> None:
        """Make the index again from the memory's rows."""
        self._index.rebuild()

    def close(self) -> None:
        self._index.close()

    def _again(self, query: Query, before: Sequence[Showing]) -> Lessons:
        """What an attempt was told before, in whatever state it is now; only what nobody may read is left out."""
        standings = self._memory.lessons.standings(lessons=[one.lesson for one in before])
        known = {each.lesson.id: each for each in standings if not self._rule(replace(each, state="active"))}
        shown = tuple(one.lesson for one in before if one.arm == "shown" and one.lesson in known)
        held_out = tuple(one.lesson for one in before if one.arm == "held_out")
        return Lessons(
            lines=tuple(self._line(known[name], query) for name in shown),
            shown=shown,
            held_out=held_out,
            explanation=(
                "this attempt was shown lessons before, and is shown the same",
                *(f"shown {name}" for name in shown),
                *(f"held out {name} to measure its effect" for name in held_out),
            ),
        )

    def _choice(self, looked: Looked, query: Query) -> _Choice:
        told: list[tuple[Candidate, str]] = []
        held_out: list[Candidate] = []
        left: list[str] = []
        room = MOST_TOKENS * SIGNS_PER_TOKEN
        fitting = [one for one in looked.candidates if not one.objection]
        for place, (one, standing) in enumerate(self._standings(fitting)):
            name = one.lesson.id
            if len(told) + len(held_out) == MOST_LESSONS:
                better = f"{MOST_LESSONS} lessons that fit better came before it"
                left += [f"{each.lesson.id}: {better}" for each in fitting[place:]]
                break
            against = self._rule(standing) if standing else "was forgotten"
            if standing is None or against:
                left.append(f"{name}: it {against}")
                continue
            line = self._line(standing, query)
            if len(line) > room:
                left.append(f"{name}: it is too long for what is left of {MOST_TOKENS} tokens")
                continue
            room -= len(line) + 1  # what is held out takes its room as well: what else fits must not hang on chance
            if query.episode and arm_of(name, query.episode, self._holdout) == "held_out":
                held_out.append(one)
            else:
                told.append((one, line))
        return _Choice(told=tuple(told), held_out=tuple(held_out), left=tuple(left))

    def _standings(self, found: Sequence[Candidate]) -> Iterator[tuple[Candidate, LessonStanding | None]]:
        """Candidates with how they stand by the memory itself; None for one that is gone."""
        for start in range(0, len(found), FEW):
            few = found[start : start + FEW]
            asked_for = self._memory.lessons.standings(lessons=[one.lesson.id for one in few])
            known = {standing.lesson.id: standing for standing in asked_for}
            yield from ((one, known.get(one.lesson.id)) for one in few)

    def _line(self, standing: LessonStanding, query: Query) -> str:
        """A lesson with its evidence."""
        lesson = standing.lesson
        sources = self._memory.rows.read(_SOURCES, query.episode, lesson.id) or [("", "", self._now())]
        run, task, at = sources[0]
        parts = [f"other project {project_mark(lesson.project)}"] if lesson.project != query.project else []
        parts += [where] if run and (where := origin(run, task)) else []
        parts += [_ago(self._now() - float(at)), f"seen in {_counted(len(sources), 'episode')}"]
        return f"{plain(lesson.text).strip()} ({', '.join(parts)})"


def _showings(choice: _Choice, episode: str) -> Sequence[Showing]:
    told = [Showing(lesson=one.lesson.id, episode=episode, arm="shown") for one, _ in choice.told]
    return told + [Showing(lesson=one.lesson.id, episode=episode, arm="held_out") for one in choice.held_out]


def _explanation(query: Query, looked: Looked, choice: _Choice) -> tuple[str, ...]:
    """What was looked at, what was found, and what was not shown for what reason."""
    if not looked.own and not looked.others:
        return ("no lessons yet",)
    rejected = [one for one in looked.candidates if one.objection]
    best = sorted(rejected, key=lambda one: -one.share)[:MOST_REJECTED]
    lines = [
        f"looked at {_counted(looked.own, 'lesson')} of project {project_mark(query.project)} and {looked.others}"
        f" of others: {len(looked.candidates)} have something in common with the task",
        *(f"shown {one.lesson.id}: {one.why}{_mark(one)}" for one, _ in choice.told),
        *(f"held out {one.lesson.id} to measure its effect: {one.why}{_mark(one)}" for one in choice.held_out),
        *(f"not shown {reason}" for reason in choice.left[:MOST_REJECTED]),
        *(f"not shown {one.lesson.id}: {one.objection}{_mark(one)}" for one in best),
    ]
    if len(rejected) > len(best):
        lines.append(f"nor {len(rejected) - len(best)} that fit less well")
    return tuple(lines)


def _mark(one: Candidate) -> str:
    return f" (other project {project_mark(one.lesson.project)})" if one.elsewhere else ""


def _ago(age_s: float) -> str:
    days = int(max(0.0, age_s) // DAY_S)
    return "today" if days == 0 else f"{_counted(days, 'day')} ago"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
