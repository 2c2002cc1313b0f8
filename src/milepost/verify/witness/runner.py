"""The runners of Python's tests: pytest and unittest, each with a witness in its process."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult, ending_in_words
from milepost.core.verdict import TestCase
from milepost.verify.checks.files import listed
from milepost.verify.command_runner import Bench, last_line, log_of
from milepost.verify.programs.pytest_options import has_settings, place_options
from milepost.verify.suites.python_project import ProjectPython, find_test_files, source_folder
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.account import RAN_TO_THE_END, Account, account_of
from milepost.verify.witness.stream import Hearing
from milepost.verify.witness.survey import Survey, survey

GUEST = Path(__file__).parent / "guest"
NO_INTERPRETER = "no Python interpreter was found for the tests"

_ERROR = re.compile(
    r"^(?:E\s+|INTERNALERROR> |\S+\.py: )?((?:\w+\.)*\w*(?:Error|Exception|Exit|error|ERROR|FAIL):? \S.+)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class PytestRunner:
    """Runs pytest of the project's own environment."""

    name: str = "pytest"

    def finds(self, folder: Path) -> bool:
        return bool(find_test_files(folder)) or has_settings(folder)

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        top = workspace.folder / folder
        wanted = _within(folder, only)
        files = _files_of(wanted, top)
        if only and not files:
            return SuiteRun(argv=(), exit_code=None)
        cache = workspace.scratch / f"pytest-cache-{secrets.token_hex(4)}"
        return _witnessed("pytest", pytest_words(top, cache, files), folder, workspace, bench, wanted)


@dataclass(frozen=True, slots=True)
class UnittestRunner:
    """Runs the test files of a project whose environment has no pytest."""

    name: str = "unittest"

    def finds(self, folder: Path) -> bool:
        return bool(find_test_files(folder))

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        top = workspace.folder / folder
        wanted = _within(folder, only)
        files = _files_of(wanted, top) if only else find_test_files(top)
        if not files:
            return SuiteRun(argv=(), exit_code=None)
        return _witnessed("unittest", files, folder, workspace, bench, wanted)


def run_pytest(
    words: tuple[str, ...],
    workspace: Workspace,
    bench: Bench,
    folder: str = "",
    env: Mapping[str, str] | None = None,
) -> SuiteRun:
    """Run pytest in a folder of the checkout with the words of somebody's command line, such as `-k hours tests`."""
    cache = workspace.scratch / f"pytest-cache-{secrets.token_hex(4)}"
    top = _settings_folder(workspace.folder, folder, words)
    options = ("-o", f"cache_dir={cache}", *place_options(workspace.folder / top, words))
    run = _witnessed("pytest", (*options, *words), folder, workspace, bench, (), env)
    return run if top == folder else replace(run, cases=tuple(_moved(run.cases, folder, top)))


def run_unittest(
    files: tuple[str, ...],
    only: tuple[str, ...],
    workspace: Workspace,
    bench: Bench,
    folder: str = "",
    env: Mapping[str, str] | None = None,
) -> SuiteRun:
    """Run tests of these files in a folder of the checkout with unittest: those below the ids in `only`, or all."""
    return _witnessed("unittest", files, folder, workspace, bench, only, env)


def run_doctest(
    words: tuple[str, ...], workspace: Workspace, bench: Bench, folder: str, env: Mapping[str, str]
) -> SuiteRun:
    """Run examples with the words of `python -m doctest`, in a folder of the checkout."""
    return _witnessed("doctest", words, folder, workspace, bench, (), env)


def _settings_folder(checkout: Path, folder: str, words: tuple[str, ...]) -> str:
    """The nearest folder from `folder` up that has settings for pytest, which names tests from there."""
    if has_settings(checkout / folder, words):
        return folder
    above = (str(place) for place in PurePosixPath(folder).parents)
    found = next((place for place in above if has_settings(checkout / place)), folder)
    return "" if found == "." else found


def _moved(cases: Iterable[TestCase], folder: str, top: str) -> Iterable[TestCase]:
    """Cases that were named from `top`, and were taken to be named from `folder`."""
    for case in cases:
        name = case.id.removeprefix(f"{folder}/")
        yield replace(case, id=f"{top}/{name}" if top else name)


def pytest_words(folder: Path, cache: Path, files: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What pytest is asked: all tests, whatever fails first, with nothing written into the checkout."""
    return (
        *("--maxfail=0", "--continue-on-collection-errors", "-o", f"cache_dir={cache}"),
        *place_options(folder, files),
        *files,
    )


def driver_command(python: Path, kind: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Isolated and without bytecode: no folder of the checkout is on the import path until the runner is imported."""
    return (str(python), "-I", "-B", str(GUEST / "driver.py"), kind, *words)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Secrets:
    """What one run is signed with, and what its planted tests say."""

    key: str
    seed: str
    tokens: tuple[str, ...]


def _witnessed(
    kind: str,
    words: tuple[str, ...],
    folder: str,
    workspace: Workspace,
    bench: Bench,
    only: tuple[str, ...],
    more: Mapping[str, str] | None = None,
) -> SuiteRun:
    interpreter = bench.interpreter
    if interpreter is None:
        return SuiteRun(argv=(), exit_code=None, missing=NO_INTERPRETER)
    argv = driver_command(interpreter.path, kind, words)
    found = survey(workspace.folder)
    if found.strays:
        return SuiteRun(argv=argv, exit_code=None, problem=f"out of the checkout lead: {listed(found.strays)}")
    hidden = _Secrets(
        key=secrets.token_hex(32), seed=secrets.token_hex(16), tokens=(secrets.token_hex(8), secrets.token_hex(8))
    )
    env = _environment(interpreter, workspace, folder, found, more or {})
    hearing = Hearing(bytes.fromhex(hidden.key))
    plain = replace(bench, redact=str)  # signatures are over what was said, secrets and all
    result = plain.run(
        argv,
        workspace,
        env=env,
        readable=(GUEST,),
        stdin=_order(hidden, env, only, _watched(bench, workspace)),
        cwd=folder,
        on_line=hearing.hear,
        lines_are_signed=True,
    )
    account = account_of(hearing.testimony(), hidden.tokens, bench.redact)
    if only:
        wanted = [case for case in account.cases if any(_is_below(case.id, each) for each in only)]
        account = replace(account, cases=tuple(wanted))
    ran = _suite_run(argv, result, account, folder, bench, bool(only))
    if not ran.problem and (changed := found.changed(survey(workspace.folder))):
        ran = replace(ran, problem=f"the tests were changed while they were run: {listed(changed)}")
    return replace(ran, environment=f"{bench.fingerprint(argv, env)}, {account.runner}".rstrip(", "))


def _order(hidden: _Secrets, env: dict[str, str], only: tuple[str, ...], watched: dict[str, Any] | None) -> str:
    return json.dumps(
        {
            "key": hidden.key,
            "seed": hidden.seed,
            "tokens": hidden.tokens,
            "only": only,
            "path": [entry for entry in env.get("PYTHONPATH", "").split(os.pathsep) if entry],
            "source_only": env.get("PYTHONPYCACHEPREFIX", ""),
            "watched": watched,
        }
    )


def _is_below(id_: str, wanted: str) -> bool:
    return id_ == wanted or id_.startswith(f"{wanted}::")


def _watched(bench: Bench, workspace: Workspace) -> dict[str, Any] | None:
    if bench.watched is None:
        return None
    tops = dict.fromkeys((str(workspace.folder), os.path.realpath(workspace.folder)))
    return {"tops": list(tops), **asdict(bench.watched)}


def _environment(
    interpreter: ProjectPython, workspace: Workspace, folder: str, found: Survey, more: Mapping[str, str]
) -> dict[str, str]:
    """The variables that the tests see, and the programs they start."""
    env = {**more, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"}
    if found.has_bytecode:
        env["PYTHONPYCACHEPREFIX"] = str(workspace.scratch / f"no-bytecode-{secrets.token_hex(4)}")
    named = [entry for entry in more.get("PYTHONPATH", "").split(os.pathsep) if entry]
    entries = [os.path.normpath(workspace.folder / folder / entry) for entry in named]
    entries += [str(workspace.folder / entry) for entry in interpreter.imports]
    entries += [str(source) for top in dict.fromkeys(("", folder)) if (source := source_folder(workspace.folder / top))]
    if entries:
        env["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(entries))
    return env


def _suite_run(
    argv: tuple[str, ...], result: CommandResult, account: Account, folder: str, bench: Bench, partly: bool
) -> SuiteRun:
    told = replace(result, stdout="", stderr=bench.redact(result.stderr), error=bench.redact(result.error))
    ran = SuiteRun(
        argv=argv,
        exit_code=account.exit_code if account.exit_code is not None else result.exit_code,
        cases=tuple(_placed(account.cases, folder)),
        log=log_of(told),
        duration_ms=result.duration_ms,
        enforced=result.enforced,
        notes=account.notes,
    )
    if account.exit_code not in RAN_TO_THE_END:
        ending = f"exit {account.exit_code}" if account.exit_code is not None else ""
        ending = ending or ending_in_words(result, program=argv[0], timeout_s=bench.timeout_s)
        where = f" while {account.running} was run" if account.running else ""
        why = account.problem or _error_line(told.stderr) or ("" if account.running else last_line(told.stderr))
        return replace(ran, problem=f"the tests did not run to their end: {ending}{where}{f': {why}' if why else ''}")
    if account.problem:
        return replace(ran, problem=account.problem)
    if account.exit_code == 1 and not partly and not any(case.outcome == "failed" for case in ran.cases):
        return replace(
            ran, problem=f"exit 1, though no test failed: {_error_line(told.stderr) or last_line(told.stderr)}"
        )
    return ran


def _error_line(text: str) -> str:
    """The last line that names an error, if there is one."""
    found = [line for line in _ERROR.findall(text) if not line.startswith("ERROR: usage:")]
    return last_line(found[-1]) if found else ""


def _placed(cases: Iterable[TestCase], folder: str) -> Iterable[TestCase]:
    prefix = f"{folder}/" if folder else ""
    return (
        replace(case, id=prefix + case.id, parameters=f"{folder} {case.parameters}".strip() if case.parameters else "")
        for case in cases
    )


def _within(folder: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    """The ids of tests in `folder`, as the runner there names them."""
    prefix = f"{folder}/" if folder else ""
    return tuple(id_.removeprefix(prefix) for id_ in ids if id_.startswith(prefix))


def _files_of(ids: tuple[str, ...], top: Path) -> tuple[str, ...]:
    files = dict.fromkeys(id_.partition("::")[0] for id_ in ids)
    return tuple(file for file in files if file and (top / file).is_file())
