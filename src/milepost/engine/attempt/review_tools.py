"""What a reviewer is given: its calls are paid for by the task's budget and made once, like those of an attempt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from milepost.core.ports import Tools
from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.engine.records import worker_lease
from milepost.engine.records.call_log import AttemptKey
from milepost.engine.records.call_recorder import CallHooks, CallRecorder, Veto, resumable
from milepost.engine.services import RunTables

FIRST_CALL = 1_000_000  # of a reviewer in the spending of an attempt, behind those of its agent
KEPT = "reviewed"  # stands for a workspace that is thrown away


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewTools:
    """Gives a reviewer its tools for one tree."""

    books: RunTables
    run: str
    name: str
    redact: Redactor
    tools: Callable[[str, Callable[[str], None]], Tools]
    veto: Callable[[str], Veto]

    def __call__(self, task: Task, attempt: int, tree: str) -> Tools:
        key = AttemptKey(run=self.run, task=f"{task.id}/review/{tree}", attempt=attempt)
        watch = CallHooks(
            purse=self.books.wallet.purse(task, attempt, self.name, first=FIRST_CALL),
            veto=self.veto(f"{self.run}/{task.id}/review"),
            keep=lambda: KEPT,
            tell=lambda _, __: None,
            begin=worker_lease.require,
            require=worker_lease.require,
            redact=self.redact,
        )
        known = resumable(self.books.calls, key)
        book = CallRecorder(self.books.calls, key, known, KEPT, watch)
        return replace(self.tools(self.name, lambda _: None), logbook=book)
