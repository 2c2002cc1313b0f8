"""The trees that a candidate is tried on: as it is, and with what judges it as it was at the base."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from milepost.core.attempt import Workspace
from milepost.verify.command_runner import Bench
from milepost.verify.judging.split import Split
from milepost.verify.watched import Watched, judging_code


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


def watched(trees: Trees, product: tuple[str, ...]) -> Trees:
    """The same trees, where a run of tests notes what these files of the product do."""
    bench = _watched(trees.bench, product)
    return replace(trees, bench=bench, as_it_is=_watched(trees.as_it_is, product) if trees.differ else bench)


def _watched(tree: Tree, product: tuple[str, ...]) -> Tree:
    tests = tuple(path for path in judging_code(tree.workspace.folder) if path not in product)
    return replace(tree, bench=replace(tree.bench, watched=Watched(tests=tests, changed=product)))
