"""Running an entry point in the sandbox, and again after a package that it lacks was installed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.ports import Terminal
from milepost.sandbox.scripts.commands import EXCEPTION_REPORTS, reporting_command
from milepost.sandbox.scripts.entry_points import EntryPoint
from milepost.sandbox.scripts.failure import ScriptFailure, failure_of

REPORT = "report.json"
LONGEST_REPORT = 200_000
MOST_FIXES = 3

Install = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """How a program ended: `result` has the facts, `failure` why it failed, `installed` the packages it was given."""

    result: CommandResult
    failure: ScriptFailure | None
    installed: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        return self.failure is None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRunner:
    """Runs entry points of the project in `folder` on a terminal."""

    terminal: Terminal
    folder: Path
    scratch: Path
    timeout_s: float = 60.0
    env: Mapping[str, str] = field(default_factory=dict)

    def run(
        self, entry: EntryPoint, arguments: tuple[str, ...] = (), on_line: Callable[[Line], None] | None = None
    ) -> ScriptResult:
        """Run an entry point to its end."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="script-", dir=self.scratch, ignore_cleanup_errors=True) as own:
            started = reporting_command(entry, arguments, Path(own) / REPORT)
            command = Command(
                argv=started.argv,
                cwd=self.folder,
                scratch=self.scratch,
                env={**started.env, **self.env},
                timeout_s=self.timeout_s,
                readable=(EXCEPTION_REPORTS,),
            )
            with _opened(own) as folder:
                result = self.terminal.run(command, on_line)
                return ScriptResult(result=result, failure=failure_of(result, _read(folder)))


def run_with_fixes(run: Callable[[], ScriptResult], install: Install, *, most: int = MOST_FIXES) -> ScriptResult:
    """Run a program, and again after each package that it lacks was installed, up to `most` packages.

    The program itself names the package: `install` decides whether it may be installed.
    """
    installed: tuple[str, ...] = ()
    while True:
        ran = run()
        missing = ran.failure.missing if ran.failure is not None and ran.failure.kind == "import" else ""
        if not missing or missing in installed or len(installed) >= most or not install(missing):
            return replace(ran, installed=installed)
        installed = (*installed, missing)


@contextmanager
def _opened(folder: str) -> Iterator[int]:
    """A descriptor of a folder, which stays the same folder whatever the program puts in its place."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(folder: int) -> str:
    """The report that the program wrote, cut at its longest; empty where something else has its name."""
    try:
        descriptor = os.open(REPORT, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return ""
    try:
        return os.read(descriptor, LONGEST_REPORT).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
