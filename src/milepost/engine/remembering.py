"""The memory of a project as people and other programs use it: looked at, told, corrected, shared.

It is the engine's own database, opened without its lock: all that is done here is short, and a run may be on.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import IO, Any, get_args

from milepost.core.errors import EpisodeUnknown, LessonUnknown, Misuse
from milepost.core.memories import (
    Assessment,
    EndKind,
    Episode,
    EpisodeStep,
    Heuristic,
    LessonStanding,
    LessonState,
    Pattern,
    Query,
    StepResult,
    TaskKind,
)
from milepost.core.redact import Redactor
from milepost.engine import memory_health as health
from milepost.engine.circumstances import language_among
from milepost.engine.consent import agree
from milepost.engine.forgetting import Roots, forget
from milepost.engine.memory_files import lines_of, read_again, write_lines
from milepost.engine.memory_home import MemoryHome
from milepost.engine.milepost_episodes import episodes_of, milepost_named, owners_in
from milepost.engine.outsiders import Outsiders
from milepost.engine.own_secrets import known_secrets
from milepost.engine.recollections import (
    LessonStory,
    MemoryFinding,
    MemoryStats,
    MemorySynced,
    Recollection,
    Unsynced,
)
from milepost.engine.sharing_memory import NOWHERE, is_of_the_repository, place_of, token_of
from milepost.engine.state import make_state
from milepost.memory.catalogue import Catalogue
from milepost.memory.export import export_lines
from milepost.memory.forgetting import Forgotten
from milepost.memory.forgotten_rows import ForgottenKind
from milepost.memory.heuristics import heuristics_from
from milepost.memory.intake import Imported, checked, take_in
from milepost.memory.learning import review_all
from milepost.memory.memory import StoredMemory
from milepost.memory.owners import owner_here
from milepost.memory.patterns import fitting, kept, merged
from milepost.memory.recall.recall import Recaller
from milepost.memory.recall.search import Found
from milepost.memory.recall.semantic import open_meaning
from milepost.memory.recall.words import USUAL, words_of
from milepost.memory.suspicion import doctor_findings, objection
from milepost.memory.sync import Synchroniser, open_primary, status_of
from milepost.store.database import Database, open_database

MODE_VARIABLE = "MILEPOST_MEMORY"
MOST_COUNTED = 5_000  # episodes whose patterns are counted together
MOST_ALIKE = 50  # episodes whose patterns fit a task
LONGEST_WHY = 500


def open_memory(folder: Path | str | None = None) -> ProjectMemory:
    """The memory of the project that a folder is in; as a context manager it is closed at the end.

    Where nothing was ever kept it is empty, and looking at it creates nothing.
    """
    if folder is not None and not Path(folder).is_dir():
        raise Misuse(f"there is no folder {str(folder)!r}", "make it, or name another")
    return ProjectMemory(MemoryHome.find(Path(folder or Path.cwd()).absolute()))


class ProjectMemory:
    """What a project remembers. Each call is on disk when it returns, and sees what a run wrote meanwhile."""

    def __init__(self, home: MemoryHome) -> None:
        self._home = home
        self._redact = Redactor(known_secrets(home.settings))
        self._open(home.place if home.is_there else NOWHERE)
        self.is_there = home.is_there

    def __enter__(self) -> ProjectMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._recaller.close()
        self._database.close()

    @property
    def project(self) -> str:
        """What the project is called in the memory."""
        return self._home.name

    # --- looking

    def recall(self, text: str, *, files: Sequence[str] = (), error: str = "", most: int = 3) -> Recollection:
        """What an attempt at this would be told; nobody is told it, so nothing is counted."""
        if self._home.memory.mode == "off":
            return Recollection(explanation=self._why_silent())
        query = Query(
            project=self.project,
            text=self._redact(text),
            files=tuple(files),
            errors=(self._redact(error),) if error.strip() else (),
        )
        found = self._recaller.recall(query)
        said = (*self._why_silent(), *found.explanation)
        return Recollection(lines=found.lines[:most], lessons=found.shown[:most], explanation=said)

    def search(self, text: str, *, most: int = 10) -> tuple[Found, ...]:
        """Episodes and lessons that fit a text, the best first; those of other projects come last."""
        return self._recaller.search(self._redact(text), self.project, most)

    def stats(self) -> MemoryStats:
        """The memory in figures, over all projects that are kept here; the lift is that of this project."""
        counts = self._catalogue.episode_counts()
        episodes, projects = Counter[str](), Counter[str]()
        for (project, kind), count in counts.items():
            episodes[kind] += count
            projects[project] += count
        standings = self._memory.lessons.standings()
        projects.update(dict.fromkeys(self._catalogue.projects(), 0))
        votes = {"helped": "helped", "harmed": "harmed", "none": "without_effect"}
        return MemoryStats(
            project=self.project,
            place=self._home.told,
            is_there=self.is_there,
            mode=self._home.memory.mode,
            episodes=dict(episodes),
            projects=dict(projects),
            steps=self._catalogue.count("memory_steps"),
            lessons=Counter(one.state for one in standings),
            votes={name: sum(getattr(one, field) for one in standings) for name, field in votes.items()},
            lift=self._catalogue.lift(self.project),
            holdout=self._home.memory.holdout,
            unsynced=self.unsynced(),
            size_bytes=self._home.size_bytes() if self.is_there else 0,
        )

    def episodes(self, *, most: int = 20, outcome: str | None = None, project: str = "") -> tuple[Episode, ...]:
        """The newest episodes, the newest first, without their steps; `outcome` is how they ended, or `open`."""
        self._require_project(project)
        known = (*get_args(EndKind), "open")
        if outcome is not None and outcome not in known:
            raise Misuse(f"no episode ends as {outcome!r}", f"one of {', '.join(known)}")
        return self._catalogue.episodes(project=project, outcome=outcome or "", most=most)

    def episode(self, named: str) -> Episode:
        """An episode with all its steps, by its id or the beginning of it."""
        found = self._memory.journal.episode(self._catalogue.episode_named(named))
        if found is None:
            raise EpisodeUnknown(f"episode {named!r} was forgotten just now", "milepost memory list --episodes")
        return found

    def lessons(
        self, *, state: LessonState | None = None, most: int = 50, project: str = ""
    ) -> tuple[LessonStanding, ...]:
        """The lessons as they stand, the newest first."""
        self._require_project(project)
        if state is not None and state not in get_args(LessonState):
            raise Misuse(f"no lesson is {state!r}", f"one of {', '.join(get_args(LessonState))}")
        standings = self._memory.lessons.standings(project=project)
        return tuple(one for one in reversed(standings) if state in (None, one.state))[:most]

    def lesson(self, named: str) -> LessonStory:
        """A lesson with all that is known of it, by its id or the beginning of it."""
        name = self._catalogue.lesson_named(named)
        standing = next((one for one in self._memory.lessons.standings() if one.lesson.id == name), None)
        if standing is None:
            raise LessonUnknown(f"lesson {named!r} was forgotten just now", "milepost memory list")
        return LessonStory(
            standing=standing,
            moves=self._catalogue.moves(name),
            told=self._catalogue.told(name),
            suspicion="; ".join(one.what for one in doctor_findings([standing])),
        )

    def named(self, name: str) -> LessonStory | Episode:
        """A lesson or an episode, by its id or the beginning of it."""
        kind, known = self._catalogue.named(name)
        return self.episode(known) if kind == "episode" else self.lesson(known)

    def patterns(self, *, most: int = 20) -> tuple[Pattern, ...]:
        """What comes again in verified episodes, with how often they passed; what counts most first."""
        return kept(self._all_patterns(), time.time(), most)

    def patterns_for(
        self, text: str, *, files: Sequence[str] = (), error: str = "", most: int = 20
    ) -> tuple[Pattern, ...]:
        """What worked in verified episodes about the same things or with the same error; what counts most first."""
        subject = " ".join(word for word in words_of(text, *files) if word not in USUAL)
        alike = list(self.search(subject, most=MOST_ALIKE)) if subject else []
        if error.strip():
            alike += [one for one in self.search(error, most=MOST_ALIKE) if one.why.startswith("the same error")]
        episodes = {one.id for one in alike if one.kind == "episode" and one.project == self.project}
        return kept(fitting(self._all_patterns(), episodes, language_among(files)), time.time(), most)

    def heuristics(self) -> tuple[Heuristic, ...]:
        """Where something holds, what has worked, the surest first."""
        return heuristics_from(self._all_patterns())

    # --- agents from outside

    def start(
        self,
        title: str,
        *,
        text: str = "",
        kind: TaskKind | None = None,
        agent: str = "",
        files: Sequence[str] = (),
        owner: str = "",
    ) -> str:
        """Begin an episode of an agent from outside; gives its id. Those that nobody will end are closed first.

        `owner` is who will end it, this process where nobody else is named.
        """
        outsiders = self._outsiders()
        outsiders.close_left()
        return outsiders.start(title=title, owner=owner or owner_here(), text=text, kind=kind, agent=agent, files=files)

    def close_interrupted(self) -> tuple[Episode, ...]:
        """End what nobody will end any more as interrupted; gives those episodes."""
        return self._outsiders().close_left()

    def log(
        self,
        episode: str,
        *,
        tool: str,
        action: str,
        parameters: Mapping[str, Any] | None = None,
        result: StepResult = "success",
        observation: str = "",
        latency_ms: int = 0,
        tokens: int = 0,
    ) -> int:
        """Add a step to an episode; gives its number."""
        step = EpisodeStep(
            tool=tool,
            action=action,
            parameters=dict(parameters or {}),
            result=result,
            observation=observation,
            latency_ms=latency_ms,
            tokens=tokens,
        )
        return self._outsiders().log(self._catalogue.episode_named(episode), step)

    def complete(self, episode: str, *, outcome: EndKind, reason: str = "") -> Assessment:
        """End an episode by its agent's word, which is never verified."""
        return self._outsiders().complete(self._catalogue.episode_named(episode), outcome=outcome, reason=reason)

    # --- correcting

    def quarantine(self, lesson: str, why: str) -> LessonStanding:
        """Have a lesson not shown any more, until it is activated again."""
        return self._moved(lesson, "quarantined", why)

    def activate(self, lesson: str, why: str) -> LessonStanding:
        """Have a lesson shown where it fits; none that we could not have worded ourselves, or that nothing supports."""
        found = self.lesson(lesson)
        if against := objection(found.lesson):
            raise Misuse(
                f"lesson {found.lesson.id} is shown to nobody: it {against}", "milepost memory forget takes it away"
            )
        if not found.standing.sources:
            raise Misuse(
                f"lesson {found.lesson.id} is shown to nobody: no episode here supports it",
                "it can be activated once a verified attempt has taught it, or by an import with --trust",
            )
        return self._moved(lesson, "active", why)

    def forget(self, named: str = "", *, source: str = "", why: str = "", dry_run: bool = False) -> Forgotten:
        """Take away a lesson or an episode, or all that came from a source, with all that grew from it.

        A `source` is a commit, an episode, a path or a run of this project; a milepost is all attempts at its task.
        What is gone does not come back by a sync or an import.
        """
        if named.strip() and source.strip():
            raise Misuse("an id and --from were given", "give one of the two")
        if not named.strip() and not source.strip():
            raise Misuse("say what to forget", "the id of a lesson or an episode, or where it came from")
        roots = (
            Roots(named=self._catalogue.named(named))
            if named.strip()
            else Roots(source=source.strip(), project=self.project, episodes=self._of_milepost(source.strip()))
        )
        return forget(self._memory, roots, self._redact(why.strip()) or "forgotten by hand", dry_run=dry_run)

    def outline(self, found: Forgotten) -> Mapping[str, str]:
        """The first line of each thing that goes, by its id, led by its project where that is another one."""
        things: list[tuple[ForgottenKind, str]] = [
            *(("episode", name) for name in found.episodes),
            *(("lesson", name) for name in found.lessons),
        ]
        lines = {name: self._catalogue.outline(kind, name) for kind, name in things}
        return {
            name: line if project in ("", self.project) else f"of {project}: {line}"
            for name, (project, line) in lines.items()
        }

    def vacuum(self) -> int:
        """Give back the room of what was forgotten; tells how many bytes that were."""
        if not self.is_there:
            return 0
        before = self._home.size_bytes()
        self._database.vacuum()
        return max(0, before - self._home.size_bytes())

    def rebuild(self) -> None:
        """Make the index that is searched again from what is kept."""
        self._recaller.rebuild()

    def doctor(self) -> tuple[MemoryFinding, ...]:
        """What is wrong with the memory, and what is worth a look; what is wrong first."""
        standings = self._memory.lessons.standings()
        found = (
            *health.suspects(standings),
            *health.contradicting(standings),
            *health.changed_rows(self._memory.rows),
            *health.index_health(self._home.index),
            *health.not_synced(self.unsynced(), time.time()),
            *(health.at_odds(self._database) if self._home.memory.primary else ()),
            *health.unended(self._memory.journal.open(), self.stats().episodes.get("interrupted", 0)),
            *health.imports(standings),
        )
        return tuple(sorted(found, key=lambda one: not one.wrong))

    # --- sharing

    def export(self, file: Path | str) -> int:
        """Write all that is kept as JSON lines; gives how many rows. The file is there whole, or as it was before."""
        return write_lines(Path(file), self.export_lines()) - 2

    def export_lines(self) -> Iterator[str]:
        """The lines of an export, as they are read."""
        return export_lines(self._memory.rows, self.project)

    def import_(self, file: Path | str | IO[bytes], *, trusted: bool = False) -> Imported:
        """Add what an export holds; nothing of it where any line is not as it should be.

        A file of somebody else is not believed: nothing in it counts as verified, its lessons begin as candidates.
        One that is `trusted`, such as a backup, is taken as it was. Suspicious lessons are quarantined in any case.
        """
        self._require_writing()
        with read_again(Path(file) if isinstance(file, str) else file) as stream:
            for _ in checked(lines_of(stream)):
                pass
            stream.seek(0)
            self._keep()
            imported = take_in(self._memory.rows, lines_of(stream), trusted=trusted, judge=objection)
        review_all(self._memory)
        return imported

    def unsynced(self) -> Unsynced:
        """What the primary was not told yet, by what is known here: nobody is asked."""
        primary = self._home.memory.primary
        if not primary:
            return Unsynced()
        found = status_of(self._database)
        return Unsynced(
            primary=self._redact(primary),
            waiting=found.waiting,
            oldest_at=found.oldest_at,
            diverged=found.diverged,
            refused=found.refused,
            last_error=self._redact(found.last_error),
        )

    def sync(self) -> MemorySynced:
        """Tell the primary what it was not told yet, and take over what others told it; runs do so from then on."""
        given = self._home.memory
        if not given.primary:
            raise Misuse(
                "this memory has no primary: there is nobody to share it with",
                "name one in [memory] primary of milepost.toml",
            )
        self._require_writing()
        folder = self._home.project.roadmap.parent
        place = place_of(given, folder)
        if is_of_the_repository(place, self._home.project.repository.top):
            raise Misuse(
                "the primary is a file of the repository itself: whoever wrote that could tell attempts anything",
                "name a file outside of it in [memory] primary of milepost.toml",
            )
        self._keep()
        agree(given, folder)
        with closing(Synchroniser(self._database, open_primary(place, token_of(given)))) as synchroniser:
            pushed = synchroniser.push()
            pulled = synchroniser.pull()
            review_all(self._memory)
            pushed += synchroniser.push()
        return MemorySynced(pushed=pushed, pulled=pulled, left=self.unsynced())

    # --- inside

    def _open(self, place: Path | str) -> None:
        home = self._home
        self._database: Database = open_database(place)
        self._memory = StoredMemory(
            self._database, shared=bool(home.memory.primary), redact=self._redact, project=home.name
        )
        self._catalogue = Catalogue(self._memory.rows)
        index = None if place == NOWHERE or not home.state.is_dir() else home.index
        meaning = open_meaning() if home.memory.semantic else None
        self._recaller = Recaller(self._memory, index=index, holdout=home.memory.holdout, meaning=meaning)

    def _keep(self) -> None:
        """Have something to write into, where there was nothing yet."""
        if not self.is_there:
            make_state(self._home.state)
            self.close()
            self._open(self._home.place)
            self.is_there = True

    def _outsiders(self) -> Outsiders:
        self._require_writing()
        self._keep()
        return Outsiders(memory=self._memory, project=self.project)

    def _require_writing(self, *, correcting: bool = False) -> None:
        """Where the memory is off nothing is written; where it is only read, people may still correct it."""
        mode = self._home.memory.mode
        if mode == "on" or (correcting and mode == "read-only"):
            return
        if os.environ.get(MODE_VARIABLE):
            raise Misuse(f"the memory is {mode}, by {MODE_VARIABLE} of the environment", f"unset {MODE_VARIABLE}")
        raise Misuse(
            f"the memory of this project is {mode}, by milepost.toml", 'set mode = "on" in [memory] of milepost.toml'
        )

    def _require_project(self, project: str) -> None:
        known = self._catalogue.projects() | {self.project}
        if project and project not in known:
            raise Misuse(f"nothing is remembered of a project {project!r}", f"one of {', '.join(sorted(known)[:5])}")

    def _of_milepost(self, commit: str) -> tuple[str, ...]:
        """The attempts at the task that a milepost ended; none where the commit is no milepost."""
        post = milepost_named(self._home.project, commit) if self.is_there else None
        return episodes_of(self._memory, post, self.project, owners_in(self._database)) if post else ()

    def _why_silent(self) -> tuple[str, ...]:
        if self._home.memory.mode == "off":
            by = f"{MODE_VARIABLE} of the environment" if os.environ.get(MODE_VARIABLE) else "[memory] mode"
            return (f"the memory is off, by {by}: attempts are told nothing",)
        return () if self.is_there else ("nothing was ever kept here",)

    def _all_patterns(self) -> tuple[Pattern, ...]:
        ended = self._memory.journal.ended(project=self.project, most=MOST_COUNTED)
        return merged(pattern for one in ended if one.assessment is not None for pattern in one.assessment.patterns)

    def _moved(self, lesson: str, state: LessonState, why: str) -> LessonStanding:
        self._require_writing(correcting=True)
        if not why.strip():
            raise Misuse("a lesson changes its state for a reason", "say why")
        name = self._catalogue.lesson_named(lesson)
        self._memory.lessons.move(name, state, why.strip()[:LONGEST_WHY], by_hand=True)
        return self.lesson(name).standing
