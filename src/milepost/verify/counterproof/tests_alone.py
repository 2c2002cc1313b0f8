"""Tests that were written for a product which did not change: what they run of it, and if they look at its code."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from milepost.verify.counterproof.languages import language_of, sabotage
from milepost.verify.counterproof.lines_run import lines_of, noting
from milepost.verify.counterproof.trial import Trial, passed_in
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.watched import Watched, judging_code
from milepost.verify.witness.guest.watch import RUNS
from milepost.verify.witness.swap import read_plainly

_NOTHING = {"Python": "().__class__", "JavaScript": "Object"}  # a call of these does nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsAlone:
    """`lines` of the product that they run, by file, with the `sources` of these.

    `by_code` are the tests that fail when the product does the same and is only written differently.
    """

    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    sources: Mapping[str, bytes] = field(default_factory=dict)
    by_code: tuple[str, ...] = ()


def tests_alone(trial: Trial, ids: tuple[str, ...], product: tuple[str, ...]) -> TestsAlone:
    """Run tests that pass on the product once more, where each of its statements says that it is run.

    What fails then is run where functions only begin with a call that does nothing: a fault may come of being slow.
    """
    folder = trial.workspace.folder
    languages = {language_of(id_.partition("::")[0]) for id_ in ids}
    read = {path: read_plainly(folder, path) for path in product if language_of(path) in languages}
    sources = {path: source for path, source in read.items() if source is not None}
    name = f"_{secrets.token_hex(5)}"
    tests = tuple(path for path in judging_code(folder) if path not in product)
    watched = Watched(tests=tests, changed=tuple(sources), seen=name)
    wired = {path: new for path, source in sources.items() if (new := noting(path, source, name)) is not None}
    watching = replace(trial, bench=replace(trial.bench, watched=watched))
    first = watching.run(wired, ids) if wired else ()
    begun: dict[str, set[int]] = defaultdict(set)
    for note in (note for run in first for note in run.notes if note.what == RUNS and note.path in sources):
        begun[note.path].add(note.line)
    lines = {path: lines_of(path, sources[path], frozenset(numbers)) for path, numbers in begun.items()}
    by_code = tuple(sorted(frozenset(ids) - passed_in(first, ids))) if wired else ()
    changed = {
        path: new
        for path, source in sources.items()
        if (new := sabotage(path, source, _NOTHING[language_of(path)])) is not None
    }
    for _ in range(2 if changed else 0):
        by_code = _failing(trial.run(changed, by_code), by_code) if by_code else ()
    return TestsAlone(lines=lines, sources={path: sources[path] for path in lines}, by_code=by_code)


def _failing(found: tuple[SuiteRun, ...], ids: tuple[str, ...]) -> tuple[str, ...]:
    """Those that did not pass; none where a run could not be made, as nothing is known then."""
    if not found or any(run.problem or run.missing for run in found):
        return ()
    passed = passed_in(found, ids)
    return tuple(id_ for id_ in ids if id_ not in passed)
