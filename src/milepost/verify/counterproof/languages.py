"""What can be altered in which language: the work in files of the product, the expectations in files of tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from milepost.verify.counterproof import (
    expectations_javascript,
    expectations_python,
    sabotage_javascript,
    sabotage_python,
)
from milepost.verify.counterproof.python_tests import names_in
from milepost.verify.judging.paths import JAVASCRIPT, PYTHON, suffix
from milepost.verify.suites.detect import JAVASCRIPT as JAVASCRIPT_RUNNERS
from milepost.verify.suites.detect import PYTHON as PYTHON_RUNNERS
from milepost.verify.suites.suite import Runner


@dataclass(frozen=True, slots=True, kw_only=True)
class AlteredTests:
    """A test file with other expectations, and the ids of the tests that must fail in it."""

    source: bytes
    ids: frozenset[str]


def language_of(path: str) -> str:
    """`Python` or `JavaScript`, which is TypeScript as well; empty for what is neither."""
    return "Python" if suffix(path) in PYTHON else "JavaScript" if suffix(path) in JAVASCRIPT else ""


def runs(runner: Runner, language: str) -> bool:
    """Whether a runner runs tests of this language, seen by id."""
    return runner in (PYTHON_RUNNERS if language == "Python" else JAVASCRIPT_RUNNERS)


def sabotage(path: str, source: bytes, trip: str) -> bytes | None:
    """A file of the product with its work taken out; None where there is nothing that could be."""
    if language_of(path) == "Python":
        return sabotage_python.sabotaged(source, trip)
    return sabotage_javascript.sabotaged(path, source, trip) if language_of(path) == "JavaScript" else None


def alter(
    path: str,
    source: bytes,
    ids: Iterable[str],
    other: str,
    seed: str,
    *,
    last: bool = False,
    product: tuple[str, ...] = (),
) -> AlteredTests | None:
    """A test file with other expectations in the tests of these ids; None where none could be replaced.

    With the files of the `product`: other values in the objects of its classes that the tests build to compare with.
    """
    if language_of(path) == "Python":
        by_names: dict[tuple[str, ...], list[str]] = {}
        for id_ in ids:
            by_names.setdefault(names_in(id_), []).append(id_)
        found = expectations_python.altered(source, frozenset(by_names), other, seed, last=last, product=product)
        if found is None:
            return None
        return AlteredTests(source=found.source, ids=frozenset(id_ for names in found.tests for id_ in by_names[names]))
    if language_of(path) == "JavaScript":
        by_title = {id_.partition("::")[2]: id_ for id_ in ids}
        told = expectations_javascript.altered(
            path, source, frozenset(by_title), other, seed, last=last, built=bool(product)
        )
        if told is None:
            return None
        return AlteredTests(source=told.source, ids=frozenset(by_title[title] for title in told.tests))
    return None


def may_expect_any_failure(path: str, source: bytes, ids: Iterable[str]) -> frozenset[str]:
    """Those of the tests that are content with any exception, and so with that of the sabotage."""
    if language_of(path) != "JavaScript":
        return frozenset()
    by_title = {id_.partition("::")[2]: id_ for id_ in ids}
    titles = expectations_javascript.expecting_failures(path, source, frozenset(by_title))
    return frozenset(by_title[title] for title in titles)
