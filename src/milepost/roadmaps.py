"""The roadmap file: find it, explain how it is read, edit a task, write a new one.

For example:

    from milepost import roadmaps

    shown = roadmaps.task_text("1.3")
    roadmaps.edit_task("1.3", shown.text.replace("slow", "fast"), digest=shown.digest)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.roadmaps import edit_task as edit_task
    from milepost.api.roadmaps import explain as explain
    from milepost.api.roadmaps import find as find
    from milepost.api.roadmaps import new as new
    from milepost.api.roadmaps import normalise as normalise
    from milepost.api.roadmaps import renamed_tasks as renamed_tasks
    from milepost.api.roadmaps import sample as sample
    from milepost.api.roadmaps import sync as sync
    from milepost.api.roadmaps import task_text as task_text
    from milepost.api.roadmaps import templates as templates
    from milepost.engine.authoring.compose import Composed as Composed
    from milepost.engine.authoring.edit_task import TaskText as TaskText
    from milepost.engine.authoring.from_prose import Normalised as Normalised
    from milepost.engine.authoring.mismatches import Mismatch as Mismatch
    from milepost.engine.authoring.sync_boxes import Synced as Synced
    from milepost.engine.planning.renamed_tasks import Renamed as Renamed
    from milepost.roadmap.reading.explain import Explanation as Explanation
    from milepost.roadmap.writing.templates import Template as Template
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
