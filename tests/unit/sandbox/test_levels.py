"""What a self-test means for the trust levels, and what is said to do about one that cannot be held."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from milepost.core.commands import TrustLevel
from milepost.core.errors import SandboxRefused
from milepost.sandbox import levels
from milepost.sandbox.levels import LevelTrial, Machine, level_on, open_executor, open_terminal, report_on

HELD = LevelTrial(held=("landlock-7", "scoped-signals", "seccomp", "porter"))
ROOM = LevelTrial(
    held=("user-namespace", "mount-namespace", "pid-namespace", "net-namespace", "private-root", "overlay")
)
STRONG = Machine(isolated=HELD, sandboxed=ROOM, monty="1.4.0")


def failed(stage: str, number: int | None = errno.EPERM) -> LevelTrial:
    return LevelTrial(stage=stage, error="why", errno=number)


WITHOUT_NAMESPACES = Machine(isolated=HELD, sandboxed=failed("namespaces"), monty="1.4.0")
WITHOUT_LANDLOCK = Machine(isolated=failed("landlock"), sandboxed=ROOM, monty="1.4.0")


def test_each_level_says_what_holds_it() -> None:
    assert [report_on(level, STRONG).detail for level in TrustLevel] == [
        "monty 1.4.0",
        "Landlock 7, seccomp, porter, rlimits",
        "+ user, mount, pid, net namespaces, private root, overlay",
    ]


@pytest.mark.parametrize(
    ("tried", "fix"),
    [
        (failed("landlock", errno.EOPNOTSUPP), "lsm= boot parameter"),
        (failed("landlock", errno.ENOSYS), "Linux 5.13"),
        (failed("machine", errno.ENOSYS), "x86_64 or aarch64"),
        (failed("seccomp", errno.EINVAL), "CONFIG_SECCOMP_FILTER"),
        (failed("platform", None), "run on Linux, or use a container"),
    ],
)
def test_what_keeps_isolated_from_holding_keeps_sandboxed_too_and_names_its_fix(tried: LevelTrial, fix: str) -> None:
    machine = Machine(isolated=tried, sandboxed=ROOM)
    for level in (TrustLevel.ISOLATED, TrustLevel.SANDBOXED):
        report = report_on(level, machine)
        assert not report.ok and report.detail == f"{tried.stage}: why" and fix in report.fix


@pytest.mark.parametrize(
    ("scope", "fix"),
    [
        ("1", "CONFIG_SECCOMP_FILTER"),
        ("2", "sysctl -w kernel.yama.ptrace_scope=1"),
        ("3", "put kernel.yama.ptrace_scope=1 into /etc/sysctl.d and restart the machine"),
    ],
)
def test_a_porter_who_may_not_look_at_his_guest_names_what_forbids_it(scope: str, fix: str) -> None:
    tried = failed("porter", errno.EACCES)
    machine = Machine(isolated=tried, sandboxed=ROOM, switches={"kernel.yama.ptrace_scope": scope})
    assert fix in report_on(TrustLevel.ISOLATED, machine).fix


@pytest.mark.parametrize(
    ("tried", "switches", "fix"),
    [
        (
            failed("namespaces"),
            {"kernel.apparmor_restrict_unprivileged_userns": "1", "user.max_user_namespaces": "100"},
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (failed("room", errno.EACCES), {"kernel.apparmor_restrict_unprivileged_userns": "1"}, "apparmor"),
        (
            failed("namespaces"),
            {"kernel.apparmor_restrict_unprivileged_userns": "0", "kernel.unprivileged_userns_clone": "0"},
            "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (failed("namespaces", errno.ENOSPC), {"user.max_user_namespaces": "0"}, "user.max_user_namespaces=15000"),
        (failed("namespaces"), {"user.max_user_namespaces": "100"}, "seccomp=unconfined"),
        (failed("room"), {}, "systempaths=unconfined"),
        (failed("room", errno.ENODEV), {}, "modprobe overlay"),
        (failed("overlay", errno.EIO), {}, "Linux 6.6"),
    ],
)
def test_the_very_switch_that_forbids_namespaces_is_named(
    tried: LevelTrial, switches: dict[str, str], fix: str
) -> None:
    machine = Machine(isolated=HELD, sandboxed=tried, switches=switches)
    assert report_on(TrustLevel.ISOLATED, machine).ok
    report = report_on(TrustLevel.SANDBOXED, machine)
    assert not report.ok and fix in report.fix


def test_a_level_that_cannot_be_held_is_refused_with_the_missing_piece() -> None:
    assert level_on(STRONG, TrustLevel.SANDBOXED, allow_downgrade=True) == (TrustLevel.SANDBOXED, False)
    with pytest.raises(SandboxRefused, match="'sandboxed' is not available here: namespaces: why"):
        level_on(WITHOUT_NAMESPACES, TrustLevel.SANDBOXED, allow_downgrade=False)


def test_a_level_is_weakened_only_when_that_is_allowed_and_never_to_local() -> None:
    weaker = level_on(WITHOUT_NAMESPACES, TrustLevel.SANDBOXED, allow_downgrade=True)
    assert weaker == (TrustLevel.ISOLATED, True)
    for wanted in (TrustLevel.ISOLATED, TrustLevel.SANDBOXED):
        with pytest.raises(SandboxRefused, match="'isolated' is not available here"):
            level_on(WITHOUT_LANDLOCK, wanted, allow_downgrade=True)


def test_local_without_its_interpreter_says_how_to_get_it() -> None:
    report = report_on(TrustLevel.LOCAL, Machine(isolated=HELD, sandboxed=ROOM))
    assert not report.ok and "pip install pydantic-monty" in report.fix


def test_local_runs_no_programs() -> None:
    with pytest.raises(SandboxRefused, match="runs no programs"):
        open_terminal(TrustLevel.LOCAL)


def test_a_room_without_an_overlay_runs_programs_but_holds_no_changes_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    room = LevelTrial(held=tuple(name for name in ROOM.held if name != "overlay"))
    monkeypatch.setattr(levels, "this_machine", lambda: Machine(isolated=HELD, sandboxed=room))
    levels.require(TrustLevel.SANDBOXED)
    with pytest.raises(SandboxRefused, match="kept apart"):
        open_executor(TrustLevel.SANDBOXED, workspace=tmp_path)
