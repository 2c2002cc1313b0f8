"""How the project's tests stood at a base: what is asked once for each tree."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from milepost.core.verdict import Evidence, TestOutcome
from milepost.engine.journal import Journal
from milepost.verify.bench import Bench
from milepost.verify.tests import NAME, TestsCheck, outcomes, ran_to_the_end
from milepost.workspace.checkout import Checkouts


class Baselines:
    """Knows, or finds out, the outcomes of the tests at a tree.

    Only a run of the tests that came to its end is kept. Without one the baseline is unknown (None): it is not asked
    for again in this process, and again in the next.
    """

    def __init__(self, journal: Journal, checkouts: Checkouts, bench: Bench) -> None:
        self._journal = journal
        self._checkouts = checkouts
        self._bench = bench
        self._lock = threading.Lock()
        self._unknown: set[str] = set()

    def at(self, commit: str, tree: str) -> Mapping[str, TestOutcome] | None:
        """The outcomes at a commit with this tree."""
        with self._lock:
            known = self._journal.outcomes(tree)
            if known is not None or tree in self._unknown:
                return known
            return self._find_out(commit, tree)

    def learn(self, evidence: Evidence) -> None:
        """A tree that was verified may be the base of the next: its tests need not be run again."""
        for check in evidence.checks:
            if check.name == NAME and ran_to_the_end(check):
                self._journal.keep_outcomes(evidence.tree, outcomes(check))

    def _find_out(self, commit: str, tree: str) -> Mapping[str, TestOutcome] | None:
        name = f"baseline-{tree[:12]}"
        found = TestsCheck(bench=self._bench).run(self._checkouts.make(name, commit))
        self._checkouts.drop(name)
        if not ran_to_the_end(found):
            self._unknown.add(tree)
            return None
        self._journal.keep_outcomes(tree, outcomes(found))
        return outcomes(found)
