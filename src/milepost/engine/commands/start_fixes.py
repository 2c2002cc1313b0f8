"""What to do about a program that failed: the exact command or change, for each class of failure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from milepost.core.commands import CommandResult
from milepost.repair.packages import Package, Unknown
from milepost.sandbox.scripts import ScriptFailure

_PYTHON_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_NODE_PLACE = re.compile(r"(?:file://)?(/[^\s():]+):(\d+)(?::\d+)?")
_PATH = re.compile(r"'(/[^']+)'")
_BLOCKED = re.compile(r"(?:connect|host) (\S+?)(?::80|:443)?")
_NO_NETWORK = re.compile(r"name resolution|Name or service not known|Network is unreachable|EAI_AGAIN|ENETUNREACH")


_ADDING = {
    "python": {"uv.lock": "uv add", "poetry.lock": "poetry add", "Pipfile": "pipenv install"},
    "node": {"pnpm-lock.yaml": "pnpm add", "yarn.lock": "yarn add"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFacts:
    """What the proposals depend on: the folder, the names of its files, and its own environment, such as `.venv`.

    `networked` says that the sandbox does not limit the network.
    """

    folder: Path
    language: str
    files: frozenset[str] = frozenset()
    venv: str = ""
    networked: bool = False


def fix_for(
    failure: ScriptFailure, result: CommandResult, facts: ProjectFacts, package: Package | Unknown | None, problem: str
) -> str:
    """What to do about a failure, in one line. `problem` is why packages could not be installed."""
    place = place_in(failure.traceback, facts)
    if blocked := hosts_blocked(result.refused):
        return f"the sandbox blocked {', '.join(blocked)}: name what it may reach, as --network {','.join(blocked)}"
    if not facts.networked and failure.kind == "runtime" and _NO_NETWORK.search(failure.message + result.stderr):
        return "the sandbox blocks the network: name what it may reach, as --network HOST, or --network open"
    match failure.kind:
        case "import":
            return _import_fix(package, facts, problem) or f"correct the import{place}"
        case "syntax":
            return f"correct the syntax{place}"
        case "permission":
            return _permission_fix(failure, facts) or f"avoid what is not permitted{place}"
        case "timeout":
            limit = "give it more time with --timeout SECONDS, or none by leaving --timeout out"
            return limit if result.termination == "timeout" else f"look at what it waits for{place}"
        case "runtime":
            return f"correct the error{place}" if place else "read the error above"
        case "unknown":
            return _unknown_fix(result, problem)
        case _ as never:
            assert_never(never)


def keep_packages(packages: Sequence[str], facts: ProjectFacts) -> str:
    """How to have packages for good that are missing, or were installed for one run only."""
    words = shlex.join(packages)
    for file, command in _ADDING.get(facts.language, {}).items():
        if file in facts.files:
            return f"{command} {words}"
    if facts.language == "node":
        return f"npm install {words}"
    install = f"{facts.venv}/bin/python -m pip install {words}" if facts.venv else ""
    if "pyproject.toml" in facts.files and "requirements.txt" not in facts.files:
        listed = ", ".join(f'"{package}"' for package in packages)
        declare = f"add {listed} to dependencies of [project] in pyproject.toml"
        return f"{install}, and {declare}" if install else declare
    declare = f"printf '%s\\n' {words} >> requirements.txt"
    return f"{install} && {declare}" if install else declare


def place_in(traceback: str, facts: ProjectFacts) -> str:
    """` in app.py, line 3`: the last place of a traceback in the project's own files; empty where it names none."""
    found = _PYTHON_PLACE.findall(traceback)[::-1] or _NODE_PLACE.findall(traceback)
    for file, line in found:
        path = facts.folder / file
        if path.is_relative_to(facts.folder) and not {"node_modules", "site-packages", ".venv"} & set(path.parts):
            return f" in {path.relative_to(facts.folder).as_posix()}, line {line}"
    return ""


def hosts_blocked(refused: Sequence[str]) -> list[str]:
    """The hosts that the sandbox did not let a program connect to."""
    return sorted({found[1] for what in refused if (found := _BLOCKED.fullmatch(what))})


def _import_fix(package: Package | Unknown | None, facts: ProjectFacts, problem: str) -> str:
    match package:
        case Package():
            why = f" (it could not be installed for this run: {problem})" if problem else ""
            return keep_packages([package.requirement if facts.language != "node" else package.name], facts) + why
        case Unknown():
            return package.refusal
        case None:
            return ""


def _permission_fix(failure: ScriptFailure, facts: ProjectFacts) -> str:
    found = _PATH.search(failure.message)
    if found is None or Path(found[1]).is_relative_to(facts.folder):
        return ""
    return (
        f"keep its files below {facts.folder.name}/; to only read {found[1]}, "
        f'add it to readable of [sandbox] in milepost.toml: readable = ["{found[1]}"]'
    )


def _unknown_fix(result: CommandResult, problem: str) -> str:
    if problem:
        return f"install the project's dependencies: {problem}"
    match result.termination:
        case "not_started":
            return "install the program that is missing, or choose another entry point with --entry"
        case "memory" | "processes" | "disk":
            setting = {"memory": "memory_mb", "processes": "processes", "disk": "disk_mb"}[result.termination]
            return f"raise {setting} of [sandbox] in milepost.toml, or let the program use less"
        case _:
            return "it raised no exception: read its output above"
