"""Mileposts of earlier runs that the user has not taken into their branch yet."""

from __future__ import annotations

from dataclasses import dataclass

from milepost.engine.records.journal import RunRecord
from milepost.workspace.mileposts import Mileposts, run_branch
from milepost.workspace.repository import Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """A run whose branch is ahead of the user's commit."""

    run: str
    tip: str
    unfinished: bool

    @property
    def branch(self) -> str:
        return run_branch(self.run).removeprefix("refs/heads/")


def run_ahead(records: tuple[RunRecord, ...], mileposts: Mileposts, user: Position) -> Ahead | None:
    """The newest run from the user's branch whose own branch is ahead of it.

    One that was taken in once is not ahead any more: a user who went back behind it meant to.
    """
    for record in records:
        taken_in = record.summary is not None and record.summary.fast_forwarded
        from_here = record.order["user"]["branch"] == user.branch
        tip = mileposts.resolve(run_branch(record.run)) if from_here and not taken_in else None
        if tip is not None and tip != user.commit and mileposts.is_ancestor(user.commit, tip):
            return Ahead(run=record.run, tip=tip, unfinished=record.unfinished)
    return None
