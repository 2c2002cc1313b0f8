"""Runs the tests of a Rust package or workspace with cargo, without the network."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from milepost.core.attempt import Workspace
from milepost.core.commands import CommandResult
from milepost.core.verdict import TestCase
from milepost.verify.command_runner import Bench, last_line
from milepost.verify.suites.failure_kinds import kind_of
from milepost.verify.suites.runners import libtest, told
from milepost.verify.suites.runners.cargo_planting import (
    NOTHING_PLANTED,
    CargoPlanting,
    is_without_harness,
    planting,
)
from milepost.verify.suites.runners.libtest import ProgramOutput
from milepost.verify.suites.runners.lines import Lines
from milepost.verify.suites.runners.must_fail import without
from milepost.verify.suites.suite import SuiteRun
from milepost.verify.witness.swap import swapped

FAILED = 101
_OFFLINE = ("--offline", "--color=never")
_MERGED = ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh")  # which program prints what is told by the order alone
_NO_TOOLCHAIN = "error: rustup could not choose a version of cargo to run"  # which no file of a project brings about
NO_TOOLCHAIN = "cargo has no toolchain: rustup default stable"
_OFFLINE_HINT = "you're using offline mode (--offline)"
_UNRESOLVED = ("error: no matching package", "error: failed to select a version", "error: failed to get")
_PACKAGE = re.compile(r"(?:no matching package(?: named)?|failed to select a version for)[^`]*`([^`]+)`")
_SAID_BY_US = frozenset(
    {"-q", "--quiet", "-v", "-vv", "--verbose", "--offline", "--color", "--no-fail-fast", "--message-format"}
    | {"--nocapture", "--no-capture", "--show-output", "--format", "--target-dir"}
)
_WITH_VALUE = frozenset(
    {"--test", "--bin", "--example", "--bench", "-p", "--package", "--exclude", "-j", "--jobs", "--profile", "-F"}
    | {"--features", "--target", "--manifest-path", "--config", "-Z", "--skip", "--test-threads", "--logfile"}
    | {"--shuffle-seed", "--lockfile-path"}
)
_PANIC = re.compile(
    r"^thread '.*' (?:\(\d+\) )?panicked at [^\n]*\n(?P<message>.*?)(?=\nstack backtrace|\nnote: |\Z)", re.M | re.S
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CargoTarget:
    """A test program: the file it is made from, the option that selects it, and where it was built.

    Without Rust's own `harness` it tells nothing but its exit code.
    """

    source: str
    select: tuple[str, ...]
    program: str = ""
    harness: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What cargo could build, and what it could not with the compiler's words.

    `documented` means that there is a library whose documentation may hold tests.
    """

    targets: tuple[CargoTarget, ...] = ()
    broken: tuple[tuple[CargoTarget, str], ...] = ()
    documented: bool = False
    finished: bool = False


@dataclass(frozen=True, slots=True)
class CargoRunner:
    name: str = "cargo test"

    def finds(self, folder: Path) -> bool:
        return (folder / "Cargo.toml").is_file()

    def run(self, folder: str, workspace: Workspace, bench: Bench, only: tuple[str, ...] = ()) -> SuiteRun:
        """Build first, so that a test that does not compile is one that fails, and the others are run."""
        env = {"CARGO_TARGET_DIR": str(workspace.scratch / "cargo-target"), "CARGO_TERM_COLOR": "never"}
        laid = planting(folder, workspace, bench, env)
        with swapped(workspace.folder, laid.files):
            return told.chosen(_run(folder, workspace, bench, env, names_of(only), laid), only)


def _run(
    folder: str,
    workspace: Workspace,
    bench: Bench,
    env: Mapping[str, str],
    names: tuple[str, ...],
    laid: CargoPlanting,
) -> SuiteRun:
    gathered = Lines()
    argv = build_command()
    result = bench.run(argv, workspace, cwd=folder, env=env, on_line=gathered)
    built = built_from(gathered.lines, workspace.folder)
    building = told.run_of(argv, result, cases=_broken_cases(built))
    if building.missing:
        return building
    if not gathered.lines and (lacking := _lacking(result.stderr)):
        return replace(building, missing=lacking)
    if result.termination != "exited" or not built.finished or (result.exit_code and not built.broken):
        return told.run_of(argv, result, problem=told.unfinished(argv, result, bench))
    runs = [building]
    for argv, planted in zip(
        commands(built, names), commands(built, (*names, *laid.names) if names else ()), strict=True
    ):
        gathered = Lines()
        result = bench.run(planted, workspace, cwd=folder, env=env, on_line=gathered)
        runs.append(run_from(argv, result, gathered.lines, built, folder, bench, laid))
    return told.combined(tuple(runs))


def _lacking(said: str) -> str:
    """What the machine lacks where cargo could not even begin to build; empty where it is something else."""
    if said.startswith(_NO_TOOLCHAIN):
        return NO_TOOLCHAIN
    if _OFFLINE_HINT not in said or not said.startswith(_UNRESOLVED):
        return ""
    named = _PACKAGE.search(said)
    return f"crates that it needs are not on this machine: {named[1] if named else last_line(said)}"


def run_words(
    words: tuple[str, ...], folder: str, workspace: Workspace, bench: Bench, env: Mapping[str, str]
) -> SuiteRun:
    """Run `cargo test` with the words of somebody's command line, such as `--test hours night -- --exact`."""
    env = {**env, "CARGO_TARGET_DIR": str(workspace.scratch / "cargo-target"), "CARGO_TERM_COLOR": "never"}
    laid = planting(folder, workspace, bench, env, ignored="--ignored" in words)
    with swapped(workspace.folder, laid.files):
        return _run_words(_readable(words), folder, workspace, bench, env, laid)


def _run_words(
    wanted: tuple[str, ...],
    folder: str,
    workspace: Workspace,
    bench: Bench,
    env: Mapping[str, str],
    laid: CargoPlanting,
) -> SuiteRun:
    options = wanted[: wanted.index("--")] if "--" in wanted else wanted
    argv = ("cargo", "test", "--no-run", "--message-format=json", *_OFFLINE, *options)
    gathered = Lines()
    result = bench.run(argv, workspace, cwd=folder, env=env, on_line=gathered)
    built = built_from(gathered.lines, workspace.folder)
    building = told.run_of(argv, result, cases=_broken_cases(built))
    if building.missing or built.broken:
        return building
    if not gathered.lines and (lacking := _lacking(result.stderr)):
        return replace(building, missing=lacking)
    if result.termination != "exited" or result.exit_code:
        return replace(building, problem=told.unfinished(argv, result, bench))
    test = (*_MERGED, "cargo", "test", "--no-fail-fast", *_OFFLINE)
    gathered = Lines()
    result = bench.run((*test, *selecting(wanted, laid.names)), workspace, cwd=folder, env=env, on_line=gathered)
    return run_from((*test, *wanted), result, gathered.lines, built, folder, bench, laid)


def selecting(words: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """The words with these tests selected as well where they select tests by name."""
    by_name = any(not word.startswith("-") and before not in _WITH_VALUE for before, word in pairwise(("", *words)))
    return (*words, *(() if "--" in words else ("--",)), *names) if by_name else words


def _readable(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without those that change what is printed, which is what is read."""
    return tuple(word for word in words if word.partition("=")[0] not in _SAID_BY_US)


def run_from(
    argv: tuple[str, ...],
    result: CommandResult,
    lines: list[str],
    built: Built,
    folder: str,
    bench: Bench,
    laid: CargoPlanting = NOTHING_PLANTED,
) -> SuiteRun:
    """One run of test programs by cargo."""
    sections = libtest.read(lines)
    doubts = [laid.doubt(section, _source(section, built, folder), lines) for section in sections]
    taken_out = [laid.take_out(section) for section in sections]
    cases = cases_of(sections, built, folder)
    only_planted = any(taken_out) and not any(case.outcome == "failed" for case in cases)
    exit_code = result.exit_code
    if result.termination != "exited":
        problem = told.unfinished(("cargo",), result, bench)
    elif any(doubts):
        problem = next(filter(None, doubts))
    elif only_planted and exit_code == 0:
        problem = "exit 0, though a planted test failed"
    else:
        exit_code = 0 if only_planted and exit_code == FAILED else exit_code
        problem = told.contradiction(exit_code, cases, failing=(FAILED,))
    return told.run_of(argv, replace(without(result, laid.all), exit_code=exit_code), cases=cases, problem=problem)


def build_command() -> tuple[str, ...]:
    """Every test program, and the examples that `cargo test` would build; what is broken does not stop the rest."""
    kinds = ("--tests", "--examples")
    profile = ("--profile", "test")  # what `cargo test` builds with, so that the same programs are run
    return ("cargo", "build", *profile, *kinds, "--workspace", "--keep-going", "--message-format=json", *_OFFLINE)


def commands(built: Built, names: tuple[str, ...] = ()) -> tuple[tuple[str, ...], ...]:
    """What runs all that was built; with something broken, the rest has to be named. Documentation is apart."""
    test = (*_MERGED, "cargo", "test", "--no-fail-fast", "--workspace", *_OFFLINE)
    filters = ("--", "--exact", *names) if names else ()
    selected = dict.fromkeys(target.select for target in built.targets) if built.broken else {("--tests",): None}
    programs = (*test, *(word for select in selected for word in select), *filters)
    return (
        *((programs,) if built.targets else ()),
        *(((*test, "--doc"),) if built.documented and not names else ()),
    )


def names_of(ids: tuple[str, ...]) -> tuple[str, ...]:
    """The names the harness knows these tests by; none, and so all, where one of them has no such name."""
    names = [each.partition("::")[2] for each in ids]
    if any(not name or name.startswith(_DOCUMENTATION) for name in names):
        return ()
    return tuple(dict.fromkeys(re.sub(r" #\d+$", "", name) for name in names))


def built_from(lines: list[str], checkout: Path) -> Built:
    """What cargo's messages tell of a build."""
    targets: dict[str, CargoTarget] = {}
    broken: dict[str, tuple[CargoTarget, str]] = {}
    documented, tested = set[str](), set[str]()  # a library that is only depended on is not among the tested
    finished = False
    for line in lines:
        message = _json(line)
        if message.get("reason") == "compiler-artifact" and _is_documented(message, checkout):
            documented.add(message.get("package_id", ""))
        match message.get("reason"):
            case "compiler-artifact" if message.get("executable") and message["profile"]["test"]:
                targets[message["executable"]] = _target(message, checkout)
                tested.add(message.get("package_id", ""))
            case "compiler-message" if message["message"]["level"] == "error":
                target = _target(message, checkout)
                broken.setdefault(target.source, (target, message["message"].get("rendered") or ""))
                tested.add(message.get("package_id", ""))
            case "build-finished":
                finished = True
    return Built(
        targets=tuple(targets.values()),
        broken=tuple(broken.values()),
        documented=bool(documented & tested),
        finished=finished,
    )


def cases_of(sections: tuple[ProgramOutput, ...], built: Built, folder: str) -> tuple[TestCase, ...]:
    """The cases of all test programs; one that did not come to its end is itself a failed case."""
    found: list[TestCase] = []
    for section in sections:
        target = _target_of(section, built)
        source = _source(section, built, folder)
        if target and not target.harness:
            found.append(told.case(source, "failed" if section.failed else "passed", kind="unknown"))
            continue
        for name, outcome, reason in section.tests:
            found.append(_case(section, source, folder, name, outcome, reason))
        if not section.finished:
            message = "the test program ended before its tests did"
            found.append(told.case(source, "failed", message=message, kind="runtime"))
    return told.numbered(found)


def _target_of(section: ProgramOutput, built: Built) -> CargoTarget | None:
    name = Path(section.program).name
    return next(
        (target for target in reversed(built.targets) if target.program and Path(target.program).name == name), None
    )


def _source(section: ProgramOutput, built: Built, folder: str) -> str:
    target = _target_of(section, built)
    return target.source if target else told.within(folder, section.crate or section.program)


_DOCUMENTATION = "documentation"


def _case(section: ProgramOutput, source: str, folder: str, name: str, outcome: Any, reason: str) -> TestCase:
    if section.crate:
        file, _, item = libtest.plain_doctest(name).partition(" - ")
        ident = f"{told.within(folder, file)}::{_DOCUMENTATION} {item}".rstrip()
    else:
        ident = f"{source}::{name}"
    if outcome != "failed":
        return told.case(ident, outcome, message=reason)
    text = section.failure(name)
    panic = _PANIC.search(text)
    message = " ".join(panic["message"].split()) if panic else text
    return told.case(ident, "failed", message=message, traceback=text, kind=kind_of("", message, text, False))


def _broken_cases(built: Built) -> tuple[TestCase, ...]:
    return tuple(
        told.case(target.source, "failed", message=text, traceback=text, kind=_kind_of_build(text))
        for target, text in built.broken
    )


def _kind_of_build(text: str) -> Any:
    return "import" if re.search(r"unresolved import|can't find crate|unlinked crate", text) else "collection"


def _target(message: dict[str, Any], checkout: Path) -> CargoTarget:
    target = message["target"]
    kind = target["kind"][0]
    option = kind if kind in ("bin", "test", "example", "bench") else ""
    source = os.path.relpath(os.path.realpath(target["src_path"]), os.path.realpath(checkout))
    return CargoTarget(
        source=source,
        select=(f"--{option}", target["name"]) if option else ("--lib",),
        program=message.get("executable") or "",
        harness=not is_without_harness(Path(message["manifest_path"]), kind, target["name"]),
    )


def _is_documented(message: dict[str, Any], checkout: Path) -> bool:
    ours = os.path.realpath(message["target"]["src_path"]).startswith(os.path.realpath(checkout) + "/")
    return ours and bool(message["target"].get("doctest")) and not message["profile"]["test"]


def _json(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
