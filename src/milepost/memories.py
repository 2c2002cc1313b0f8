"""The values that `milepost.open_memory` returns, and their JSON.

For example:

    import milepost
    from milepost import memories

    with milepost.open_memory(".") as memory:
        print([memories.to_json(story.lesson) for story in memory.lessons()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.memories import to_json as to_json
    from milepost.core.memories import Assessment as Assessment
    from milepost.core.memories import Episode as Episode
    from milepost.core.memories import EpisodeEnd as EpisodeEnd
    from milepost.core.memories import EpisodeStart as EpisodeStart
    from milepost.core.memories import EpisodeStep as EpisodeStep
    from milepost.core.memories import Heuristic as Heuristic
    from milepost.core.memories import Lesson as Lesson
    from milepost.core.memories import LessonStanding as LessonStanding
    from milepost.core.memories import Pattern as Pattern
    from milepost.engine.memory.values import LessonStory as LessonStory
    from milepost.engine.memory.values import MemoryFinding as MemoryFinding
    from milepost.engine.memory.values import MemoryStats as MemoryStats
    from milepost.engine.memory.values import MemorySynced as MemorySynced
    from milepost.engine.memory.values import Recollection as Recollection
    from milepost.engine.memory.values import Unsynced as Unsynced
    from milepost.memory.lessons.lift import Lift as Lift
    from milepost.memory.recall.search import Found as Found
    from milepost.memory.store.queries import Move as Move
    from milepost.memory.store.queries import Told as Told
    from milepost.memory.transfer.forget import Forgotten as Forgotten
    from milepost.memory.transfer.import_rows import Imported as Imported
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
