"""How things stood at the base of an attempt: what the checks compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from milepost.core.ports import Check
from milepost.core.verdict import CheckOutcome, TestOutcome
from milepost.verify.command_runner import Bench
from milepost.verify.selection.at_base import LineAtBase
from milepost.verify.suites.suite import AuditNote


class Before(Protocol):
    """Answers questions about the base; None, or nothing, where the answer is unknown."""

    def tests(self) -> Mapping[str, TestOutcome] | None:
        """The outcome of each of the project's tests."""
        ...

    def parameters(self) -> Mapping[str, str]:
        """A digest of what each of the tests is called with, where it is parametrised and that can be told."""
        ...

    def notes(self) -> tuple[AuditNote, ...] | None:
        """What files of the product were seen to do there while the tests ran; None where nobody watched."""
        ...

    def tests_with(self, files: Mapping[str, bytes | None]) -> Mapping[str, TestOutcome] | None:
        """The outcome of the tests of these files, put on the source there; None in the place of one that is gone."""
        ...

    def line_with(self, line: str, files: Mapping[str, bytes | None]) -> Mapping[str, TestOutcome] | None:
        """The outcome of the tests that a `Verify:` line runs with these files put on the source there.

        Where no test was seen it is that of the line itself, by its own name."""
        ...

    def flaky(self, ids: tuple[str, ...]) -> frozenset[str]:
        """Those of these tests that both fail and pass there."""
        ...

    def command(self, line: str) -> LineAtBase | None:
        """How a `Verify:` line stood there: what it came to, which tests it selects, which files it opened."""
        ...

    def answer_of(self, question: str, make: Callable[[Bench], Check]) -> CheckOutcome | None:
        """How a check that is made for a bench there ended; `question` names it, with all that it depends on."""
        ...

    def broken_imports(self, modules: tuple[str, ...]) -> frozenset[str]:
        """Those of these modules that could not be imported there."""
        ...

    def broken_builds(self, names: tuple[str, ...]) -> frozenset[str]:
        """Those of these builds and programs that did not work there."""
        ...

    def environment(self) -> tuple[str, str] | None:
        """The hash over what the project needed there, and why something of it could not be got."""
        ...

    def type_errors(self) -> frozenset[str] | None:
        """What the type checker had to say there."""
        ...


class UnknownBefore:
    """There is no base to ask."""

    def tests(self) -> Mapping[str, TestOutcome] | None:
        return None

    def parameters(self) -> Mapping[str, str]:
        return {}

    def notes(self) -> tuple[AuditNote, ...] | None:
        return None

    def tests_with(self, files: Mapping[str, bytes | None]) -> Mapping[str, TestOutcome] | None:
        return None

    def line_with(self, line: str, files: Mapping[str, bytes | None]) -> Mapping[str, TestOutcome] | None:
        return None

    def flaky(self, ids: tuple[str, ...]) -> frozenset[str]:
        return frozenset()

    def command(self, line: str) -> LineAtBase | None:
        return None

    def answer_of(self, question: str, make: Callable[[Bench], Check]) -> CheckOutcome | None:
        return None

    def broken_imports(self, modules: tuple[str, ...]) -> frozenset[str]:
        return frozenset()

    def broken_builds(self, names: tuple[str, ...]) -> frozenset[str]:
        return frozenset()

    def environment(self) -> tuple[str, str] | None:
        return None

    def type_errors(self) -> frozenset[str] | None:
        return None
