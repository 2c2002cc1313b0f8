"""The tests that testers wrote for the tasks of a run: in its database, where no workspace can look.

A ref would not hide them: every workspace can read all objects of the repository, whether a ref names them or not.
"""

from __future__ import annotations

from dataclasses import dataclass

from milepost.engine.records.journal import Journal
from milepost.engine.records.values_json import dump, load
from milepost.verify.checks.independent import IndependentTests


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTests:
    """Keeps what testers wrote in one run until it ends."""

    journal: Journal
    run: str

    def keep(self, task: str, tests: IndependentTests) -> None:
        """Keep the tests of a task; the first ones stay."""
        self.journal.keep_answer(self._place, self._question(task), dump(tests))

    def of(self, task: str) -> IndependentTests | None:
        """The tests of a task, None where nobody was asked for any."""
        kept = self.journal.answer(self._place, self._question(task)) if self.run else None
        return load(IndependentTests, kept) if kept is not None else None

    def forget(self) -> None:
        """Forget all of them."""
        self.journal.forget_answers(self._place)

    @property
    def _place(self) -> str:
        return f"tester/{self.run}"

    def _question(self, task: str) -> str:
        return f"{self.run}: tests of {task}"
