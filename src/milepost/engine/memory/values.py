"""What is told of a memory when somebody looks at it, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from milepost.core.memories import Lesson, LessonStanding, LessonState
from milepost.memory.lessons.lift import Lift
from milepost.memory.store.queries import Move, Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The lines that an attempt at this would be told, the lessons they come from, and why it is these or none."""

    lines: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    explanation: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsynced:
    """What the primary was not told yet; `primary` is empty where there is none.

    `diverged` rows are otherwise here than there, and stay so; `refused` ones were not let in.
    """

    primary: str = ""
    waiting: int = 0
    oldest_at: float | None = None
    diverged: int = 0
    refused: int = 0
    last_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySynced:
    """What came of a sync: the rows that the primary was told, those taken over from it, and what is left."""

    pushed: int
    pulled: int
    left: Unsynced


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """A memory in figures. `episodes` are by how they ended, `open` those that did not; `lessons` by state."""

    project: str
    place: str
    is_there: bool
    mode: str
    episodes: Mapping[str, int] = field(default_factory=dict)
    projects: Mapping[str, int] = field(default_factory=dict)
    steps: int = 0
    lessons: Mapping[LessonState, int] = field(default_factory=dict)
    votes: Mapping[str, int] = field(default_factory=dict)
    lift: Lift = field(default_factory=Lift)
    holdout: float = 0.0
    unsynced: Unsynced = field(default_factory=Unsynced)
    size_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonStory:
    """A lesson with all that is known of it: its way here, the attempts it fitted, and what it changed for them."""

    standing: LessonStanding
    moves: tuple[Move, ...] = ()
    told: tuple[Told, ...] = ()
    suspicion: str = ""

    @property
    def lesson(self) -> Lesson:
        return self.standing.lesson

    @property
    def state(self) -> LessonState:
        return self.standing.state

    @property
    def why(self) -> str:
        return self.standing.why

    @property
    def sources(self) -> tuple[str, ...]:
        return self.standing.sources

    @property
    def shown(self) -> tuple[int, int]:
        return self.standing.shown

    @property
    def held_out(self) -> tuple[int, int]:
        return self.standing.held_out

    @property
    def lift(self) -> Lift:
        return Lift(shown=self.shown, held_out=self.held_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFinding:
    """Something about a memory that is worth a look; what is `wrong` is to be mended, the rest is only told."""

    kind: str
    what: str
    subject: str = ""
    source: str = ""
    advice: str = ""
    wrong: bool = True
