"""Running scripts in the sandbox, and again after what they lacked was installed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.core.commands import NO_NETWORK, Bounds, Command, CommandResult, Line, Network
from milepost.core.ports import Terminal
from milepost.sandbox.scripts.failure import ScriptFailure, failure_of
from milepost.sandbox.scripts.script import CONFESSORS, PLAIN_OUTPUT, REPORT_VARIABLE, Script, script_command

REPORT = "report.json"
LONGEST_REPORT = 200_000
MOST_FIXES = 3

Install = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """What came of a script; `result` are the facts, `failure` what is known of why. `installed` came on the way."""

    result: CommandResult
    failure: ScriptFailure | None
    installed: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        return self.failure is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRunner:
    """Runs the scripts of one workspace on a terminal; `python` is the project's interpreter."""

    terminal: Terminal
    folder: Path
    scratch: Path
    python: str = "python3"
    timeout_s: float = 60.0
    env: Mapping[str, str] = field(default_factory=dict)
    network: Network = NO_NETWORK
    bounds: Bounds = field(default_factory=Bounds)

    def run(self, script: Script, on_line: Callable[[Line], None] | None = None) -> ScriptResult:
        """Run a script to its end."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="script-", dir=self.scratch, ignore_cleanup_errors=True) as own:
            command = self._command(script, Path(own))
            with _held(own) as folder:
                result = self.terminal.run(command, on_line)
                return ScriptResult(result=result, failure=failure_of(result, _read(folder)))

    def run_with_fixes(self, script: Script, install: Install, *, most: int = MOST_FIXES) -> ScriptResult:
        """Run a script, and again after each package that it lacks was installed, `most` of them.

        The name of a package is the script's own word: whether it may be installed is for `install` to say.
        """
        installed: tuple[str, ...] = ()
        while True:
            ran = self.run(script)
            lacks = ran.failure.missing if ran.failure is not None and ran.failure.kind == "import" else ""
            if not lacks or lacks in installed or len(installed) >= most or not install(lacks):
                return replace(ran, installed=installed)
            installed = (*installed, lacks)

    def _command(self, script: Script, own: Path) -> Command:
        report = own / REPORT
        file = self.folder / script.file if script.file is not None else own / f"script{script.ending}"
        if script.file is None:
            file.write_text(script.code, encoding="utf-8", errors="surrogateescape")
        return Command(
            argv=script_command(script, file, python=self.python, folder=self.folder, report=report),
            cwd=self.folder,
            scratch=self.scratch,
            env={**PLAIN_OUTPUT, **self.env, REPORT_VARIABLE: str(report)},
            timeout_s=self.timeout_s,
            readable=(CONFESSORS,),
            network=self.network,
            bounds=self.bounds,
        )


@contextmanager
def _held(folder: str) -> Iterator[int]:
    """A folder as it is now, whatever the script puts in its place."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(folder: int) -> str:
    """The report that the script left there, and no more than a report has; empty where it left another thing."""
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
