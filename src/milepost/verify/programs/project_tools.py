"""What a project brings along for the checks: its programs, its settings, and files read without being led astray."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from milepost.core.change import Change, ChangedFile
from milepost.core.commands import CommandResult, ending_in_words, enforced_by_all
from milepost.core.verdict import CheckOutcome, CheckResult
from milepost.sources.paths import folders_above
from milepost.verify.checks.files import exists
from milepost.verify.command_runner import LONGEST_LOG, Bench, last_line, tail
from milepost.verify.environments.equipment import lay
from milepost.verify.programs.tracked import is_of_checkout
from milepost.verify.suites import report_file

NODE_FOLDER = "node_modules"
PLAIN_FILES = ("100644", "100755")


def plain_files(change: Change) -> tuple[ChangedFile, ...]:
    """The changed files that are there afterwards and are files: no links, no submodules."""
    return tuple(file for file in change.files if not file.is_gone and file.mode in PLAIN_FILES)


def text_of(checkout: Path, path: str) -> str | None:
    """The text of a file of the checkout; None where it is none, or where a link leads out of the checkout."""
    if "\0" in path:
        return None
    real = Path(os.path.realpath(checkout / path))
    return report_file.read(real) if real.is_relative_to(os.path.realpath(checkout)) else None


def is_file(checkout: Path, path: str) -> bool:
    """Whether a path of the checkout, which may be any text, is a file."""
    try:
        return (checkout / path).is_file()
    except (OSError, ValueError):  # a name that is too long, or no name
        return False


def relative(file: str, checkout: Path) -> str:
    """The path of a file relative to the checkout; one that lies elsewhere stays as it is."""
    path = Path(file)
    return path.relative_to(checkout).as_posix() if path.is_relative_to(checkout) else path.as_posix()


def node_program(bench: Bench, checkout: Path, name: str, folder: str, change: Change) -> Path | None:
    """A program of the project's node_modules, looked up as npm would; never one that lies in the checkout."""
    if any(NODE_FOLDER in path.split("/") for path in change.paths):
        return None
    with suppress(OSError):  # what cannot be linked is not found
        lay(bench.equipment.links, checkout)
    for above in (folder, *folders_above(folder)) if folder else ("",):
        program = checkout / above / NODE_FOLDER / ".bin" / name
        if os.access(program, os.X_OK) and not is_of_checkout(program, checkout):
            return program
    return None


def python_program(bench: Bench, name: str) -> Path | None:
    """A program of the project's Python environment."""
    if bench.interpreter is None:
        return None
    program = bench.interpreter.path.parent / name
    return program if os.access(program, os.X_OK) else None


def is_about(path: str, expected: tuple[str, ...], checkout: Path) -> bool:
    """Whether a task that names these files, folders or globs names `path`."""
    for entry in expected:
        plain = entry.strip().removeprefix("./").strip("/")
        if path == plain or path.startswith(f"{plain}/"):
            return True
        if any(sign in plain for sign in "*?[") and exists(checkout, plain) and Path(path).match(plain):
            return True
    return False


def why_not(result: CommandResult, program: str, timeout_s: float) -> str:
    """How a tool ended that gave no answer, with the last thing it said."""
    last = last_line(result.stderr) or last_line(result.stdout)
    ending = ending_in_words(result, program=program, timeout_s=timeout_s)
    return f"{ending}: {last}" if last and result.termination != "not_started" else ending


def answer(
    name: str,
    outcome: CheckOutcome,
    summary: str,
    *,
    bench: Bench | None = None,
    argv: tuple[str, ...] = (),
    results: tuple[CommandResult, ...] = (),
    log: str = "",
) -> CheckResult:
    """The answer of a check that ran these commands; `argv` and the exit code are those of the first."""
    return CheckResult(
        name=name,
        outcome=outcome,
        summary=summary,
        argv=argv,
        exit_code=results[0].exit_code if results else None,
        log=tail(log, LONGEST_LOG),
        duration_ms=sum(result.duration_ms for result in results),
        enforced=enforced_by_all([result.enforced for result in results if result.enforced]),
        environment=bench.fingerprint(argv) if bench is not None and argv else "",
    )
