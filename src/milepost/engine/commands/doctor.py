"""What works on this machine and what is missing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from milepost.agents.names import AVAILABLE, OURS
from milepost.agents.programs.availability import Availability
from milepost.core.commands import TrustLevel
from milepost.core.errors import MilepostError, SandboxRefused
from milepost.engine.agents.factory import make_agent, standings_of
from milepost.engine.project.project import find_roadmap, state_of
from milepost.engine.project.settings.load import load, unanswered
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.state_place import OPEN_FOLDER
from milepost.engine.terminals.interpreter import outside_environment
from milepost.sandbox.container import engines as here
from milepost.sandbox.container.commands import PROGRAMS, Container, Program
from milepost.sandbox.levels import ladder
from milepost.sandbox.typescript.deno import find_deno
from milepost.sandbox.walls import cgroup
from milepost.verify.suites.python_project import find_interpreter
from milepost.workspace.checkout_places import checkouts_folder

OLDEST_GIT = (2, 38)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. What is not ok and is `needed` keeps milepost from working."""

    area: str
    name: str
    ok: bool
    detail: str = ""
    needed: bool = False


def examine(folder: Path) -> tuple[Finding, ...]:
    """Look at everything a run needs."""
    return (
        Finding(area="python", name=platform.python_version(), ok=sys.version_info >= (3, 11), needed=True),
        _git(),
        *_sandbox(),
        *_containers(folder),
        *_unanswered(folder),
        *_agents(folder),
        _store(folder),
        _checkouts(folder),
        _python(folder),
        _typescript(),
    )


def _git() -> Finding:
    if shutil.which("git") is None:
        return Finding(area="git", name="git", ok=False, detail="not found: apt-get install git", needed=True)
    said = subprocess.run(["git", "--version"], cwd="/", capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)\S*", said)
    ok = found is not None and (int(found[1]), int(found[2])) >= OLDEST_GIT
    detail = "" if ok else f"{'.'.join(map(str, OLDEST_GIT))} or newer is needed, for merges without a checkout"
    return Finding(area="git", name=found[0] if found else "?", ok=ok, detail=detail, needed=True)


def _sandbox() -> tuple[Finding, ...]:
    """The ladder of trust levels; the strongest says what control groups add to it."""
    reports = ladder()
    groups = {TrustLevel.SANDBOXED: f" · {groups_in_words(cgroup.probe())}"}
    any_holds = any(report.ok for report in reports if report.level is not TrustLevel.LOCAL)
    return tuple(
        Finding(
            area="sandbox",
            name=report.level.value,
            ok=report.ok,
            detail=report.detail + groups.get(report.level, "") if report.ok else f"{report.detail}; {report.fix}",
            needed=not any_holds,
        )
        for report in reports
    )


def groups_in_words(offer: cgroup.Offer) -> str:
    """`cgroup: pids; memory by watchdog`: what the kernel bounds for a whole tree, and whether we watch its memory."""
    groups = f"cgroup: {', '.join(offer.places) or 'none'}"
    return f"{groups}; memory by watchdog" if "memory" in offer.missing else groups


def _agents(folder: Path) -> tuple[Finding, ...]:
    """Our own, the programs that are here, and those that are not, in one line; then what needs nothing."""
    settings = _settings(folder)
    standings = standings_of(settings, folder)
    here = [one for one in standings if one.program]
    absent = [one.name for one in standings if not one.program]
    missing = Finding(area="agents", name=", ".join(absent), ok=False, detail="not found on PATH")
    others = (name for name in AVAILABLE if name.endswith(("ARGV", "NAME", "FILE")) and not name.startswith("acp"))
    return (
        *(_ours(name, settings) for name in OURS),
        *(_program(one) for one in here),
        *([missing] if absent else []),
        *(Finding(area="agents", name=name, ok=True) for name in others),
    )


def _ours(name: str, settings: Settings) -> Finding:
    try:
        make_agent(name, settings, Path())
    except MilepostError as error:
        return Finding(area="agents", name=name, ok=False, detail=f"{error.message}: {error.advice}")
    return Finding(area="agents", name=name, ok=True, detail=settings.model.name)


def _program(standing: Availability) -> Finding:
    if standing.usable:
        how = {"key": "with a key", "login": "signed in", "no": "needs no key"}[standing.signed_in]
        return Finding(area="agents", name=standing.name, ok=True, detail=f"{standing.version}, {how}")
    problem = " ".join(standing.problem.split())
    return Finding(area="agents", name=standing.name, ok=False, detail=f"{problem}; {standing.advice}")


def _settings(folder: Path) -> Settings:
    """Those of the folder; where they cannot be read, which a run would say, the doctor looks on without."""
    try:
        return load(folder)
    except MilepostError:
        return Settings()


def _unanswered(folder: Path) -> tuple[Finding, ...]:
    """The settings that nobody agreed to yet; the rest of the doctor looks on without them."""
    try:
        question = unanswered(folder)
    except MilepostError:
        return ()
    if question is None:
        return ()
    keys = ", ".join(one.key for one in question.asked if one.now)
    return (Finding(area="settings", name=keys, ok=False, detail="wait for your agreement: milepost settings agree"),)


def _containers(folder: Path) -> tuple[Finding, ...]:
    """Those that are there; only the one that the settings name is asked, because podman leaves a process behind."""
    named = _settings(folder).sandbox.container
    found = tuple(
        _container(program)
        if program == named
        else Finding(
            area="container", name=program, ok=True, detail="found; only checked if container under [sandbox] names it"
        )
        for program in PROGRAMS
        if shutil.which(program)
    )
    missing = "not found: install one of them to run commands in containers"
    return found or (Finding(area="container", name=", ".join(PROGRAMS), ok=False, detail=missing),)


def _container(program: Program) -> Finding:
    try:
        facts = here.require_program(Container(program=program, image=""))
    except SandboxRefused as refused:
        return Finding(area="container", name=program, ok=False, detail=f"{refused.message}; {refused.advice}")
    return Finding(area="container", name=f"{program} {here.version(facts)}".rstrip(), ok=True)


def _store(folder: Path) -> Finding:
    try:
        state = state_of(find_roadmap(start=folder))
    except MilepostError as error:
        return Finding(area="store", name="state", ok=False, detail=f"{error.message}: {error.advice}")
    place = next(path for path in (state, *state.parents) if path.exists())
    if not os.access(place, os.W_OK):
        return Finding(area="store", name="state", ok=False, detail=f"{place} is not writable", needed=True)
    return Finding(area="store", name="state", ok=True, detail=f"SQLite {sqlite3.sqlite_version} WAL")


def _checkouts(folder: Path) -> Finding:
    place = checkouts_folder(folder / OPEN_FOLDER, _settings(folder).workspace.checkouts)
    existing = next(parent for parent in place.parents if parent.exists())
    ok = os.access(existing, os.W_OK)
    free = f"{shutil.disk_usage(existing).free / 1e9:.1f} GB free"
    detail = free if ok else f"{existing} is not writable: set MILEPOST_CHECKOUTS to a writable folder"
    return Finding(area="checkouts", name=str(place.parent), ok=ok, detail=detail, needed=True)


def _python(folder: Path) -> Finding:
    interpreter = find_interpreter(folder, outside_environment(os.environ, folder))
    if interpreter is None:
        return Finding(
            area="languages", name="python", ok=False, detail="no Python interpreter found for the project's tests"
        )
    return Finding(area="languages", name="python", ok=True, detail=str(interpreter.path))


def _typescript() -> Finding:
    try:
        deno = find_deno()
    except SandboxRefused as refused:
        return Finding(area="languages", name="typescript", ok=False, detail=f"{refused.message}; {refused.advice}")
    said = subprocess.run([deno, "--version"], cwd="/", capture_output=True, text=True, check=False).stdout.split()
    ok = len(said) > 1
    detail = f"deno {said[1]}" if ok else f"{deno} does not start; pip install --force-reinstall deno"
    return Finding(area="languages", name="typescript", ok=ok, detail=detail)
