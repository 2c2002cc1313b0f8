"""Runs a selection of tests under the engine's own witness."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from milepost.core.attempt import Workspace
from milepost.core.verdict import TestCase
from milepost.verify.command_runner import Bench
from milepost.verify.selection.selection import NOT_THERE, Selection
from milepost.verify.selection.starts import placed
from milepost.verify.selection.unittest_words import wanted
from milepost.verify.suites.detect import suites
from milepost.verify.suites.runners import cargo, go, told
from milepost.verify.suites.runners.flavours import kept_words
from milepost.verify.suites.runners.javascript import JavaScriptRunner, run_call
from milepost.verify.suites.runners.package_json import Flavour, RunnerCall, call_of, read, script_of
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.walk_checkout import text_of
from milepost.verify.witness.runner import NO_INTERPRETER, run_doctest, run_pytest, run_unittest

NO_PYTEST = "the project's interpreter has no pytest"

_SOURCE = re.compile(r"\.(py|[cm]?[jt]sx?)$")
_NOT_FOUND = re.compile(r"(?:file or directory not found|ERROR: not found): (\S+)")
_NO_TARGET = re.compile(r"no (?:\w+ )*target named `([^`]+)`|no (?:\w+ )*targets? matched")
_NAME_PATTERNS = ("-t", "--testNamePattern", "--test-name-pattern")


def run_selections(selections: tuple[Selection, ...], workspace: Workspace, bench: Bench) -> SuiteRun:
    """All of them as one run; a test that several select is one."""
    return told.combined(tuple(run_selection(each, workspace, bench) for each in selections))


def run_selection(selection: Selection, workspace: Workspace, bench: Bench) -> SuiteRun:
    """The tests of the selection as the engine has seen them; a name that means nothing is a test that failed."""
    words = tuple(placed(word, workspace) for word in selection.words)
    env = {name: placed(value, workspace) for name, value in selection.env}
    selection = replace(selection, words=words, env=tuple(env.items()))
    match selection.runner:
        case "pytest":
            return _pytest(selection, workspace, bench)
        case "unittest":
            return _unittest(selection, workspace, bench)
        case "doctest":
            return run_doctest(words, workspace, bench, selection.folder, env)
        case "node" | "jest" | "vitest":
            return _javascript(selection, workspace, bench)
        case "go":
            return go.run_words(words, selection.folder, workspace, bench, env)
        case "cargo":
            run = cargo.run_words(words, selection.folder, workspace, bench, env)
            lost = _NO_TARGET.search(f"{run.problem}\n{run.log}") if run.problem else None
            return _lost(run, (lost[1] or "tests",)) if lost else run
        case _ as never:
            assert_never(never)


def serves(selection: Selection, workspace: Workspace, bench: Bench, runners: tuple[str, ...] = ()) -> bool:
    """Whether the run of the project's own suite is a run of this selection, too."""
    found = suites(workspace.folder, runners)
    if len(found) != 1 or found[0].folder != selection.folder or not selection.is_whole:
        return False
    runner, place = found[0].runner, workspace.folder / selection.folder
    if isinstance(runner, JavaScriptRunner):
        script = script_of(read(place) or {})
        calls = [call for call in script.calls if call.flavour == runner.flavour]
        return runner.flavour == selection.runner and not script.others and not any(kept_words(c, place) for c in calls)
    if runner.name == "python":
        has_pytest = bench.interpreter is not None and bench.has_pytest(bench.interpreter, workspace)
        return selection.runner == ("pytest" if has_pytest else "unittest")
    if selection.runner == "cargo":
        is_one = "[workspace" not in text_of(place / "Cargo.toml")
        return runner.name == "cargo test" and (is_one or bool({"--workspace", "--all"} & set(selection.words)))
    return runner.name.partition(" ")[0] == selection.runner


def _pytest(selection: Selection, workspace: Workspace, bench: Bench) -> SuiteRun:
    if bench.interpreter is None:
        return SuiteRun(argv=(), exit_code=None, missing=NO_INTERPRETER)
    if not bench.has_pytest(bench.interpreter, workspace):
        return SuiteRun(argv=(), exit_code=None, missing=NO_PYTEST)
    env = dict(selection.env)
    words = (*shlex.split(env.pop("PYTEST_ADDOPTS", "")), *selection.words)
    if lost := _lost_files(words, workspace.folder / selection.folder):
        return _lost(SuiteRun(argv=("pytest", *words), exit_code=4), lost)
    run = run_pytest(words, workspace, bench, selection.folder, env)
    if run.problem and (found := _NOT_FOUND.search(f"{run.problem}\n{run.log}")):
        return _lost(run, (found[1].removeprefix(f"{workspace.folder}/"),))
    return run


def _unittest(selection: Selection, workspace: Workspace, bench: Bench) -> SuiteRun:
    asked = wanted(selection.words, workspace.folder / selection.folder)
    if asked.lost:
        return _lost(SuiteRun(argv=("python", "-m", "unittest", *selection.words), exit_code=1), asked.lost)
    if not asked.files:
        return SuiteRun(argv=("python", "-m", "unittest", *selection.words), exit_code=0)
    run = run_unittest(asked.files, asked.only, workspace, bench, selection.folder, dict(selection.env))
    top = f"{selection.folder}/" if selection.folder else ""
    return replace(run, cases=tuple(case for case in run.cases if asked.wants(case.id.removeprefix(top))))


def _javascript(selection: Selection, workspace: Workspace, bench: Bench) -> SuiteRun:
    """A pattern of names is applied to what was run: given to the runner it would leave the planted tests out."""
    call = _call(selection)
    if selection.runner == "node" and (lost := _lost_files(call.words, workspace.folder / selection.folder)):
        return _lost(SuiteRun(argv=("node", *selection.words), exit_code=1), lost)
    run = run_call(call, selection.folder, workspace, bench)
    try:
        patterns = [re.compile(text, flags) for text, flags in _name_patterns(selection.words)]
    except re.error as problem:
        return replace(run, problem=f"the pattern of names cannot be read: {problem}")
    if not patterns:
        return run
    return replace(run, cases=tuple(case for case in run.cases if _is_named(case, patterns)))


def _call(selection: Selection) -> RunnerCall:
    if selection.runner == "node":
        call = call_of(["node", *selection.words]) or RunnerCall(flavour="node")
        return replace(call, env=dict(selection.env))
    flavour: Flavour = "vitest" if selection.runner == "vitest" else "jest"
    return RunnerCall(flavour=flavour, words=selection.words, node_words=selection.node_words, env=dict(selection.env))


def _name_patterns(words: tuple[str, ...]) -> list[tuple[str, re.RegexFlag]]:
    found: list[tuple[str, re.RegexFlag]] = []
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in _NAME_PATTERNS:
            text = value if equals else "".join(words[at + 1 : at + 2])
            slashed = re.fullmatch(r"/(.*)/([a-z]*)", text, re.DOTALL)
            ignores_case = bool(slashed and "i" in slashed[2])
            found.append((slashed[1] if slashed else text, re.IGNORECASE if ignores_case else re.RegexFlag(0)))
    return found


def _is_named(case: TestCase, patterns: list[re.Pattern[str]]) -> bool:
    """A file that could not be loaded has no names to go by, and stays."""
    titles = case.id.partition("::")[2]
    names = (titles.replace(" > ", " "), *titles.split(" > "))
    return not titles or any(pattern.search(name) for pattern in patterns for name in names)


def _lost_files(words: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The source files among the words that are not there, as long as they are no patterns."""
    files = ((word, word.partition("::")[0]) for word in words if not word.startswith("-"))
    plain = ((word, file) for word, file in files if _SOURCE.search(file) and not re.search(r"[*?\[{]", file))
    return tuple(word for word, file in plain if not (folder / file).exists())


def _lost(run: SuiteRun, names: tuple[str, ...]) -> SuiteRun:
    """A run of nothing but failed tests: what was asked for by name is not there."""
    cases = tuple(told.case(name, "failed", message=NOT_THERE, kind="collection") for name in names)
    return replace(run, cases=cases, problem="")
