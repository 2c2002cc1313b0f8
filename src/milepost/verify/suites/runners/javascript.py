"""Runs the tests of a JavaScript or TypeScript package with the runner that its test script calls."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult
from milepost.verify.command_runner import Bench, tail
from milepost.verify.suites.junit import LONGEST_MESSAGE
from milepost.verify.suites.runners import package_json, preload, sealed, told
from milepost.verify.suites.runners.canary import NOT_FAILED, Canary, added_to, beside, loaded_by, source
from milepost.verify.suites.runners.flavours import REPORTERS, Installed, Selection, command
from milepost.verify.suites.runners.javascript_report import cases_of, errors_outside, plain, same
from milepost.verify.suites.runners.others import only_looks, run_others
from milepost.verify.suites.runners.package_json import Flavour, NpmTestScript, RunnerCall
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.walk_checkout import files_below, text_of

FAILED = 1  # how all three end when a test failed, and with a canary one always does

_NAMED_AS_TEST = re.compile(r"(?:.*[._-](?:test|spec)s?|test|test-.*)\.[cm]?[jt]sx?", re.IGNORECASE)
_SCRIPT = re.compile(r".*(?<!\.d)\.[cm]?[jt]sx?")
_BROWSER_FOLDERS = ("e2e", "cypress", "playwright")


@dataclass(frozen=True, slots=True)
class JavaScriptRunner:
    """One of `vitest`, `jest` and `node --test`."""

    flavour: Flavour

    @property
    def name(self) -> str:
        return "node --test" if self.flavour == "node" else self.flavour

    def finds(self, folder: Path) -> bool:
        package = package_json.read(folder)
        if package is None:
            return False
        script = package_json.script_of(package)
        if any(call.flavour == self.flavour for call in script.calls):
            return True
        return self.flavour == "node" and not script.text and not script.calls and uses_node_test(folder)

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        place = workspace.folder / folder
        package = package_json.read(place) or {}
        script = package_json.script_of(package)
        calls = [call for call in script.calls if call.flavour == self.flavour] or [RunnerCall(flavour=self.flavour)]
        suite = _Suite(folder=folder, workspace=workspace, bench=bench, modules=package.get("type") == "module")
        of_others = tuple(each for each in only if each.startswith(told.within(folder, "package.json::")))
        of_tests = tuple(each for each in only if each not in of_others)
        before = _others(script, self.flavour, before=True)
        if only:  # of chosen tests, only what these may need: a linter makes nothing
            before = tuple(text for text in before if not only_looks(text) or _named(text, folder) in of_others)
        earlier = run_others(before, folder, workspace, bench)
        runs = tuple(suite.run(call, of_tests) for call in calls) if of_tests or not only else ()
        later = (
            run_others(_others(script, self.flavour, before=False), folder, workspace, bench) if not of_tests else ()
        )
        told_runs = (*earlier, *runs, *later)
        return told.chosen(told.combined(told_runs), only) if told_runs else SuiteRun(argv=(), exit_code=None)


def run_call(call: RunnerCall, folder: str, workspace: Workspace, bench: Bench) -> SuiteRun:
    """Run the tests of one call of a runner, somebody's command line, in `folder`."""
    package = package_json.read(workspace.folder / folder) or {}
    suite = _Suite(folder=folder, workspace=workspace, bench=bench, modules=package.get("type") == "module")
    return suite.run(call, ())


def test_files(folder: Path) -> tuple[Path, ...]:
    """The files that look like tests, the likeliest first."""
    named: list[Path] = []
    in_folder: list[Path] = []
    for path in files_below(folder):
        if _NAMED_AS_TEST.fullmatch(path.name):
            named.append(path)
        elif _SCRIPT.fullmatch(path.name) and {"__tests__", "test", "tests"} & set(path.relative_to(folder).parts[:-1]):
            in_folder.append(path)
    named.sort(
        key=lambda path: (bool(set(_BROWSER_FOLDERS) & set(path.parts)), len(path.parts), path.name == "test.js")
    )
    return (*named, *in_folder)


def uses_node_test(folder: Path) -> bool:
    return any(re.search(r"""['"]node:test['"]""", text_of(path)) for path in test_files(folder)[:50])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    """The suite of one run: where it is, and with what."""

    folder: str
    workspace: Workspace
    bench: Bench
    modules: bool

    @property
    def place(self) -> Path:
        return self.workspace.folder / self.folder

    def run(self, call: RunnerCall, only: tuple[str, ...]) -> SuiteRun:
        """Run with a canary beside the likeliest test file; where the runner does not look there, in one it found."""
        installed = Installed() if call.flavour == "node" else self._installed(call.flavour)
        if installed is None:
            return SuiteRun(argv=(), exit_code=None, missing=f"{call.flavour} is not installed")
        files = tuple(dict.fromkeys(each.partition("::")[0] for each in told.of_suite(self.folder, only)))
        tests = tuple(path for name in files if (path := self.place / name).is_file()) or test_files(self.place)
        text = partial(self._text, call.flavour, loaded_by(tests))
        first = beside(tests[0], text, self.workspace.folder) if tests else nullcontext()
        run, unseen = self._run_once(call, installed, files, first)
        if not unseen:
            return run
        inside = added_to(unseen[0], partial(self._text, call.flavour, ()), self.workspace.folder)
        return self._run_once(call, installed, files, inside)[0]

    def _text(self, flavour: Flavour, files: tuple[Path, ...], canary: Canary, like: str) -> str:
        return source(flavour, canary, like, files, modules=self.modules)

    def _run_once(
        self,
        call: RunnerCall,
        installed: Installed,
        files: tuple[str, ...],
        planting: AbstractContextManager[Canary | None],
    ) -> tuple[SuiteRun, tuple[Path, ...]]:
        """One run; and, when no file of the canary's was among those that were run, which were."""
        seal = sealed.fresh(self.workspace.scratch)
        with planting as canary:
            name = os.path.relpath(canary.path, self.place) if canary and not canary.added else ""
            selection = Selection(files=files, canary=name)
            argv = command(call, installed, selection, seal.path.with_suffix(".cache"), self.place)
            result = self.bench.run(
                argv,
                self.workspace,
                cwd=self.folder,
                env={
                    "CI": "1",
                    "NODE_ENV": "test",
                    "NO_COLOR": "1",
                    **call.env,
                    **preload.variables(call.env, seal, self.workspace, self.bench.watched),
                },
                readable=(REPORTERS,),
                stdin=seal.stdin,
            )
        report = seal.read()
        if isinstance(report, str):
            problem = told.unfinished(argv, result, self.bench) if report == sealed.NONE else report
            return told.run_of(argv, result, problem=problem), ()
        found = preload.notes(report, result.stderr, seal.marker, self.bench.redact)
        run, unseen = self._read(call.flavour, installed, argv, result, report, canary)
        return replace(run, notes=found), unseen

    def _read(
        self,
        flavour: Flavour,
        installed: Installed,
        argv: tuple[str, ...],
        result: CommandResult,
        report: dict[str, Any],
        canary: Canary | None,
    ) -> tuple[SuiteRun, tuple[Path, ...]]:
        planted, real = split(report["files"], canary)
        problem = self._doubt(argv, result, report, canary, planted)
        cases = cases_of({**report, "files": real}, self.workspace.folder, self.bench.redact)
        versions = (f"node {report['node']}", *((f"{flavour} {installed.version}",) if installed.version else ()))
        run = told.run_of(argv, result, cases=cases, problem=problem, environment=", ".join(versions))
        log = "\n".join((*(f"{case.id}\n{case.traceback or case.message}" for case in cases if case.kind), run.log))
        seen = any(same(file["file"], canary.path) for file in report["files"]) if canary else False
        unseen = () if seen else tuple(Path(file["file"]) for file in real if file["file"])
        return replace(run, log=tail(log, told.LONGEST_LOG)), unseen

    def _doubt(
        self,
        argv: tuple[str, ...],
        result: CommandResult,
        report: dict[str, Any],
        canary: Canary | None,
        planted: Mapping[str, str],
    ) -> str:
        own_file = canary.path if canary and not canary.added else None
        outside = errors_outside(report["errors"], own_file)
        if result.termination != "exited" or report["interrupted"]:
            return told.unfinished(argv, result, self.bench)
        if canary is None:
            return told.unfinished(argv, result, self.bench) if report["files"] else ""
        if any(planted.get(title) != "failed" for title in canary.titles):
            return NOT_FAILED
        if outside:
            return f"an error outside of any test: {plain(outside[0]['message'])[:LONGEST_MESSAGE]}"
        return "" if result.exit_code == FAILED else f"exit {result.exit_code}, though a planted test failed"

    def _installed(self, name: str) -> Installed | None:
        """A runner from the nearest `node_modules` of the checkout."""
        place = self.place
        while place.is_relative_to(self.workspace.folder):
            folder = place / "node_modules" / name
            package = package_json.read_installed(folder) or {}
            entry = package_json.entry_of(package, name)
            if entry and (folder / entry).is_file():
                path = os.path.relpath(folder / entry, self.place)
                return Installed(entry=path, version=str(package.get("version", "")))
            place = place.parent
        return None


def split(files: list[dict[str, Any]], canary: Canary | None) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """How the planted tests ended, by title, and the files without them."""
    if canary is None:
        return {}, files
    planted: dict[str, str] = {}
    real: list[dict[str, Any]] = []
    for file in files:
        if not same(file["file"], canary.path):
            real.append(file)
            continue
        planted.update((test["titles"][-1], test["outcome"]) for test in file["tests"])
        if canary.added:
            real.append({**file, "tests": [test for test in file["tests"] if test["titles"][-1] not in canary.titles]})
    return planted, real


def _named(text: str, folder: str) -> str:
    """The id of a test that is one of the other commands of a script."""
    return told.within(folder, f"package.json::{text}")


def _others(script: NpmTestScript, flavour: Flavour, *, before: bool) -> tuple[str, ...]:
    """The other commands of a script are run with the last runner that it calls."""
    if not script.calls or script.calls[-1].flavour != flavour:
        return ()
    return tuple(other for other, is_before in script.others if is_before == before)
