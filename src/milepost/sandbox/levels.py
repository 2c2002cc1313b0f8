"""The trust levels: which this machine can hold, and the way to open one."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, assert_never

from milepost.core.commands import NO_NETWORK, ExecutionLimits, Network, TrustLevel
from milepost.core.errors import SandboxRefused
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.fix_advice import SWITCHES, remedy
from milepost.sandbox.terminal import WalledTerminal

_WALLS = Path(__file__).parent
_START = "import sys; sys.path.insert(0, sys.argv[1]); from walls.selftest import main; main()"
_MONTY = "pydantic-monty"
_LONGEST_SELF_TEST_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReport:
    """Whether this machine can hold a level; `detail` says with what, or what is missing; `fix` what to do then."""

    level: TrustLevel
    ok: bool
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTrial:
    """What came of raising a level's walls: the names of those that held, or the stage that failed and why."""

    held: tuple[str, ...] = ()
    stage: str = ""
    error: str = ""
    errno: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What is known of this machine: both levels that the kernel holds as tried out, and how its switches are set."""

    isolated: LevelTrial
    sandboxed: LevelTrial
    switches: Mapping[str, str] = field(default_factory=dict)
    monty: str | None = None


def open_terminal(
    trust: TrustLevel,
    *,
    held_fds: tuple[int, ...] = (),
    extra_readable: tuple[Path, ...] = (),
    in_checkouts: bool = False,
) -> WalledTerminal:
    """A terminal at exactly this level; refuses rather than offer another."""
    require_programs(trust)
    require(trust)
    return WalledTerminal(held_fds=held_fds, extra_readable=extra_readable, in_checkouts=in_checkouts, trust=trust)


def open_executor(
    trust: TrustLevel,
    limits: ExecutionLimits | None = None,
    *,
    workspace: Path | None = None,
    network: Network = NO_NETWORK,
    direct: bool = False,
) -> WalledExecutor:
    """An executor of Python at exactly this level, one that the kernel holds; refuses rather than offer another.

    With `direct` its workspace is a checkout: it changes that itself, as commands do, and holds nothing back.
    """
    if trust is TrustLevel.LOCAL:
        raise SandboxRefused("trust level 'local' is not enforced by the kernel", "use trust level 'isolated'")
    require(trust)
    holds_back = trust is TrustLevel.SANDBOXED and workspace is not None and not direct
    if holds_back and "overlay" not in this_machine().sandboxed.held:
        missing = "changes cannot be kept apart from the workspace here: overlays in memory need Linux 6.6"
        raise SandboxRefused(missing, "use trust level 'isolated', which changes the folder itself, or no workspace")
    return WalledExecutor(limits, workspace=workspace, trust=trust, network=network, direct=direct)


def strongest() -> TrustLevel:
    """The strongest level of those that the kernel holds; refuses when this machine can hold neither."""
    return level_on(this_machine(), TrustLevel.SANDBOXED, allow_downgrade=True)[0]


def level_for(wanted: TrustLevel, *, allow_downgrade: bool) -> tuple[TrustLevel, bool]:
    """The level to use, and whether it is weaker than the one wanted, which happens only if that is allowed."""
    return level_on(this_machine(), wanted, allow_downgrade=allow_downgrade)


def ladder() -> tuple[LevelReport, ...]:
    """Every level from the weakest to the strongest, and whether it can be had here."""
    return tuple(report_on(level, this_machine()) for level in TrustLevel)


def require_programs(level: TrustLevel) -> None:
    """Raise SandboxRefused for a level at which no program can be run."""
    if level is TrustLevel.LOCAL:
        raise SandboxRefused("trust level 'local' runs no programs", "use trust level 'isolated'")


def require(level: TrustLevel) -> None:
    """Raise SandboxRefused unless this machine can hold the level."""
    level_on(this_machine(), level, allow_downgrade=False)


@cache
def this_machine() -> Machine:
    """What this machine can hold, found out by raising the walls around throw-away processes; asked once."""
    monty = None
    with contextlib.suppress(metadata.PackageNotFoundError):
        monty = metadata.version(_MONTY)
    if sys.platform != "linux":
        tried = LevelTrial(stage="platform", error=f"there is no Landlock on {sys.platform}")
        return Machine(isolated=tried, sandboxed=tried, monty=monty)
    argv = [sys.executable, "-I", "-S", "-c", _START, str(_WALLS)]
    said, problems = _said_by(argv)
    try:
        found: dict[str, dict[str, Any]] = json.loads(said)
    except ValueError:
        tried = LevelTrial(stage="self-test", error=f"the self-test failed: {problems.strip()[-300:]}")
        return Machine(isolated=tried, sandboxed=tried, monty=monty)
    levels = {level: LevelTrial(**{**facts, "held": tuple(facts.get("held", ()))}) for level, facts in found.items()}
    return Machine(**levels, switches=_switches(), monty=monty)


def _said_by(argv: list[str]) -> tuple[str, str]:
    """What a self-test printed, and what it complained of; into files, so that nothing it left can keep us waiting."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as problems:
        try:
            subprocess.run(argv, stdout=said, stderr=problems, check=False, timeout=_LONGEST_SELF_TEST_S)
        except subprocess.TimeoutExpired:
            return "", f"it took longer than {_LONGEST_SELF_TEST_S} s"
        for file in (said, problems):
            file.seek(0)
        return said.read(), problems.read()


def level_on(machine: Machine, wanted: TrustLevel, *, allow_downgrade: bool) -> tuple[TrustLevel, bool]:
    """As `level_for`, on any machine: what may stand in for sandboxed is isolated, and nothing for that."""
    report = report_on(wanted, machine)
    if report.ok:
        return wanted, False
    if wanted is TrustLevel.SANDBOXED and allow_downgrade:
        return level_on(machine, TrustLevel.ISOLATED, allow_downgrade=False)[0], True
    raise SandboxRefused(f"trust level {wanted.value!r} is not available here: {report.detail}", report.fix)


def report_on(level: TrustLevel, machine: Machine) -> LevelReport:
    """What is known of a machine means this for a level."""
    match level:
        case TrustLevel.LOCAL if machine.monty is None:
            fix = f"pip install {_MONTY}, or use trust level 'isolated'"
            return LevelReport(level=level, ok=False, detail=f"{_MONTY} is not installed", fix=fix)
        case TrustLevel.LOCAL:
            return LevelReport(level=level, ok=True, detail=f"monty {machine.monty}")
        case TrustLevel.ISOLATED:
            return _report(level, machine.isolated, machine) or _holds(level, _strength(machine.isolated.held))
        case TrustLevel.SANDBOXED:
            failed = _report(level, machine.isolated, machine) or _report(level, machine.sandboxed, machine)
            return failed or _holds(level, _rooms(machine.sandboxed.held))
        case _ as never:
            assert_never(never)


def _report(level: TrustLevel, tried: LevelTrial, machine: Machine) -> LevelReport | None:
    if tried.held:
        return None
    fix = remedy(tried.stage, tried.errno, machine.switches)
    return LevelReport(level=level, ok=False, detail=f"{tried.stage}: {tried.error}", fix=fix)


def _holds(level: TrustLevel, detail: str) -> LevelReport:
    return LevelReport(level=level, ok=True, detail=detail)


def _strength(held: tuple[str, ...]) -> str:
    abi = next(int(name.removeprefix("landlock-")) for name in held if name.startswith("landlock-"))
    others = [name.replace("-", " ") for name in held if name in ("seccomp", "porter", "private-shm", "no-shm")]
    return ", ".join([f"Landlock {abi}", *others, "rlimits"])


def _rooms(held: tuple[str, ...]) -> str:
    spaces = ", ".join(name.removesuffix("-namespace") for name in held if name.endswith("-namespace"))
    others = ", ".join(name.replace("-", " ") for name in held if not name.endswith("-namespace"))
    return f"+ {spaces} namespaces, {others}"


def _switches() -> dict[str, str]:
    found = {}
    for name in SWITCHES:
        with contextlib.suppress(OSError):
            found[name] = Path("/proc/sys", *name.split(".")).read_text().strip()
    return found
