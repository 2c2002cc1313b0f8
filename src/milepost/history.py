"""What was done: restore files, mark commits, remove what old runs left. `milepost.undo` undoes mileposts.

For example:

    from milepost import history

    history.mark("before-the-rewrite")
    history.restore(["src/app.py"], source="before-the-rewrite")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.history import clean as clean
    from milepost.api.history import mark as mark
    from milepost.api.history import marks as marks
    from milepost.api.history import restore as restore
    from milepost.api.history import unmark as unmark
    from milepost.engine.records.retention import Remains as Remains
    from milepost.engine.undo.restore_files import Restored as Restored
    from milepost.engine.undo.revert_commits import TakenBack as TakenBack
    from milepost.engine.undo.undo import Undone as Undone
    from milepost.engine.views.marks import Mark as Mark
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
