"""The trust levels: which this machine can hold, and the way to open one."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, assert_never

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.errors import SandboxRefused
from milepost.sandbox.executor import IsolatedExecutor
from milepost.sandbox.terminal import IsolatedTerminal

_CONFINE = Path(__file__).parent / "walls/confine.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReport:
    """Whether this machine can hold a level; `detail` says with what, or what is missing; `fix` what to do then."""

    level: TrustLevel
    ok: bool
    detail: str
    fix: str = ""


def open_terminal(
    trust: TrustLevel,
    *,
    held_fds: tuple[int, ...] = (),
    extra_readable: tuple[Path, ...] = (),
) -> IsolatedTerminal:
    """A terminal at exactly this level; refuses rather than offer another."""
    require(trust)
    return IsolatedTerminal(held_fds=held_fds, extra_readable=extra_readable)


def open_executor(
    trust: TrustLevel,
    limits: ExecutionLimits | None = None,
    *,
    workspace: Path | None = None,
) -> IsolatedExecutor:
    """An executor at exactly this level; refuses rather than offer another."""
    require(trust)
    return IsolatedExecutor(limits, workspace=workspace)


def strongest() -> TrustLevel:
    """The strongest level this machine can hold; refuses when there is none."""
    for report in reversed(ladder()):
        if report.ok:
            return report.level
    require(TrustLevel.ISOLATED)
    raise AssertionError("unreachable: a level that is not refused is in the ladder")


def ladder() -> tuple[LevelReport, ...]:
    """Every level from the weakest to the strongest, and whether it can be had here."""
    return tuple(report_on(level, probe()) for level in TrustLevel)


def require(level: TrustLevel) -> None:
    """Raise SandboxRefused unless this machine can hold the level."""
    report = report_on(level, probe())
    if not report.ok:
        raise SandboxRefused(f"trust level {level.value!r} cannot be held here: {report.detail}", report.fix)


@cache
def probe() -> Mapping[str, Any]:
    """What came of putting a throw-away process behind Landlock; asked once in the life of this process."""
    if sys.platform != "linux":
        return {"error": f"there is no Landlock on {sys.platform}", "errno": None}
    tried = subprocess.run([sys.executable, "-I", "-S", str(_CONFINE)], capture_output=True, text=True, check=False)
    try:
        found: Mapping[str, Any] = json.loads(tried.stdout)
    except ValueError:
        return {"error": f"the self-test failed: {tried.stderr.strip()[-300:]}", "errno": None}
    return found


def report_on(level: TrustLevel, probed: Mapping[str, Any]) -> LevelReport:
    """What a probe means for a level."""
    match level:
        case TrustLevel.LOCAL | TrustLevel.SANDBOXED:
            detail = "this level is not built yet; 'isolated' is"
            return LevelReport(level=level, ok=False, detail=detail, fix="use trust level 'isolated'")
        case TrustLevel.ISOLATED:
            if "held" in probed:
                return LevelReport(level=level, ok=True, detail=_strength(probed["held"]))
            return LevelReport(level=level, ok=False, detail=str(probed["error"]), fix=_fix(probed.get("errno")))
        case _ as never:
            assert_never(never)


def _strength(held: list[str]) -> str:
    abi = next(int(name.removeprefix("landlock-")) for name in held if name.startswith("landlock-"))
    gaps = []
    if abi < 3:
        gaps.append("files outside can be truncated (fixed in Linux 6.2)")
    if abi < 6:
        gaps.append("signals to the user's other processes are not stopped (fixed in Linux 6.12)")
    return "; ".join([f"Landlock version {abi}", *gaps])


def _fix(number: int | None) -> str:
    if number == errno.EOPNOTSUPP:
        return "Landlock is compiled in but switched off: add landlock to the kernel's lsm= boot parameter"
    return "run on Linux 5.13 or later with landlock in the kernel's lsm list; it is not available on macOS"
