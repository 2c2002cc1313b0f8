"""The memory of a project as people and other programs use it: looked at, told, corrected, shared."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from milepost.core.errors import Misuse
from milepost.core.memories import (
    Assessment,
    EndKind,
    Episode,
    EpisodeStep,
    Heuristic,
    LessonStanding,
    LessonState,
    Pattern,
    StepResult,
    TaskKind,
)
from milepost.engine.memory import browse as contents
from milepost.engine.memory.browse import activated, all_patterns, fitting_patterns, moved
from milepost.engine.memory.doctor import findings
from milepost.engine.memory.export_files import taken_in, write_lines
from milepost.engine.memory.external_agents import Outsiders
from milepost.engine.memory.forget import Roots, forget, outline_of, roots_of
from milepost.engine.memory.location import MemoryHome
from milepost.engine.memory.memory_handle import OpenedMemory
from milepost.engine.memory.sync import synced, unsynced
from milepost.engine.memory.values import (
    LessonStory,
    MemoryFinding,
    MemoryStats,
    MemorySynced,
    Recollection,
    Unsynced,
)
from milepost.engine.project.memory_mode import require_writing
from milepost.memory.assessment.heuristics import heuristics_from
from milepost.memory.assessment.patterns import kept
from milepost.memory.recall.search import Found
from milepost.memory.store.owners import owner_here
from milepost.memory.transfer.export import export_lines
from milepost.memory.transfer.forget import Forgotten
from milepost.memory.transfer.import_rows import Imported


def open_memory(folder: Path | str | None = None) -> ProjectMemory:
    """The memory of the project that a folder is in; as a context manager it is closed at the end.

    Where nothing was ever kept it is empty, and looking at it creates nothing.
    """
    if folder is not None and not Path(folder).is_dir():
        raise Misuse(f"there is no folder {str(folder)!r}", "create it, or name another folder")
    return ProjectMemory(MemoryHome.find(Path(folder or Path.cwd()).absolute()))


class ProjectMemory:
    """What a project remembers. Each call is on disk when it returns, and sees what a run wrote meanwhile."""

    def __init__(self, home: MemoryHome) -> None:
        self._opened = OpenedMemory(home)

    def __enter__(self) -> ProjectMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._opened.close()

    @property
    def is_there(self) -> bool:
        """Whether anything was ever kept."""
        return self._opened.is_there

    @property
    def project(self) -> str:
        """What the project is called in the memory."""
        return self._opened.project

    # --- looking

    def recall(self, text: str, *, files: Sequence[str] = (), error: str = "", most: int = 3) -> Recollection:
        """What an attempt at this would be told; nobody is told it, so nothing is counted."""
        return contents.recalled(self._opened, text, files, error, most)

    def search(self, text: str, *, most: int = 10) -> tuple[Found, ...]:
        """Episodes and lessons that fit a text, the best first; those of other projects come last."""
        return contents.searched(self._opened, text, most)

    def stats(self) -> MemoryStats:
        """The memory in figures, over all projects that are kept here; the lift is that of this project."""
        return contents.counted(self._opened)

    def episodes(self, *, most: int = 20, outcome: str | None = None, project: str = "") -> tuple[Episode, ...]:
        """The newest episodes, the newest first, without their steps; `outcome` is how they ended, or `open`."""
        return contents.newest_episodes(self._opened, most, outcome, project)

    def episode(self, named: str) -> Episode:
        """An episode with all its steps, by its id or the beginning of it."""
        return contents.whole_episode(self._opened, named)

    def lessons(
        self, *, state: LessonState | None = None, most: int = 50, project: str = ""
    ) -> tuple[LessonStanding, ...]:
        """The lessons as they stand, the newest first."""
        return contents.newest_lessons(self._opened, most, state, project)

    def lesson(self, named: str) -> LessonStory:
        """A lesson with all that is known of it, by its id or the beginning of it."""
        return contents.lesson_story(self._opened, named)

    def named(self, name: str) -> LessonStory | Episode:
        """A lesson or an episode, by its id or the beginning of it."""
        kind, known = self._opened.catalogue.named(name)
        return self.episode(known) if kind == "episode" else self.lesson(known)

    def patterns(self, *, most: int = 20) -> tuple[Pattern, ...]:
        """What comes again in verified episodes, with how often they passed; what counts most first."""
        return kept(all_patterns(self._opened), time.time(), most)

    def patterns_for(
        self, text: str, *, files: Sequence[str] = (), error: str = "", most: int = 20
    ) -> tuple[Pattern, ...]:
        """What worked in verified episodes about the same things or with the same error; what counts most first."""
        return kept(fitting_patterns(self._opened, text, files, error), time.time(), most)

    def heuristics(self) -> tuple[Heuristic, ...]:
        """Where something holds, what has worked, the surest first."""
        return heuristics_from(all_patterns(self._opened))

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
        return self._outsiders().log(self._opened.catalogue.episode_named(episode), step)

    def complete(self, episode: str, *, outcome: EndKind, reason: str = "") -> Assessment:
        """End an episode by its agent's word, which is never verified."""
        outsiders = self._outsiders()
        return outsiders.complete(self._opened.catalogue.episode_named(episode), outcome=outcome, reason=reason)

    # --- correcting

    def quarantine(self, lesson: str, why: str) -> LessonStanding:
        """Have a lesson not shown any more, until it is activated again."""
        return moved(self._opened, lesson, "quarantined", why)

    def activate(self, lesson: str, why: str) -> LessonStanding:
        """Have a lesson shown where it fits; none that we could not have worded ourselves, or that nothing supports."""
        return activated(self._opened, lesson, why)

    def forget(self, named: str = "", *, source: str = "", why: str = "", dry_run: bool = False) -> Forgotten:
        """Take away a lesson or an episode, or all that came from a source, with all that grew from it.

        A `source` is a commit, an episode, a path or a run of this project; a milepost is all attempts at its task.
        What is gone does not come back by a sync or an import.
        """
        roots = roots_of(self._opened, named, source)
        said = self._opened.redact(why.strip()) or "forgotten by hand"
        return forget(self._opened.stored, roots, said, dry_run=dry_run)

    def clear(self, *, why: str = "", dry_run: bool = False) -> Forgotten:
        """Take away all that is remembered of this project; of other projects in this memory nothing.

        What is gone does not come back by a sync or an import.
        """
        said = self._opened.redact(why.strip()) or "cleared by hand"
        return forget(self._opened.stored, Roots(project=self.project, everything=True), said, dry_run=dry_run)

    def outline(self, found: Forgotten) -> Mapping[str, str]:
        """The first line of each thing that goes, by its id, led by its project where that is another one."""
        return outline_of(self._opened, found)

    def vacuum(self) -> int:
        """Give back the room of what was forgotten; tells how many bytes that were."""
        return self._opened.vacuum()

    def rebuild(self) -> None:
        """Make the index that is searched again from what is kept."""
        self._opened.recaller.rebuild()

    def doctor(self) -> tuple[MemoryFinding, ...]:
        """What is wrong with the memory, and what is worth a look; what is wrong first."""
        return findings(self._opened)

    # --- sharing

    def export(self, file: Path | str) -> int:
        """Write all that is kept as JSON lines; gives how many rows. The file is there whole, or as it was before."""
        return write_lines(Path(file), self.export_lines()) - 2

    def export_lines(self) -> Iterator[str]:
        """The lines of an export, as they are read."""
        return export_lines(self._opened.stored.rows, self.project)

    def import_(self, file: Path | str | IO[bytes], *, trusted: bool = False) -> Imported:
        """Add what an export holds; nothing of it where any line is not as it should be.

        A file of somebody else is not believed: nothing in it counts as verified, its lessons begin as candidates.
        One that is `trusted`, such as a backup, is taken as it was. Suspicious lessons are quarantined in any case.
        """
        return taken_in(self._opened, Path(file) if isinstance(file, str) else file, trusted=trusted)

    def unsynced(self) -> Unsynced:
        """What the primary was not told yet, by what is known here: nobody is asked."""
        return unsynced(self._opened)

    def sync(self) -> MemorySynced:
        """Tell the primary what it was not told yet, and take over what others told it; runs do so from then on."""
        return synced(self._opened)

    def _outsiders(self) -> Outsiders:
        require_writing(self._opened.home.memory.mode)
        self._opened.keep()
        return Outsiders(memory=self._opened.stored, project=self.project)
