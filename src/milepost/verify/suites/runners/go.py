"""Runs the tests of a Go module and reads the events of `go test -json`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from milepost.core.attempt import Workspace
from milepost.core.verdict import FailureKind, TestCase, TestOutcome
from milepost.sandbox.read_plain import plain_text
from milepost.verify.command_runner import Bench
from milepost.verify.suites.runners import told
from milepost.verify.suites.runners.go_planting import GoPlanting, planting
from milepost.verify.suites.runners.lines import Lines
from milepost.verify.suites.runners.must_fail import NOT_FAILED, without
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.swap import swapped

FAILED = (1, 2)
OFFLINE = {"GOPROXY": "off", "GOTOOLCHAIN": "local"}

_OUR_OWN = ("-json", "-count", "-v", "-failfast")
_MODULE = re.compile(r'^module\s+"?([^\s"]+)"?', re.MULTILINE)
_FRAME = re.compile(r"^\s*(?:=== |--- |PASS|FAIL|ok\s|exit status|testing: )")
_NOT_BUILT = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]$")  # without an event by an older go
_PLACE = re.compile(r"^\s*\S+\.go:\d+: ")
_SELECTS = ("-run", "--run", "-test.run", "--test.run")
_ENDS: dict[str, TestOutcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_LOST_IMPORT = re.compile(r"no required module provides|cannot find (?:module|package)|is not in (?:std|GOROOT)")
NOTHING_PLANTED = GoPlanting(files={}, tests=(), own_ends=frozenset(), pattern="")


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
        chosen = frozenset(os.path.normpath(each.partition("::")[0]) for each in only)
        return told.chosen(_run(command(told.of_suite(folder, only)), folder, workspace, bench, {}, chosen), only)


def run_words(
    words: tuple[str, ...], folder: str, workspace: Workspace, bench: Bench, env: Mapping[str, str]
) -> SuiteRun:
    """Run `go test` with the words of somebody's command line, such as `-run Hours ./clock`."""
    pairs = zip(("", *words), words, strict=False)
    kept = tuple(word for before, word in pairs if word.partition("=")[0] not in _OUR_OWN and before != "-count")
    return _run(("go", "test", "-json", "-count=1", *kept), folder, workspace, bench, env)


def _run(
    argv: tuple[str, ...],
    folder: str,
    workspace: Workspace,
    bench: Bench,
    env: Mapping[str, str],
    only: frozenset[str] = frozenset(),
) -> SuiteRun:
    """Run with planted tests; once more without them where their failing may hide how a program ends by itself."""
    top = module_folder(workspace.folder, folder)
    is_wide = (workspace.folder / "go.work").is_file() or any(".." in word.split("/") for word in argv)
    laid = planting(workspace.folder, "" if is_wide else top, only)
    with swapped(workspace.folder, laid.files):
        run, folders = _told(argv, laid, top, folder, workspace, bench, env)
    passed = not (run.problem or run.missing or any(case.outcome == "failed" for case in run.cases))
    if not passed or not (laid.own_ends.intersection(folders) or "-race" in argv):
        return run
    return told.combined((run, _told(argv, NOTHING_PLANTED, top, folder, workspace, bench, env)[0]))


def _told(
    argv: tuple[str, ...],
    laid: GoPlanting,
    top: str,
    folder: str,
    workspace: Workspace,
    bench: Bench,
    env: Mapping[str, str],
) -> tuple[SuiteRun, frozenset[str]]:
    """One run, and the folders of the packages whose tests it told of."""
    gathered = Lines()
    words = selecting(argv, laid.pattern)
    result = bench.run(words, workspace, cwd=folder, env={**OFFLINE, **env}, on_line=gathered)
    module = module_of(workspace.folder / top)
    lines = [*gathered.lines, *_of_compiler(result.stderr)]
    cases, open_tests = read(lines, module, top, tuple(laid.names))
    doubt, failed = doubt_of(lines, module, top, laid)
    exit_code = result.exit_code
    only_planted = failed and not any(case.outcome == "failed" for case in cases)
    if result.termination != "exited":
        problem = "" if told.missing(result, "go") else told.unfinished(argv, result, bench)
    elif doubt:
        problem = doubt
    elif open_tests:
        problem = f"{open_tests[0]} started but did not finish"
    elif only_planted and exit_code == 0:
        problem = "exit 0, though a planted test failed"
    else:
        exit_code = 0 if only_planted and exit_code == 1 else exit_code
        problem = told.contradiction(exit_code, cases, failing=FAILED)
    result = without(result, (each.test for each in laid.tests))
    run = told.run_of(argv, replace(result, exit_code=exit_code), cases=cases, problem=problem)
    return run, frozenset(os.path.normpath(case.id.partition("::")[0]) for case in cases)


def selecting(argv: tuple[str, ...], also: str) -> tuple[str, ...]:
    """The command with the tests of the pattern `also` selected as well where it selects some."""
    found: list[str] = []
    for word in argv:
        option, equals, pattern = word.partition("=")
        if found and found[-1] in _SELECTS:
            option, equals, pattern = "", "", word
        elif option not in _SELECTS or not equals:
            pattern = ""
        found.append(f"{option}{equals}{also}|{pattern}" if pattern and also else word)
    return tuple(found)


def doubt_of(lines: list[str], module: str, folder: str, laid: GoPlanting) -> tuple[str, bool]:
    """Why a run is not believed: a planted test that did not fail among the tests of its package, or not as it must;
    and whether one failed."""
    heard = _heard(lines)
    names = laid.names
    doubt, failed = "", False
    for package in dict.fromkeys(package for package, test in heard if test):
        place = _place(package, module, folder)
        told_of = {test: each for (where, test), each in heard.items() if where == package and test}
        as_it_must = {
            test
            for test, each in told_of.items()
            if test in names and each.outcome == "failed" and f"got {names[test].test.token}" in "\n".join(each.output)
        }
        failed |= bool(as_it_must)
        here = [each for each in laid.tests if each.folder == os.path.normpath(place)]
        wanted = {each.test.name for each in here if each.sure and (each.first or _came_to_its_end(heard, package))}
        wanted |= {test for test in told_of if test in names}
        is_due = bool(here) or (bool(names) and not (module and package.startswith(module)))  # of another module
        if told_of.keys() - names.keys() and (wanted - as_it_must or (is_due and not as_it_must)):
            doubt = doubt or f"{NOT_FAILED}it was among the tests of {place}"
    return doubt, failed


def _came_to_its_end(heard: dict[tuple[str, str], _Told], package: str) -> bool:
    """Whether the program itself said how its tests ended, which one that panics does not."""
    return any(
        line in ("PASS", "FAIL") for (where, _), each in heard.items() if where == package for line in each.output
    )


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
        found = _MODULE.search(plain_text(folder / "go.mod"))
    except OSError:
        return ""
    return found[1] if found else ""


def read(
    lines: list[str], module: str, folder: str = "", planted: tuple[str, ...] = ()
) -> tuple[tuple[TestCase, ...], tuple[str, ...]]:
    """The cases of a run but for planted ones, and the ids of tests that were begun and not ended.

    A package whose only failure is a planted one has passed.
    """
    heard = _heard(lines)
    cases: list[TestCase] = []
    unended: list[str] = []
    for (package, test), each in heard.items():
        place = _place(package, module, folder)
        if test in planted:
            continue
        if test and each.outcome is None:
            unended.append(f"{place}::{test}")
        elif test:
            cases.append(_test_case(f"{place}::{test}", each))
        elif each.outcome == "failed" and not _is_told_by_tests(heard, package, planted):
            cases.append(_package_case(place, each, began=any(key[0] == package and key[1] for key in heard)))
    return tuple(cases), tuple(unended)


def _heard(lines: list[str]) -> dict[tuple[str, str], _Told]:
    heard: dict[tuple[str, str], _Told] = {}
    for line in lines:
        _take(heard, line)
    return heard


def _place(package: str, module: str, folder: str) -> str:
    return told.within(folder, package.removeprefix(module).strip("/") or ".")


def _of_compiler(stderr: str) -> list[str]:
    """What an older go writes of packages that do not build, as the events of a newer one."""
    found: list[str] = []
    package = ""
    for line in stderr.splitlines():
        package = line[2:].partition(" ")[0] if line.startswith("# ") else package
        if package:
            found.append(json.dumps({"Action": "build-output", "Package": package, "Output": line}))
    return found


def _take(heard: dict[tuple[str, str], _Told], line: str) -> None:
    if broken := _NOT_BUILT.match(line):
        heard.setdefault((broken[1], ""), _Told()).outcome = "failed"
        return
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


def _is_told_by_tests(heard: dict[tuple[str, str], _Told], package: str, planted: tuple[str, ...]) -> bool:
    """Whether tests that failed are why a package did; planted ones are if it came to its end by itself."""
    failed = {test for (where, test), each in heard.items() if where == package and test and each.outcome == "failed"}
    return bool(failed.difference(planted)) or (bool(failed) and _came_to_its_end(heard, package))


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
