"""What a testimony adds up to: the tests and their outcomes, or why it is not believed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from milepost.core.verdict import TestCase, TestOutcome
from milepost.verify.checks.files import listed
from milepost.verify.suites.failure_kinds import kind_of
from milepost.verify.suites.suite import AuditNote
from milepost.verify.witness.stream import Testimony

LONGEST_MESSAGE = 300
LONGEST_TRACEBACK = 4_000
RAN_TO_THE_END = (0, 1, 5)  # passed, failed, found no test

_WORST_FIRST: tuple[TestOutcome, ...] = ("failed", "passed", "skipped")
_DISTURBED = "something else than the test runner wrote where only it may write"
_PLAIN_NAMES = frozenset({"Exception", "BaseException", "object"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """`problem` is why the cases cannot be trusted; `exit_code` is the runner's own, None when it had no end.

    `running` is the test that was being run when the witness fell silent.
    """

    cases: tuple[TestCase, ...] = ()
    problem: str = ""
    exit_code: int | None = None
    running: str = ""
    runner: str = ""
    notes: tuple[AuditNote, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Seen:
    """All that was said of one test."""

    reports: list[tuple[str, str, int, str, str]] = field(default_factory=list)
    raised: dict[str, tuple[str, str]] = field(default_factory=dict)
    has_ended: bool = False
    parameters: str = ""

    @property
    def outcomes(self) -> set[str]:
        return {outcome for _, outcome, *_ in self.reports}

    def over(self, passed_ms: str) -> None:
        self.has_ended = True
        if passed_ms:
            self.reports.append(("call", "passed", int(passed_ms), "", ""))

    def last(self, phase: str) -> str:
        return next((outcome for when, outcome, *_ in reversed(self.reports) if when == phase), "")


def account_of(testimony: Testimony, tokens: tuple[str, ...], redact: Callable[[str], str] = str) -> Account:
    """Judge a testimony; `tokens` are what the planted tests had to fail with."""
    reading = _Reading(testimony)
    exit_code = int(reading.end) if reading.end.isdigit() else None
    cases = tuple(reading.cases(redact))
    problem = (reading.crash or reading.disturbance) if exit_code is None else reading.doubt(tokens)
    return Account(
        cases=cases,
        problem=redact(problem),
        exit_code=exit_code,
        running="" if exit_code is not None else redact(reading.running),
        runner=reading.runner,
        notes=tuple(replace(note, what=redact(note.what), path=redact(note.path)) for note in reading.notes),
    )


class _Reading:
    """The facts of a testimony by what they are about."""

    def __init__(self, testimony: Testimony) -> None:
        self.disturbance = _DISTURBED if testimony.disturbed else ""
        self.runner = self.end = self.crash = self.odd = ""
        self.seen: dict[str, _Seen] = {}
        self.planted: dict[str, str] = {}
        self.deselected: dict[str, None] = {}
        self.collected: list[tuple[str, str, str, str]] = []
        self.unplanted = False
        self.notes: list[AuditNote] = []
        for name, *words in testimony.facts:
            if self.end:
                self.odd = "something was said after the end"
            self._take(name, words)

    def _take(self, name: str, words: list[str]) -> None:
        match name, words:
            case "hello", [runner]:
                self.runner = runner
            case "items", ids:
                self.seen.update((id_, _Seen()) for id_ in ids)
            case "called", pairs if len(pairs) % 2 == 0 and self.seen.keys() >= set(pairs[::2]):
                for id_, parameters in zip(pairs[::2], pairs[1::2], strict=True):
                    self.seen[id_].parameters = parameters
            case "planted", [id_, token]:
                self.planted[id_] = token
                self.seen[id_] = _Seen()
            case "unplanted", _:
                self.unplanted = True
            case "deselected", [id_]:
                self.deselected[id_] = None
            case "collect", [id_, outcome, message, long]:
                self.collected.append((id_, outcome, message, long))
            case "raised", [id_, phase, types, text] if id_ in self.seen:
                self.seen[id_].raised[phase] = (types, text)
            case "report", [id_, phase, outcome, duration, message, long] if id_ in self.seen:
                self.seen[id_].reports.append((phase, outcome, int(duration), message, long))
                self.seen[id_].has_ended |= phase == "teardown"
            case "over", [id_, duration] if id_ in self.seen:
                self.seen[id_].over(duration)
            case "note", [what, path, line]:
                self.notes.append(AuditNote(what=what, path=path, line=int(line)))
            case "crash", [kind, text]:
                self.crash = f"{kind}: {text}" if text else kind
            case "end", [code]:
                self.end = code
            case "raised" | "report" | "over", [id_, *_]:
                self.odd = f"{id_} was reported, but never collected"
            case _:
                self.odd = f"{name!r} is nothing that the witness says"

    @property
    def running(self) -> str:
        """The first test without an end; tests are run in the order in which they were told."""
        return next((id_ for id_, seen in self.seen.items() if not seen.has_ended and id_ not in self.planted), "")

    def doubt(self, tokens: tuple[str, ...]) -> str:
        """Why an account that has an end is not believed, empty when it is."""
        return (
            self.disturbance
            or self.odd
            or self._doubt_about_the_end()
            or self._doubt_about_planted(tokens)
            or self._contradiction()
        )

    def _doubt_about_the_end(self) -> str:
        ids = [id_ for id_ in self.seen if id_ not in self.planted]
        lost = tuple(id_ for id_ in ids if not self.seen[id_].has_ended and id_ not in self.deselected)
        if lost:
            return f"{len(lost)} of {len(ids)} collected tests were not run: {listed(lost)}"
        unclear = [id_ for id_ in ids if self.seen[id_].has_ended and not self.seen[id_].outcomes & set(_WORST_FIRST)]
        return f"{unclear[0]} came to no outcome" if unclear else ""

    def _doubt_about_planted(self, tokens: tuple[str, ...]) -> str:
        if not self.seen:
            return ""
        if self.unplanted:
            python = [id_ for id_ in self.seen if id_.partition("::")[0].endswith(".py")]
            return f"no test could be planted beside {python[0]}" if python else ""
        if set(self.planted.values()) != set(tokens):
            return "a planted test that must fail was not run"
        for id_, token in self.planted.items():
            seen = self.seen[id_]
            if not seen.reports:
                return "a planted test that must fail was not run"
            if seen.last("setup") in ("failed", "skipped"):
                continue  # what the project does before each test did not let it come to its assertion
            if "failed" not in seen.outcomes or token not in seen.raised.get("call", ("", ""))[1]:
                return "a planted test that must fail did not: assertions or reports are patched"
        return ""

    def _contradiction(self) -> str:
        for id_, seen in self.seen.items():
            for phase, (types, _) in seen.raised.items():
                if types and seen.last(phase) in ("passed", ""):
                    return f"{id_} raised {types.split(' ')[0]}, yet it is reported as passed"
        return ""

    def cases(self, redact: Callable[[str], str]) -> Iterator[TestCase]:
        for id_, outcome, message, long in self.collected:
            yield _collected_case(id_, outcome, message, long, redact)
        for id_, seen in self.seen.items():
            told = id_ not in self.planted and (seen.has_ended or id_ not in self.deselected)
            if told and (case := _case(id_, seen, redact)):
                yield replace(case, parameters=seen.parameters)
        for id_ in self.deselected:
            if id_ not in self.seen or not self.seen[id_].has_ended:
                yield TestCase(id=redact(id_), outcome="skipped", message="deselected")


def _case(id_: str, seen: _Seen, redact: Callable[[str], str]) -> TestCase | None:
    for outcome in _WORST_FIRST:
        reports = [report for report in seen.reports if report[1] == outcome]
        if outcome == "passed":
            reports = [report for report in reports if report[0] == "call"]
        if not reports:
            continue
        phase, _, _, message, long = reports[0]
        duration = sum(report[2] for report in seen.reports)
        if outcome != "failed":
            return TestCase(id=redact(id_), outcome=outcome, message=_line(redact(message)), duration_ms=duration)
        types = seen.raised.get(phase, ("", ""))[0]
        return TestCase(
            id=redact(id_),
            outcome="failed",
            message=_line(redact(message or seen.raised.get(phase, ("", ""))[1])),
            duration_ms=duration,
            kind=kind_of(_telling(types), message, long, False),
            traceback=_end(redact(long)),
        )
    return None


def _collected_case(id_: str, outcome: str, message: str, long: str, redact: Callable[[str], str]) -> TestCase:
    if outcome == "skipped":
        return TestCase(id=redact(id_), outcome="skipped", message=_line(redact(message)))
    said = redact(message or _error_in(long))
    return TestCase(
        id=redact(id_),
        outcome="failed",
        message=_line(said),
        kind=kind_of("", said, redact(long), True),
        traceback=_end(redact(long)),
    )


def _error_in(long: str) -> str:
    """The last line that pytest marks as the error, or the last one."""
    lines = [line for line in long.splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E  ")]
    return (marked or lines or [""])[-1].strip()


def _telling(types: str) -> str:
    """The first of an exception's types that says something by its name, its bases included."""
    names = [name for name in types.split(" ") if name and name not in _PLAIN_NAMES]
    known = next((name for name in names if kind_of(name, "", "", False) not in ("runtime", "unknown")), "")
    return known or (names[0] if names else "")


def _line(message: str) -> str:
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return line.removeprefix("AssertionError: ").removeprefix("Skipped: ")[:LONGEST_MESSAGE]


def _end(text: str) -> str:
    return text if len(text) <= LONGEST_TRACEBACK else f"…{text[-LONGEST_TRACEBACK:]}"
