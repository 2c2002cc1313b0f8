"""What is remembered of a project: asked for, told by agents from outside, looked after.

An agent from outside says how its work ended; that is kept as its word, and nothing is learnt from it as verified.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

import milepost
from milepost.mcp.project_folder import Folder, ServerProject
from milepost.mcp.tool import Brief
from milepost.serving.threads import aside

State = Literal["candidate", "active", "quarantined", "retired"]
LONGEST = 400
LONGEST_CONTEXT = 10_000
Limit = Annotated[int, Field(ge=1, le=50)]
EpisodeId = Annotated[str, Field(min_length=1, max_length=100)]
LessonId = Annotated[str, Field(max_length=100)]
Paths = Annotated[tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=100)]
Text = Annotated[str, Field(max_length=10_000)]


class Fitting(Brief):
    """An episode or lesson, with how it ended or stands; `project` where it is another.

    Milepost itself saw how a `verified` episode ended; others by their agent's word.
    """

    kind: str
    id: str
    title: str
    outcome: str = ""
    verified: bool = False
    why: str = ""
    project: str = ""


class Recalled(Brief):
    """`lessons` are advice with evidence, at most three; `why` says why it is these, or none."""

    lessons: tuple[str, ...] = ()
    found: tuple[Fitting, ...] = ()
    why: tuple[str, ...] = ()


class EpisodeOpened(Brief):
    episode: str


class StepKept(Brief):
    episode: str
    step: int


class EpisodeClosed(Brief):
    """How an episode was worth it; an outside agent's word is never verified."""

    episode: str
    reward: float = 0.0
    successes: tuple[str, ...] = ()
    improvements: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()


class LessonTold(Brief):
    """`shown` and `held_out`: passed and failed attempts with and without it; `project` where it is another one."""

    id: str
    project: str = ""
    kind: str
    state: str
    text: str = ""
    why: str = ""
    source: str = ""
    episodes: tuple[str, ...] = ()
    shown: tuple[int, int] = (0, 0)
    held_out: tuple[int, int] = (0, 0)


class LessonsTold(Brief):
    lessons: tuple[LessonTold, ...] = ()
    action: str = ""
    next: int | None = None


class PatternTold(Brief):
    kind: str
    parts: tuple[str, ...]
    seen: int
    passed: int


class PatternsTold(Brief):
    patterns: tuple[PatternTold, ...] = ()


class Recommended(Brief):
    """`patterns` are what worked here in verified work on the same things, with their counts; none where none was."""

    lessons: tuple[str, ...] = ()
    patterns: tuple[PatternTold, ...] = ()
    why: tuple[str, ...] = ()


def query_tools(place: ServerProject) -> tuple[Callable[..., Any], ...]:
    async def query_memory(
        query: Annotated[str, Field(min_length=1, max_length=10_000, description="A task, or an error's text")],
        context: Annotated[
            Annotated[str, Field(max_length=10_000)] | Annotated[dict[str, Any], Field(max_length=20)],
            Field(description="Error text, or error, files, …"),
        ] = "",
        limit: Limit = 5,
        workspace: Folder = "",
    ) -> Recalled:
        """Lessons of verified work and similar episodes that fit a task or an error."""
        error, files = about(context)
        return await aside(lambda: _recalled(place.named(workspace), query, error, limit, files))

    return (query_memory,)


def memory_tools(place: ServerProject) -> tuple[Callable[..., Any], ...]:
    """What agents from outside use, and what memory is looked after with."""
    return (
        _episode_start(place),
        _episode_log(place),
        _episode_complete(place),
        _lessons(place),
        _patterns(place),
        _recommend(place),
    )


def _episode_start(place: ServerProject) -> Callable[..., Any]:
    async def episode_start(
        title: Annotated[str, Field(min_length=1, max_length=500)],
        text: Text = "",
        kind: Literal["code_generation", "debugging", "refactoring", "testing", "analysis", "documentation", "other"]
        | None = None,
        agent: Annotated[str, Field(max_length=200)] = "",
        files: Paths = (),
        workspace: Folder = "",
    ) -> EpisodeOpened:
        """Start an episode for work that you do yourself; log its steps and complete it."""

        def begin() -> str:
            with milepost.open_memory(place.named(workspace)) as memory:
                return str(memory.start(title, text=text, kind=kind, agent=agent, files=files))

        return EpisodeOpened(episode=await aside(begin))

    return episode_start


def _episode_log(place: ServerProject) -> Callable[..., Any]:
    async def episode_log(
        episode: EpisodeId,
        tool: Annotated[str, Field(min_length=1, max_length=200)],
        action: Annotated[str, Field(min_length=1, max_length=2_000)],
        parameters: Annotated[dict[str, Any] | None, Field(max_length=100)] = None,
        result: Literal["success", "error", "timeout"] = "success",
        observation: Text = "",
        latency_ms: Annotated[int, Field(ge=0, le=86_400_000)] = 0,
        tokens: Annotated[int, Field(ge=0, le=100_000_000)] = 0,
        workspace: Folder = "",
    ) -> StepKept:
        """Record one step of an episode; it is on disk when this returns."""

        def note() -> int:
            with milepost.open_memory(place.named(workspace)) as memory:
                return int(
                    memory.log(
                        episode,
                        tool=tool,
                        action=action,
                        parameters=parameters or {},
                        result=result,
                        observation=observation,
                        latency_ms=latency_ms,
                        tokens=tokens,
                    )
                )

        return StepKept(episode=episode, step=await aside(note))

    return episode_log


def _episode_complete(place: ServerProject) -> Callable[..., Any]:
    async def episode_complete(
        episode: EpisodeId,
        outcome: Literal["success", "partial", "failure", "abstained"],
        reason: Text = "",
        workspace: Folder = "",
    ) -> EpisodeClosed:
        """End an episode. A success that you report is only your claim: lessons come from what Milepost verified."""

        def close() -> EpisodeClosed:
            with milepost.open_memory(place.named(workspace)) as memory:
                return _closed(episode, memory.complete(episode, outcome=outcome, reason=reason))

        return await aside(close)

    return episode_complete


def _lessons(place: ServerProject) -> Callable[..., Any]:
    async def lessons(
        action: Literal["list", "why", "quarantine", "forget"] = "list",
        lesson: LessonId = "",
        why: Annotated[str, Field(max_length=500, description="Why it is quarantined")] = "",
        state: State | None = None,
        limit: Limit = 10,
        offset: Annotated[int, Field(ge=0, le=100_000)] = 0,
        project: Annotated[str, Field(max_length=200, description="Another project's lessons")] = "",
        workspace: Folder = "",
    ) -> LessonsTold:
        """Lessons of this project: list them, why one is there, quarantine one, forget one and what came from it."""
        folder = place.named(workspace)
        if action == "list":
            return await aside(lambda: _listed(folder, state, offset, limit, project))
        if not lesson:
            raise milepost.Misuse(f"{action} needs the id of a lesson", "lessons action=list gives them")
        return await aside(lambda: _cared_for(folder, action, lesson, why, project))

    return lessons


def _patterns(place: ServerProject) -> Callable[..., Any]:
    async def patterns(limit: Limit = 10, workspace: Folder = "") -> PatternsTold:
        """Patterns that recur in this project's episodes, with how often and how often they passed."""

        def look() -> PatternsTold:
            with milepost.open_memory(place.named(workspace)) as memory:
                return PatternsTold(patterns=_counts(memory.patterns(most=limit)))

        return await aside(look)

    return patterns


def _recommend(place: ServerProject) -> Callable[..., Any]:
    async def recommend(
        task: Annotated[str, Field(min_length=1, max_length=10_000)],
        files: Paths = (),
        error: Text = "",
        limit: Limit = 5,
        workspace: Folder = "",
    ) -> Recommended:
        """Advice for a task from what worked here before: lessons that fit, patterns with their counts."""

        def look() -> Recommended:
            with milepost.open_memory(place.named(workspace)) as memory:
                found = memory.recall(task, files=files, error=error)
                worked = memory.patterns_for(task, files=files, error=error, most=limit)
                return Recommended(lessons=_lines(found.lines), patterns=_counts(worked), why=_lines(found.explanation))

        return await aside(look)

    return recommend


def lessons_listed(folder: Path, most: int) -> list[dict[str, Any]]:
    """The lessons of a project, as a resource tells them."""
    return [one.model_dump(exclude_defaults=True) for one in _listed(folder, None, 0, most).lessons]


def lesson_told(folder: Path, lesson: str) -> dict[str, Any]:
    """One lesson of a project, with what it grew from."""
    return _cared_for(folder, "why", lesson, "").lessons[0].model_dump(exclude_defaults=True)


def about(context: str | Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The error, and the files, that a context names; what else an object holds is read as text."""
    if isinstance(context, str):
        return _bounded(context), ()
    told = dict(context)
    files = told.pop("files", ())
    named = [files] if isinstance(files, str) else files if isinstance(files, list | tuple) else []
    texts = [value if isinstance(value, str) else f"{key}: {json.dumps(value)}" for key, value in told.items()]
    return _bounded("\n".join(texts)), tuple(str(name)[:500] for name in named[:100])


def _bounded(text: str) -> str:
    if len(text) > LONGEST_CONTEXT:
        raise milepost.Misuse(f"the context is longer than {LONGEST_CONTEXT} characters", "give less of it")
    return text


def _recalled(folder: Path, query: str, error: str, limit: int, files: tuple[str, ...] = ()) -> Recalled:
    with milepost.open_memory(folder) as memory:
        fitting = memory.recall(query, error=error, files=files)
        found = memory.search(f"{query}\n{error}".strip(), most=limit)
        return Recalled(
            lessons=_lines(fitting.lines),
            found=[_fitting(one, memory) for one in found],
            why=_lines(fitting.explanation),
        )


def _fitting(found: Any, memory: Any) -> Fitting:
    elsewhere = "" if found.project == memory.project else found.project
    return Fitting(
        kind=found.kind,
        id=found.id,
        title=found.title[:LONGEST],
        outcome=found.outcome,
        verified=found.kind == "episode" and memory.episode(found.id).verified,
        why=found.why[:LONGEST],
        project=elsewhere,
    )


def _closed(episode: str, assessment: Any) -> EpisodeClosed:
    reflection = assessment.reflection
    return EpisodeClosed(
        episode=episode,
        reward=round(assessment.reward.total, 3),
        successes=_lines(reflection.successes),
        improvements=_lines(reflection.improvements),
        insights=_lines(reflection.insights),
    )


def _listed(folder: Path, state: State | None, offset: int, limit: int, project: str = "") -> LessonsTold:
    with milepost.open_memory(folder) as memory:
        here = memory.project
        found = memory.lessons(state=state, most=offset + limit + 1, project=project or here)
    page = found[offset : offset + limit]
    more = offset + limit if len(found) > offset + limit else None
    return LessonsTold(lessons=[_told(one, here) for one in page], next=more)


def _cared_for(folder: Path, action: str, lesson: str, why: str, project: str = "") -> LessonsTold:
    with milepost.open_memory(folder) as memory:
        standing = memory.lesson(lesson).standing
        name, whose = standing.lesson.id, standing.lesson.project
        if action != "why" and whose != (project or memory.project):
            raise milepost.Misuse(
                f"lesson {name} is of project {whose!r}", "name it as project to change it all the same"
            )
        if action == "quarantine":
            standing = memory.quarantine(name, why or "through MCP")
        elif action == "forget":
            memory.forget(name, why=why or "through MCP")
        told = _told(standing, memory.project, whole=action == "why")
        return LessonsTold(lessons=[told], action="" if action == "why" else action)


def _told(standing: Any, here: str, *, whole: bool = False) -> LessonTold:
    lesson = standing.lesson
    return LessonTold(
        id=lesson.id,
        project="" if lesson.project == here else lesson.project,
        kind=lesson.kind,
        state=standing.state,
        text=lesson.text if whole else lesson.text[:LONGEST],
        why=standing.why[:LONGEST],
        source=lesson.source if whole else "",
        episodes=list(standing.sources[:20]) if whole else [],
        shown=list(standing.shown),
        held_out=list(standing.held_out),
    )


def _counts(found: Iterable[Any]) -> list[PatternTold]:
    return [PatternTold(kind=one.kind, parts=list(one.parts), seen=one.seen, passed=one.passed) for one in found]


def _lines(lines: Iterable[str]) -> list[str]:
    return [line[:LONGEST] for line in lines]
