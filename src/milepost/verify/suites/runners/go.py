"""Runs the tests of a Go module and reads the events of `go test -json`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from milepost.core.attempt import Workspace
from milepost.core.verdict import FailureKind, TestCase, TestOutcome
from milepost.verify.command_runner import Bench
from milepost.verify.suites.runners import told
from milepost.verify.suites.runners.lines import Lines
from milepost.verify.suites.suite import SuiteRun

FAILED = (1, 2)
OFFLINE = {"GOPROXY": "off", "GOTOOLCHAIN": "local"}

_OUR_OWN = ("-json", "-count", "-v", "-failfast")
_MODULE = re.compile(r'^module\s+"?([^\s"]+)"?', re.MULTILINE)
_FRAME = re.compile(r"^\s*(?:=== |--- |PASS|FAIL|ok\s|exit status|testing: )")
_PLACE = re.compile(r"^\s*\S+\.go:\d+: ")
_ENDS: dict[str, TestOutcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_LOST_IMPORT = re.compile(r"no required module provides|cannot find (?:module|package)|is not in (?:std|GOROOT)")


@dataclass(slots=True)
class _Told:
    """What the events said of one test, or of a package where the test has no name."""

    outcome: TestOutcome | None = None
    elapsed_s: float = 0.0
    output: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GoRunner:
    name: str = "go test"

    def finds(self, folder: Path) -> bool:
        return (folder / "go.mod").is_file()

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        return told.chosen(_run(command(told.of_suite(folder, only)), folder, workspace, bench, {}), only)


def run_words(
    words: tuple[str, ...], folder: str, workspace: Workspace, bench: Bench, env: Mapping[str, str]
) -> SuiteRun:
    """Run `go test` with the words of somebody's command line, such as `-run Hours ./clock`."""
    pairs = zip(("", *words), words, strict=False)
    kept = tuple(word for before, word in pairs if word.partition("=")[0] not in _OUR_OWN and before != "-count")
    return _run(("go", "test", "-json", "-count=1", *kept), folder, workspace, bench, env)


def _run(argv: tuple[str, ...], folder: str, workspace: Workspace, bench: Bench, env: Mapping[str, str]) -> SuiteRun:
    gathered = Lines()
    result = bench.run(argv, workspace, cwd=folder, env={**OFFLINE, **env}, on_line=gathered)
    top = module_folder(workspace.folder, folder)
    cases, open_tests = read(gathered.lines, module_of(workspace.folder / top), top)
    if result.termination != "exited":
        problem = "" if told.missing(result, "go") else told.unfinished(argv, result, bench)
    elif open_tests:
        problem = f"{open_tests[0]} started but did not finish"
    else:
        problem = told.contradiction(result.exit_code, cases, failing=FAILED)
    return told.run_of(argv, result, cases=cases, problem=problem)


def module_folder(checkout: Path, folder: str) -> str:
    """The folder of the module that `folder` is in; itself where there is none."""
    above = (PurePosixPath(folder), *PurePosixPath(folder).parents)
    found = next((place for place in above if (checkout / place / "go.mod").is_file()), PurePosixPath(folder))
    return "" if str(found) == "." else str(found)


def command(only: tuple[str, ...] = ()) -> tuple[str, ...]:
    """All tests of a module, or those of these ids relative to it; nothing from the cache of results."""
    test = ("go", "test", "-json", "-count=1")
    if not only:
        return (*test, "./...")
    packages = dict.fromkeys("./" + each.partition("::")[0].removeprefix(".") for each in only)
    names = dict.fromkeys(each.partition("::")[2].partition("/")[0] for each in only)
    chosen = ("-run", f"^({'|'.join(map(re.escape, names))})$") if all(names) else ()
    return (*test, *chosen, *packages)


def module_of(folder: Path) -> str:
    try:
        found = _MODULE.search((folder / "go.mod").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return found[1] if found else ""


def read(lines: list[str], module: str, folder: str = "") -> tuple[tuple[TestCase, ...], tuple[str, ...]]:
    """The cases of a run, and the ids of tests that were begun and not ended."""
    heard: dict[tuple[str, str], _Told] = {}
    for line in lines:
        _take(heard, line)
    cases: list[TestCase] = []
    unended: list[str] = []
    for (package, test), each in heard.items():
        place = told.within(folder, package.removeprefix(module).strip("/") or ".")
        if test and each.outcome is None:
            unended.append(f"{place}::{test}")
        elif test:
            cases.append(_test_case(f"{place}::{test}", each))
        elif each.outcome == "failed" and not _has_failed_test(heard, package):
            cases.append(_package_case(place, each, began=any(key[0] == package and key[1] for key in heard)))
    return tuple(cases), tuple(unended)


def _take(heard: dict[tuple[str, str], _Told], line: str) -> None:
    try:
        event = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return
    package = event.get("Package") or event.get("ImportPath", "").partition(" ")[0]
    action = event.get("Action")
    if not package or not action:
        return
    each = heard.setdefault((package, event.get("Test", "")), _Told())
    if action in ("output", "build-output"):
        each.output.append(str(event.get("Output", "")).rstrip("\n"))
    elif action in _ENDS:
        each.outcome = _ENDS[action]
        each.elapsed_s = float(event.get("Elapsed") or 0)


def _has_failed_test(heard: dict[tuple[str, str], _Told], package: str) -> bool:
    return any(key[0] == package and key[1] and each.outcome == "failed" for key, each in heard.items())


def _test_case(name: str, each: _Told) -> TestCase:
    assert each.outcome is not None
    lines = [line for line in each.output if line.strip() and not _FRAME.match(line)]
    message = _PLACE.sub("", lines[0]).strip() if lines else ""
    return told.case(
        name,
        each.outcome,
        message=message,
        traceback="\n".join(lines),
        kind=_kind("\n".join(lines)),
        duration_ms=round(each.elapsed_s * 1000),
    )


def _package_case(name: str, each: _Told, *, began: bool) -> TestCase:
    """A package that failed as a whole: it did not build, or ended outside of its tests."""
    lines = [line for line in each.output if line.strip() and not _FRAME.match(line) and not line.startswith("# ")]
    text = "\n".join(lines)
    kind: FailureKind = "import" if _LOST_IMPORT.search(text) else "runtime" if began else "collection"
    return told.case(name, "failed", message=lines[0] if lines else "it did not build", traceback=text, kind=kind)


def _kind(text: str) -> FailureKind:
    if re.search(r"test timed out|deadline exceeded", text):
        return "timeout"
    return "runtime" if re.search(r"^panic:|runtime error", text, re.MULTILINE) else "assertion"
