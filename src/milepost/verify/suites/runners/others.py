"""The commands of a test script that are no test runner: each is one case, by its exit code."""

from __future__ import annotations

from milepost.core.attempt import Workspace
from milepost.core.commands import ending_in_words
from milepost.verify.command_runner import Bench, last_line, log_of
from milepost.verify.suites.failure_kinds import kind_of
from milepost.verify.suites.runners import told
from milepost.verify.suites.suite import SuiteRun

# These read the code and make nothing, unless they are told to mend it.
_LINTERS = frozenset({"biome", "dprint", "eslint", "oxlint", "prettier", "standard", "stylelint", "tslint", "xo"})
_MENDS = frozenset({"--fix", "--write", "-w", "--apply", "fmt", "format"})
OFFLINE = {"npm_config_offline": "true", "npm_config_update_notifier": "false", "npm_config_fund": "false", "CI": "1"}


def run_others(commands: tuple[str, ...], folder: str, workspace: Workspace, bench: Bench) -> tuple[SuiteRun, ...]:
    """The run of each; one that fails does not keep the next from being asked."""
    return tuple(_run(text, folder, workspace, bench) for text in commands)


def only_looks(text: str) -> bool:
    """Whether a command is a linter that changes nothing, so that no test can need it to have run."""
    words = text.split()
    return bool(words) and words[0] in _LINTERS and not _MENDS & set(words) and not set("&|;<>`$") & set(text)


def shell_command(text: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", f'PATH="$PWD/node_modules/.bin:$PATH"; {text}')


def _run(text: str, folder: str, workspace: Workspace, bench: Bench) -> SuiteRun:
    argv = shell_command(text)
    result = bench.run(argv, workspace, cwd=folder, env=OFFLINE)
    name = told.within(folder, f"package.json::{text}")
    if result.succeeded:
        return told.run_of(argv, result, cases=(told.case(name, "passed", duration_ms=result.duration_ms),))
    last = last_line(result.stderr) or last_line(result.stdout)
    message = last or ending_in_words(result, program=text, timeout_s=bench.timeout_s)
    log = log_of(result)
    kind = "timeout" if result.termination == "timeout" else kind_of("", message, log, False)
    failed = told.case(name, "failed", message=message, traceback=log, kind=kind, duration_ms=result.duration_ms)
    return told.run_of(argv, result, cases=(failed,))
