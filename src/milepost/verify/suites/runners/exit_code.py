"""Test commands that tell nothing but their exit code: `make test`, and an `npm test` that calls no runner we know."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult
from milepost.sandbox.read_plain import plain_text
from milepost.verify.command_runner import Bench, last_line, log_of
from milepost.verify.suites.failure_kinds import kind_of
from milepost.verify.suites.runners import package_json, told
from milepost.verify.suites.runners.others import OFFLINE
from milepost.verify.suites.suite import SuiteRun

PROGRAM_NOT_FOUND = 127
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TEST_TARGET = re.compile(r"^(?:[^\s#:=]+[ \t]+)*test(?:[ \t]+[^\s#:=]+)*[ \t]*::?(?!=)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MakeRunner:
    name: str = "make test"

    def finds(self, folder: Path) -> bool:
        """Whether the file that make would read has a target `test`."""
        found = next((path for name in MAKEFILES if (path := folder / name).is_file()), None)
        with suppress(OSError):
            return found is not None and bool(_TEST_TARGET.search(plain_text(found)))
        return False

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        argv = ("make", "test")
        return _judged(self.name, argv, folder, bench.run(argv, workspace, cwd=folder), bench)


@dataclass(frozen=True, slots=True)
class NpmRunner:
    name: str = "npm test"

    def finds(self, folder: Path) -> bool:
        package = package_json.read(folder)
        script = package_json.script_of(package) if package is not None else package_json.NpmTestScript()
        return bool(script.text) and not script.calls

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        argv = ("npm", "test")
        result = bench.run(argv, workspace, cwd=folder, env=OFFLINE)
        if result.exit_code == PROGRAM_NOT_FOUND:
            lost = f"what the test script calls is not installed: {last_line(result.stderr)}"
            return SuiteRun(argv=argv, exit_code=result.exit_code, missing=lost, log=log_of(result))
        return _judged(self.name, argv, folder, result, bench)


def _judged(name: str, argv: tuple[str, ...], folder: str, result: CommandResult, bench: Bench) -> SuiteRun:
    if result.termination != "exited":
        problem = "" if told.missing(result, argv[0]) else told.unfinished(argv, result, bench)
        return told.run_of(argv, result, problem=problem)
    ident = told.within(folder, name)
    if result.succeeded:
        return told.run_of(argv, result, cases=(told.case(ident, "passed", duration_ms=result.duration_ms),))
    log = log_of(result)
    message = last_line(result.stderr) or last_line(result.stdout) or f"exit {result.exit_code}"
    kind = kind_of("", message, log, False)
    failed = told.case(ident, "failed", message=message, traceback=log, kind=kind, duration_ms=result.duration_ms)
    return told.run_of(argv, result, cases=(failed,))
