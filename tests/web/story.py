"""A run that was never made, with all that can happen in one: what was tried at each task, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from milepost.core.verdict import CheckResult, TestCase

Stand = Literal["passed", "failed", "unverified", "working", "asking", "waiting"]

ROADMAP: Final = """\
# Durations

A small library that reads and writes durations.

## Phase 1: Read

- [ ] 1.1 Parse minutes and hours
  - Files: `durations/parse.py`, `tests/test_parse.py`
  - Verify: `python -m pytest tests/test_parse.py`
- [ ] 1.2 Refuse what is no duration
  - Depends on: 1.1
  - Files: `durations/parse.py`

## Phase 2: Write

- [ ] 2.1 Print a duration in words
  - Files: `durations/words.py`, `tests/test_words.py`
- [ ] 2.2 Describe the formats
  - Files: `README.md`
- [ ] 2.3 Round to whole minutes
  - Depends on: 1.1

## Phase 3: Publish

- [ ] 3.1 Colour what is printed
  - Files: `pyproject.toml`
- [ ] 3.2 Show a table in colour
  - Depends on: 3.1
"""

PARSE: Final = '''\
"""Reads durations."""

UNITS = {"s": 1, "m": 60, "h": 3600}


def parse(text: str) -> int:
    """The seconds of a duration such as 90m or 2h."""
    return int(text[:-1]) * UNITS[text[-1]]
'''
REFUSING: Final = PARSE.replace(
    "    return int",
    '    if not text[:-1].isdigit() or text[-1] not in UNITS:\n        raise ValueError(f"{text!r} is no duration")\n'
    "    return int",
)
TEST_PARSE: Final = """\
from durations.parse import parse


def test_hours():
    assert parse("2h") == 7200
"""
WORDS: Final = '''\
def words(seconds: int) -> str:
    """A duration as people say it."""
    return f"{seconds // 3600} hours"
'''
TEST_WORDS: Final = """\
from durations.words import words


def test_an_hour_and_a_half():
    assert words(5400) == "1 hour 30 minutes"
"""
START: Final = {
    "README.md": "# Durations\n\nReads and writes durations.\n",
    "ROADMAP.md": ROADMAP,
    "durations/__init__.py": "",
    "tests/test_words.py": TEST_WORDS,
}
PYTEST: Final = "python -m pytest -q"
ASKED: Final = "pip install colours"
GREEN: Final = (
    "\x1b[32m.\x1b[0m\x1b[32m                                     [100%]\x1b[0m",
    "\x1b[32m1 passed\x1b[0m in 0.01s",
)
RED: Final = (
    "\x1b[31mF\x1b[0m                                                        [100%]",
    "    def test_an_hour_and_a_half():",
    '>       assert words(5400) == "1 hour 30 minutes"',
    "\x1b[1m\x1b[31mE       AssertionError: assert '1 hours' == '1 hour 30 minutes'\x1b[0m",
    "\x1b[31m1 failed\x1b[0m in 0.02s",
)
# What a hostile program prints: markup, escapes that reach for the reader's terminal, signs that hide or turn text.
HOSTILE: Final = (
    "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>",
    "\x1b]0;taken\x07\x1b]52;c;dGFrZW4=\x07\x1b]8;;http://evil.example\x07click\x1b]8;;\x07\x1b[2J\x1b[H",
    "safe\u202egnp.exe \u2066hidden\u2069 zero\u200bwidth nul\x00 bell\x07 back\b\b\b\x7f\x9b31m",
    "x" * 5000,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command and what it printed; `errors` are the places of lines that came on stderr. None: it has not ended."""

    argv: str
    lines: tuple[str, ...] = ()
    errors: tuple[int, ...] = ()
    exit_code: int | None = 0
    by: Literal["agent", "milepost"] = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One attempt: what its agent said and ran, the files that it wrote, and what was found out about them."""

    agent: str = "claude"
    said: tuple[str, ...] = ()
    ran: tuple[Ran, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[CheckResult, ...] = ()
    cost_usd: float = 0.04
    seconds: float = 41.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A task and all attempts at it; the last of one that is in work, or that asks, is not over."""

    id: str
    title: str
    stand: Stand
    tries: tuple[Tried, ...] = ()
    asks: str = ASKED  # to run this


def tests_check(passed: bool, test: str, before: Literal["passed", "failed", "absent"] | None = None) -> CheckResult:
    """What came of a project's tests."""
    case = TestCase(
        id=test,
        outcome="passed" if passed else "failed",
        message="" if passed else "AssertionError: assert '1 hours' == '1 hour 30 minutes'",
        duration_ms=12,
        before="failed",
        kind=None if passed else "assertion",
    )
    return CheckResult(
        name="tests",
        outcome="passed" if passed else "failed",
        summary="1 test passed" if passed else f"1 test failed: {test}",
        decisive=True,
        argv=("python", "-m", "pytest", "-q"),
        exit_code=0 if passed else 1,
        cases=(case,),
        log="\n".join(GREEN if passed else RED),
        duration_ms=830,
        enforced=("files", "network", "processes"),
        before=before,
    )


def check(name: str, outcome: Literal["passed", "failed", "absent"], summary: str) -> CheckResult:
    """What came of another check."""
    return CheckResult(name=name, outcome=outcome, summary=summary, duration_ms=40, before="passed")


SYNTAX: Final = check("syntax", "passed", "all files can be read")
WEAKENED: Final = check("changed tests", "failed", "tests/test_words.py was weakened: an assertion is gone")
PARSED: Final = Tried(
    said=("I read the roadmap.", "I will write the parser and a test for it.", "Done: the test passes."),
    ran=(Ran(argv="ls -la", lines=("total 8", "README.md", "ROADMAP.md")), Ran(argv=PYTEST, lines=GREEN)),
    files={"durations/parse.py": PARSE, "tests/test_parse.py": TEST_PARSE},
    checks=(SYNTAX, tests_check(True, "tests/test_parse.py::test_hours", "failed")),
)
STORY: Final = (
    Told(id="1.1", title="Parse minutes and hours", stand="passed", tries=(PARSED,)),
    Told(
        id="1.2",
        title="Refuse what is no duration",
        stand="passed",
        tries=(
            Tried(
                said=("I raise an error for what is no duration.",),
                ran=(Ran(argv=PYTEST, lines=RED, errors=(3,), exit_code=1, by="milepost"),),
                files={"durations/parse.py": PARSE.replace("int(", "float(")},
                checks=(SYNTAX, tests_check(False, "tests/test_parse.py::test_hours", "passed")),
            ),
            Tried(
                agent="codex",
                said=("The parser must stay as it was, I only add a guard.",),
                ran=(Ran(argv=PYTEST, lines=GREEN, by="milepost"),),
                files={"durations/parse.py": REFUSING},
                checks=(SYNTAX, tests_check(True, "tests/test_parse.py::test_hours", "passed")),
                cost_usd=0.06,
            ),
        ),
    ),
    Told(
        id="2.1",
        title="Print a duration in words",
        stand="failed",
        tries=(
            Tried(
                said=("I print hours.", "All tests pass now."),
                ran=(Ran(argv=PYTEST, lines=RED, exit_code=1), Ran(argv=PYTEST, lines=RED, exit_code=1, by="milepost")),
                files={"durations/words.py": WORDS},
                checks=(SYNTAX, tests_check(False, "tests/test_words.py::test_an_hour_and_a_half", "failed")),
            ),
            Tried(
                said=("The test is too strict, I make it simpler.", "All tests pass now."),
                ran=(Ran(argv=PYTEST, lines=GREEN), Ran(argv=PYTEST, lines=GREEN, by="milepost")),
                files={
                    "durations/words.py": WORDS,
                    "tests/test_words.py": TEST_WORDS.replace('== "1 hour 30 minutes"', ""),
                },
                checks=(SYNTAX, tests_check(True, "tests/test_words.py::test_an_hour_and_a_half", "failed"), WEAKENED),
                cost_usd=0.05,
            ),
        ),
    ),
    Told(
        id="2.2",
        title="Describe the formats",
        stand="unverified",
        tries=(
            Tried(
                said=("I describe the formats in the README.",),
                files={"README.md": START["README.md"] + "\nFormats: `90m`, `2h`.\n"},
                checks=(SYNTAX, check("tests", "absent", "no test is about this")),
                cost_usd=0.02,
            ),
        ),
    ),
    Told(
        id="2.3",
        title="Round to whole minutes",
        stand="working",
        tries=(
            Tried(
                said=("I look at how durations are parsed.",),
                ran=(
                    Ran(argv="cat durations/parse.py", lines=tuple(PARSE.splitlines())),
                    Ran(argv=PYTEST, exit_code=None),
                ),
            ),
        ),
    ),
    Told(
        id="3.1",
        title="Colour what is printed",
        stand="asking",
        tries=(
            Tried(
                said=("I need a package for colours.",), ran=(Ran(argv="git log --oneline", lines=("a1b2c3d Start",)),)
            ),
        ),
    ),
    Told(id="3.2", title="Show a table in colour", stand="waiting"),
)
