"""The trees that a candidate is tried on: as it is, and with what judges it as it was at the base."""

from __future__ import annotations

from dataclasses import dataclass, field

from milepost.core.attempt import Workspace
from milepost.verify.command_runner import Bench
from milepost.verify.judging.split import Split


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A checkout, and the bench to run its commands on."""

    workspace: Workspace
    bench: Bench


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The candidate `as_it_is`, and on the `bench`: with every file that judges as it was at the base.

    Both are the same tree where the change touches no such file.
    """

    as_it_is: Tree
    bench: Tree
    split: Split = field(default_factory=Split)

    @property
    def differ(self) -> bool:
        return self.bench is not self.as_it_is
