from __future__ import annotations

from typing import Any

import pytest

from milepost.core.attempt import Attempt, Outcome, OutcomeStatus
from milepost.core.failures import FailureClass as F
from milepost.core.task import Task
from milepost.core.verdict import CheckResult, FailureKind, TestCase, TestOutcome, judge
from milepost.repair.diagnosis.classify import SEVERITIES, classify
from milepost.repair.diagnosis.clues import error_line, missing_module

FILES = CheckResult(name="files", outcome="passed", summary="1 file changed: a.py")


def attempt(*checks: CheckResult, status: OutcomeStatus = "finished", said: str = "") -> Attempt:
    return Attempt(
        number=1,
        agent="command:x",
        base="0" * 40,
        commit="1" * 40,
        outcome=Outcome(status=status, said=said),
        evidence=judge("2" * 40, (FILES, *checks)),
        duration_ms=1,
    )


def failed(name: str, summary: str, *cases: TestCase, **more: Any) -> CheckResult:
    return CheckResult(name=name, outcome="failed", summary=summary, cases=cases, **more)


def case(
    message: str = "",
    *,
    kind: FailureKind | None = None,
    traceback: str = "",
    before: TestOutcome | None = None,
    flaky: bool = False,
    name: str = "t.py::t",
) -> TestCase:
    return TestCase(
        id=name, outcome="failed", message=message, kind=kind, traceback=traceback, before=before, flaky=flaky
    )


def gave_up(said: str) -> Attempt:
    told = failed("agent", f"the agent gave up: {said.splitlines()[-1] if said else 'it did not say why'}")
    return attempt(told, status="gave_up", said=said)


CIRCULAR = (
    "E   ImportError: cannot import name 'a' from partially initialized module 'pkg.a' "
    "(most likely due to a circular import) (/x/pkg/a.py)"
)

NODE_STACK = """\
node:internal/modules/cjs/loader:1143
  throw err;

Error: Cannot find module './b'
Require stack:
- /w/a.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15)

Node.js v20.1.0
"""

# What was seen, the class, and what it is about.
CASES: list[tuple[str, Attempt | CheckResult | TestCase, F, str]] = [
    # an agent that stopped by itself
    ("no key", gave_up("exit 1\nAPI Error: 401 Invalid API key"), F.API_ERROR, "401"),
    ("key by words", gave_up("exit 1\nError: Incorrect API key provided: sk-x."), F.API_ERROR, "401"),
    ("not signed in", gave_up("exit 1\nNot logged in · Please run /login"), F.API_ERROR, "401"),
    ("forbidden", gave_up("exit 1\nHTTP/1.1 403 Forbidden"), F.API_ERROR, "403"),
    ("no credit", gave_up("exit 1\nYour credit balance is too low to access the API"), F.API_ERROR, "402"),
    ("quota", gave_up('exit 1\n{"error": {"code": "insufficient_quota"}}'), F.API_ERROR, "402"),
    ("limited", gave_up("exit 1\nstatus code: 429, try again in 20s"), F.API_ERROR, "429"),
    ("limited by words", gave_up("exit 1\nrate_limit_error: too fast"), F.API_ERROR, "429"),
    ("limited, told as such", attempt(failed("agent", "limited"), status="limited"), F.API_ERROR, "429"),
    ("overloaded", gave_up('exit 1\n{"type":"overloaded_error"}'), F.API_ERROR, "529"),
    ("server", gave_up("exit 1\n500 Internal Server Error"), F.API_ERROR, "500"),
    ("gateway", gave_up("exit 1\nunexpected status 502 Bad Gateway"), F.API_ERROR, "502"),
    ("no network", gave_up("exit 1\nrequest failed: connect ECONNREFUSED 10.0.0.1:443"), F.API_ERROR, "network"),
    ("no such model", gave_up("exit 1\nThe model `gpt-99` does not exist"), F.API_ERROR, "404"),
    ("talked of limits long ago", gave_up("HTTP 429\n" + "working\n" * 20 + "I stop"), F.UNKNOWN, ""),
    ("a count is no status", gave_up("exit 1\nran 429 tests, 401 passed"), F.UNKNOWN, ""),
    ("prompt too long", gave_up("exit 1\nprompt is too long: 210000 tokens > 200000"), F.CONTEXT_OVERWHELMING, ""),
    ("context length", gave_up("HTTP 400: context_length_exceeded"), F.CONTEXT_OVERWHELMING, ""),
    ("needs to know more", gave_up("I need more information about the format"), F.CONTEXT_MISSING, ""),
    ("unspecified", gave_up("The roadmap does not say which endpoint"), F.CONTEXT_MISSING, ""),
    ("stale patch", gave_up("error: patch does not apply\nexit 1"), F.CONTEXT_STALE, ""),
    ("stale edit", gave_up("String was not found in src/a.py"), F.CONTEXT_STALE, ""),
    ("no program", gave_up("not found: claude"), F.TOOL_FAILURE, "claude"),
    ("killed", gave_up("was ended by SIGSEGV\n"), F.TOOL_FAILURE, ""),
    ("the agent broke", gave_up("KeyError: 'choices'"), F.TOOL_FAILURE, ""),
    ("too many steps", gave_up("stopped after 100 steps without an end"), F.INCOMPLETE_IMPLEMENTATION, ""),
    (
        "lost file",
        gave_up("FileNotFoundError: [Errno 2] No such file or directory: 'spec.md'"),
        F.FILE_NOT_FOUND,
        "spec.md",
    ),
    ("no reason", gave_up("exit 1"), F.UNKNOWN, ""),
    ("said nothing", gave_up(""), F.UNKNOWN, ""),
    ("out of time", attempt(failed("agent", "the agent ran out of time"), status="timed_out"), F.TIMEOUT, ""),
    ("out of time, unchecked", attempt(status="timed_out", said="timed out after 5 s"), F.TIMEOUT, ""),
    ("a repository inside", failed("agent", "x is a git repository of its own"), F.WRONG_APPROACH, ""),
    # checks with one meaning
    (
        "conflict",
        failed("merge", "other tasks changed the same lines of a.py, b.py meanwhile: …"),
        F.FILE_CONFLICT,
        "a.py",
    ),
    ("nothing changed", failed("files", "the attempt changed nothing"), F.INCOMPLETE_IMPLEMENTATION, ""),
    ("file missing", failed("files", "not there afterwards: src/a.py, b.py"), F.FILE_NOT_FOUND, "src/a.py"),
    ("changed tests", failed("changed tests", "a test that failed at the base was changed"), F.WRONG_APPROACH, ""),
    ("counter-proof", failed("counter-proof", "1 test passed as a twin that must fail"), F.WRONG_APPROACH, ""),
    (
        "names",
        failed("names", "json.py hides a module of the standard library"),
        F.WRONG_APPROACH,
        "",
    ),
    ("environment", failed("environment", "could not install the project's dependencies: x"), F.IMPORT_ERROR, ""),
    ("secrets", failed("secrets", "a key in .env"), F.WRONG_APPROACH, ""),
    ("scope", failed("scope", "b.py is not a file of the task"), F.SCOPE_CREEP, ""),
    ("stubs", failed("stubs", "a.py:3: NotImplementedError"), F.INCOMPLETE_IMPLEMENTATION, ""),
    ("types", failed("types", "a.py: arg-type"), F.TYPE_ERROR, ""),
    ("lint", failed("lint", "a.py: F401"), F.INCOMPLETE_IMPLEMENTATION, ""),
    ("coverage", failed("coverage", "40 % of 10 changed lines"), F.INCOMPLETE_IMPLEMENTATION, ""),
    ("syntax", failed("syntax", "src/a.py:3: invalid syntax"), F.SYNTAX_ERROR, "src/a.py"),
    ("imports", failed("imports", "a: No module named 'yaml'"), F.IMPORT_ERROR, "yaml"),
    ("circular", failed("imports", "a → b → a", log=CIRCULAR), F.IMPORT_ERROR, ""),
    ("a person", failed("review", "a person looked at it: the price stays"), F.INCOMPLETE_IMPLEMENTATION, ""),
    ("opinion", failed("opinion", "claude objects: half of it is missing"), F.INCOMPLETE_IMPLEMENTATION, ""),
    ("stale patch of a fix", failed("patch", "a.py:3: patch does not apply"), F.CONTEXT_STALE, "a.py"),
    # test cases
    ("assertion", case("assert 1 == 2", kind="assertion"), F.TEST_FAILURE, "t.py::t"),
    ("assertion, untold", case("5400 != 90"), F.TEST_FAILURE, "t.py::t"),
    ("assertion on a message", case("assert \"No module named 'q'\" in out"), F.TEST_FAILURE, "t.py::t"),
    ("regression", case("1 != 2", kind="assertion", before="passed"), F.REGRESSION, "t.py::t"),
    ("regression by type", case("TypeError: f()", before="passed"), F.REGRESSION, "t.py::t"),
    ("import breaks an old test", case("No module named 'cv2'", kind="import", before="passed"), F.IMPORT_ERROR, "cv2"),
    (
        "collection",
        case("bad", kind="collection", traceback="E   ModuleNotFoundError: No module named 'a.b'"),
        F.IMPORT_ERROR,
        "a.b",
    ),
    (
        "collection, syntax",
        case(
            "bad", kind="collection", traceback='  File "/w/src/a.py", line 3\n    x = (\nSyntaxError: invalid syntax'
        ),
        F.SYNTAX_ERROR,
        "/w/src/a.py",
    ),
    ("no such name to import", case("ImportError: cannot import name 'p' from 'd'"), F.IMPORT_ERROR, ""),
    ("type", case("TypeError: f() missing 1 argument", kind="type"), F.TYPE_ERROR, "t.py::t"),
    ("attribute", case("AttributeError: no 'g'", kind="attribute"), F.INCOMPLETE_IMPLEMENTATION, "t.py::t"),
    ("name", case("NameError: name 'g' is not defined", kind="runtime"), F.INCOMPLETE_IMPLEMENTATION, "t.py::t"),
    ("not implemented", case("NotImplementedError", kind="runtime"), F.INCOMPLETE_IMPLEMENTATION, "t.py::t"),
    ("value", case("ValueError: bad", kind="value"), F.TEST_FAILURE, "t.py::t"),
    ("timeout", case("Failed: Timeout >5.0s"), F.TIMEOUT, "t.py::t"),
    ("the word timeout", case("TypeError: timeout must be a number"), F.TYPE_ERROR, "t.py::t"),
    (
        "data file",
        case("FileNotFoundError: [Errno 2] No such file or directory: 'a/b.json'", kind="runtime"),
        F.FILE_NOT_FOUND,
        "a/b.json",
    ),
    ("port", case("OSError: [Errno 98] Address already in use", kind="runtime"), F.TOOL_FAILURE, ""),
    ("port of node", case("Error: listen EADDRINUSE: address already in use :::3000"), F.TOOL_FAILURE, ""),
    (
        "node module",
        failed(
            "tests (web)", "x", case("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /w/a.js")
        ),
        F.IMPORT_ERROR,
        "zod",
    ),
    (
        "node export",
        case("SyntaxError: The requested module './a.js' does not provide an export named 'b'"),
        F.IMPORT_ERROR,
        "",
    ),
    ("bad JSON", case("SyntaxError: Unexpected token } in JSON at position 5"), F.TEST_FAILURE, "t.py::t"),
    (
        "old failures are not the cause",
        failed(
            "tests",
            "x",
            case("No module named 'old'", kind="import", before="failed", name="o"),
            case("1 != 2", name="n"),
        ),
        F.TEST_FAILURE,
        "n",
    ),
    (
        "a flaky one is not the cause",
        failed("tests", "x", case("1 != 2", before="passed", flaky=True, name="f"), case("3 != 4", name="n")),
        F.TEST_FAILURE,
        "n",
    ),
    # tests and commands that end without a case
    (
        "tests gone",
        failed("tests", "2 tests that were there before are gone or skipped: a, b", exit_code=0),
        F.WRONG_APPROACH,
        "",
    ),
    (
        "exit 0 by itself",
        failed("tests", "the tests did not run to their end: exit 0", exit_code=0),
        F.WRONG_APPROACH,
        "",
    ),
    ("patched runner", failed("tests", "a planted test that must fail did not", exit_code=1), F.WRONG_APPROACH, ""),
    ("tests time out", failed("tests", "the tests did not run to their end: timed out after 900 s"), F.TIMEOUT, ""),
    ("tests crash", failed("tests", "the tests did not run to their end: was ended by SIGSEGV"), F.TOOL_FAILURE, ""),
    ("verify times out", failed("verify", "`make check` timed out after 900 s"), F.TIMEOUT, ""),
    (
        "verify speaks of time",
        failed("verify", "`make` exit 1: it timed out after 5 s", exit_code=1),
        F.TEST_FAILURE,
        "",
    ),
    ("verify not found", failed("verify", "`makke check` not found: makke"), F.TOOL_FAILURE, "makke"),
    (
        "verify 127",
        failed("verify", "`sh -c dur` exit 127: not found: sh: 1: dur: not found", exit_code=127),
        F.TOOL_FAILURE,
        "dur",
    ),
    ("verify speaks of a lack", failed("verify", "`./t.sh` exit 1: user: not found", exit_code=1), F.TEST_FAILURE, ""),
    (
        "conftest breaks",
        failed("tests", "exit 1, though no test failed: NameError: x", exit_code=1, log="NameError: x"),
        F.INCOMPLETE_IMPLEMENTATION,
        "",
    ),
    (
        "outcome forged",
        failed("tests", "t.py::a raised KeyError, yet it is reported as passed", exit_code=1),
        F.WRONG_APPROACH,
        "",
    ),
    ("own script missing", failed("verify", "`./run.sh` not found: ./run.sh"), F.FILE_NOT_FOUND, "./run.sh"),
    ("verify 126", failed("verify", "`./run.sh` exit 126: Permission denied", exit_code=126), F.TOOL_FAILURE, ""),
    ("verify fails", failed("verify", "`make check` exit 2: differs", exit_code=2), F.TEST_FAILURE, ""),
    ("verify passed before", failed("verify", "`make check` exit 2", exit_code=2, before="passed"), F.REGRESSION, ""),
    (
        "verify without pytest",
        failed(
            "verify",
            "`python3 -m pytest` exit 1: /usr/bin/python3: No module named pytest",
            exit_code=1,
            log="/usr/bin/python3: No module named pytest",
        ),
        F.IMPORT_ERROR,
        "pytest",
    ),
    (
        "verify without file",
        failed(
            "verify",
            "`python3 cli.py` exit 2",
            exit_code=2,
            log="python3: can't open file '/w/cli.py': [Errno 2] No such file or directory",
        ),
        F.FILE_NOT_FOUND,
        "/w/cli.py",
    ),
    (
        "nothing collected",
        failed("verify", "`pytest t` exit 5: no tests were collected", exit_code=5),
        F.INCOMPLETE_IMPLEMENTATION,
        "",
    ),
    (
        "traceback in a log",
        failed(
            "verify",
            "`python3 a.py` exit 1",
            exit_code=1,
            log="Traceback\n  File \"a.py\", line 1\nModuleNotFoundError: No module named 'yaml'",
        ),
        F.IMPORT_ERROR,
        "yaml",
    ),
    (
        "stack of node",
        failed(
            "verify",
            "`node a.js` exit 1",
            exit_code=1,
            log=NODE_STACK,
        ),
        F.IMPORT_ERROR,
        "./b",
    ),
    # builds
    (
        "rust import",
        failed(
            "runtime",
            "exit 101",
            exit_code=101,
            log="error[E0432]: unresolved import `serde_json`\n --> src/a.rs:1:5\nerror: could not compile `x`",
        ),
        F.IMPORT_ERROR,
        "serde_json",
    ),
    (
        "rust type",
        failed("runtime", "exit 101", exit_code=101, log="error[E0308]: mismatched types\n --> src/a.rs:1:5"),
        F.TYPE_ERROR,
        "",
    ),
    (
        "go module",
        failed(
            "runtime",
            "exit 1",
            exit_code=1,
            log="a.go:4:2: no required module provides package github.com/x/y; to add it:",
        ),
        F.IMPORT_ERROR,
        "github.com/x/y",
    ),
    (
        "go name",
        failed("runtime", "exit 1", exit_code=1, log="./a.go:4:2: undefined: parse"),
        F.INCOMPLETE_IMPLEMENTATION,
        "",
    ),
    (
        "tsc module",
        failed(
            "runtime",
            "exit 2",
            exit_code=2,
            log="src/a.ts(1,1): error TS2307: Cannot find module 'zod' or its corresponding type declarations.",
        ),
        F.IMPORT_ERROR,
        "zod",
    ),
    (
        "tsc type",
        failed("runtime", "exit 2", exit_code=2, log="src/a.ts(1,1): error TS2322: Type 'x' is not assignable"),
        F.TYPE_ERROR,
        "",
    ),
    (
        "tsc syntax",
        failed("runtime", "exit 2", exit_code=2, log="src/a.ts(1,1): error TS1005: ';' expected."),
        F.SYNTAX_ERROR,
        "src/a.ts",
    ),
    (
        "header",
        failed("runtime", "exit 1", exit_code=1, log="a.c:1:10: fatal error: dur.h: No such file or directory"),
        F.FILE_NOT_FOUND,
        "dur.h",
    ),
    (
        "link",
        failed("runtime", "exit 1", exit_code=1, log="a.c: error: undefined reference to `dur'"),
        F.INCOMPLETE_IMPLEMENTATION,
        "",
    ),
    # several at once: the cause
    (
        "tampering comes before tests",
        attempt(
            failed("tests", "x", case("1 != 2", before="passed")), failed("changed tests", "a red test was removed")
        ),
        F.WRONG_APPROACH,
        "",
    ),
    (
        "syntax comes before tests",
        attempt(failed("syntax", "a.py:1: bad"), failed("tests", "x", case("1 != 2", before="passed"))),
        F.SYNTAX_ERROR,
        "a.py",
    ),
    (
        "tests come before types",
        attempt(failed("types", "a.py: bad"), failed("tests", "x", case("1 != 2"))),
        F.TEST_FAILURE,
        "t.py::t",
    ),
    (
        "import comes before assertions",
        failed("tests", "x", case("1 != 2"), case("No module named 'q'", kind="import", name="u")),
        F.IMPORT_ERROR,
        "q",
    ),
    (
        "a missing program comes before tests",
        attempt(failed("verify", "`x` not found: x"), failed("tests", "x", case("1 != 2"))),
        F.TOOL_FAILURE,
        "x",
    ),
    ("nothing could say", attempt(), F.UNKNOWN, ""),
]


@pytest.mark.parametrize(("seen", "kind", "subject"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_a_failure_is_classed_by_what_was_seen(seen: Attempt | CheckResult | TestCase, kind: F, subject: str) -> None:
    failure = classify(seen if isinstance(seen, Attempt) else attempt(_check(seen)))

    assert failure is not None
    assert (failure.kind, failure.subject) == (kind, subject)


def _check(seen: CheckResult | TestCase) -> CheckResult:
    return seen if isinstance(seen, CheckResult) else failed("tests", "x", seen)


def test_a_passed_attempt_has_no_failure() -> None:
    assert classify(attempt(CheckResult(name="verify", outcome="passed", summary="ok", decisive=True))) is None


def test_named_files_tell_part_of_a_change_from_a_change_elsewhere() -> None:
    task = Task(id="1", title="t", status="open", line=1, files=("src/a.py", "docs/"))
    seen = attempt(failed("files", "not there afterwards: src/a.py"))

    def kind(*changed: str) -> F:
        failure = classify(seen, task=task, changed=changed)
        assert failure is not None
        return failure.kind

    assert kind("docs/x.md") is F.PARTIAL_CHANGE
    assert kind("other.py") is F.WRONG_FILE
    assert kind() is F.FILE_NOT_FOUND


def test_the_same_error_in_another_test_is_another_subject_with_the_same_signature() -> None:
    one = classify(attempt(failed("tests", "a", case("KeyError: 'x'", name="t.py::a"))))
    other = classify(attempt(failed("tests", "b", case("KeyError: 'y'", name="t.py::b"))))

    assert one is not None and other is not None
    assert one.signature == other.signature
    assert one.subject != other.subject


def test_severity_follows_the_class_but_refused_keys_and_leaked_ones_are_critical() -> None:
    def severity(seen: Attempt) -> str:
        failure = classify(seen)
        assert failure is not None
        return failure.severity

    assert severity(gave_up("HTTP 401")) == severity(attempt(failed("secrets", "a key"))) == "critical"
    assert severity(gave_up("HTTP 503")) == "medium"
    assert severity(attempt(failed("lint", "F401"))) == "low"
    assert set(SEVERITIES) == set(F)


def test_every_class_is_reached_by_some_evidence() -> None:
    assert {row[2] for row in CASES} | {F.PARTIAL_CHANGE, F.WRONG_FILE} == set(F)


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("No module named 'x.y'; 'x' is not a package", "x.y"),
        ('Failed to resolve import "@/lib/x" from "src/a.ts"', "@/lib/x"),
        ("error[E0433]: failed to resolve: use of unresolved module or unlinked crate `rand`", "rand"),
        ("error: no matching package named `serd` found", "serd"),
        ('a.go:3:1: cannot find package "x/y" in any of', "x/y"),
        ("package foo/bar is not in std", "foo/bar"),
        ("A.java:1: error: package org.x does not exist", "org.x"),
        ("try: No module named 'fast'\nagain: No module named 'slow'", "slow"),
        ("cannot import name 'a' from 'b'", ""),
        ("all is well", ""),
    ],
)
def test_the_missing_module_is_named_as_the_error_names_it(text: str, module: str) -> None:
    assert missing_module(text) == module


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "Traceback\n  x\nValueError: first\n\nDuring handling\nE       KeyError: 'last'\n\na.py:3: KeyError",
            "KeyError: 'last'",
        ),
        (
            "E     | ExceptionGroup: x (1 sub-exception)\nE     +-+---- 1 ----\nE       | ValueError: a\nE       +----",
            "ValueError: a",
        ),
        ("error[E0432]: unresolved import `x`\nerror: could not compile `y`", "error[E0432]: unresolved import `x`"),
        ("a.c:3:1: error: expected ';'\na.c:9:1: error: more", "a.c:3:1: error: expected ';'"),
        ("make: *** [all] Error 2\nthe last words\n\n", "the last words"),
        ("", ""),
    ],
)
def test_the_telling_line_is_the_last_exception_or_the_first_error_of_a_compiler(text: str, line: str) -> None:
    assert error_line(text) == line
