"""The events of a run: read them, follow them, match on them. The most common ones are in `milepost` itself.

For example:

    from milepost import events

    for entry in events.read("ROADMAP.md", follow=True):
        print(events.to_json(entry.event))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.events import entry_to_json as entry_to_json
    from milepost.api.events import open_stream as open_stream
    from milepost.api.events import read as read
    from milepost.api.events import to_json as to_json
    from milepost.core.events import AgentChosen as AgentChosen
    from milepost.core.events import AgentSaid as AgentSaid
    from milepost.core.events import AttemptFinished as AttemptFinished
    from milepost.core.events import BudgetReached as BudgetReached
    from milepost.core.events import CommandFinished as CommandFinished
    from milepost.core.events import CommandPrinted as CommandPrinted
    from milepost.core.events import CommandStarted as CommandStarted
    from milepost.core.events import EventsTakenBack as EventsTakenBack
    from milepost.core.events import ForecastMade as ForecastMade
    from milepost.core.events import GateAnswered as GateAnswered
    from milepost.core.events import LessonsTold as LessonsTold
    from milepost.core.events import MemoryWaits as MemoryWaits
    from milepost.core.events import ModelCalled as ModelCalled
    from milepost.core.events import RunResumed as RunResumed
    from milepost.core.events import RunStopping as RunStopping
    from milepost.core.events import ServiceWaits as ServiceWaits
    from milepost.core.events import StageStarted as StageStarted
    from milepost.core.events import Steered as Steered
    from milepost.core.events import TaskSummary as TaskSummary
    from milepost.core.events import ToolUsed as ToolUsed
    from milepost.core.events import WorkerChanged as WorkerChanged
    from milepost.core.under_way import UnderWay as UnderWay
    from milepost.core.under_way import listening as listening
    from milepost.engine.events.live_stream import EventStream as EventStream
    from milepost.engine.events.live_stream import Opening as Opening
    from milepost.engine.events.live_stream import Row as Row
    from milepost.engine.events.live_stream import RunGlance as RunGlance
    from milepost.engine.records.journal import Entry as Entry
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
