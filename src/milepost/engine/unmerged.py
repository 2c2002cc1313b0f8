"""Mileposts of earlier runs that the user has not taken into their branch yet."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.engine.journal import RunRecord
from milepost.workspace.mileposts import Mileposts, run_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """A run whose branch is ahead of the user's commit."""

    run: str
    tip: str
    unfinished: bool

    @property
    def branch(self) -> str:
        return run_branch(self.run).removeprefix("refs/heads/")


def run_ahead(records: tuple[RunRecord, ...], mileposts: Mileposts, head: str) -> Ahead | None:
    """The newest run whose branch is ahead of `head`.

    One that was taken in once is not ahead any more: a user who went back behind it meant to.
    """
    for record in records:
        taken_in = record.summary is not None and record.summary.fast_forwarded
        tip = None if taken_in else mileposts.resolve(run_branch(record.run))
        if tip is not None and tip != head and mileposts.is_ancestor(head, tip):
            return Ahead(run=record.run, tip=tip, unfinished=record.unfinished)
    return None
