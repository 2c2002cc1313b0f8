"""The attempts at a task: their results, checks and changes.

For example:

    from milepost import attempts

    newest = attempts.details("1.1")
    print(newest.attempt.verdict, [file.path for file in attempts.changed_files("1.1").files])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.attempts import changed_files as changed_files
    from milepost.api.attempts import details as details
    from milepost.api.attempts import diff as diff
    from milepost.api.attempts import last_agent as last_agent
    from milepost.api.attempts import logs as logs
    from milepost.api.attempts import of_task as of_task
    from milepost.core.attempt import Attempt as Attempt
    from milepost.engine.report.changed_files import FileChange as FileChange
    from milepost.engine.report.changed_files import FilesChanged as FilesChanged
    from milepost.engine.report.facts import AttemptStory as AttemptStory
    from milepost.engine.report.facts import CheckStory as CheckStory
    from milepost.engine.report.facts import TaskAttempt as TaskAttempt
    from milepost.engine.views.attempts import Difference as Difference
    from milepost.engine.views.attempts import Tried as Tried
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
