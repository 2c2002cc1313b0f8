"""What commands may reach over the network and use of the machine: by who asks for them, as the settings say."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.commands import Bounds, Network
from milepost.engine.project.network_setting import NetworkSetting, network_of
from milepost.engine.project.settings.sandbox import SandboxSettings
from milepost.engine.project.settings.settings import Settings

_DISK_MB = 20_000
_CGROUP_BOUND = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLimits:
    """What a command may reach and use."""

    network: Network
    bounds: Bounds


def for_checks(settings: Settings) -> CommandLimits:
    """What the project's own commands may, when they are checks."""
    return _allowance(settings.sandbox, settings.sandbox.network)


def for_installers(settings: Settings) -> CommandLimits:
    """What commands of ours may that fetch packages."""
    return _allowance(settings.sandbox, settings.sandbox.install_network)


def for_agent(settings: Settings, name: str, hosts: tuple[str, ...] = ()) -> CommandLimits:
    """What an agent of this name may, and the commands that it asks for; `hosts` are whom its kind cannot do without.

    Where the settings say what it may reach, they say it whole.
    """
    own = settings.of_agent(name).network
    if own is None and hosts:
        return replace(for_checks(settings), network=Network(mode="hosts", hosts=hosts))
    return _allowance(settings.sandbox, settings.sandbox.network if own is None else own)


def memory_of_machine_mb() -> int:
    """How much memory there is here, as far as this process may use it."""
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        ours = int(_CGROUP_BOUND.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such bound, or it says "max"
        ours = installed
    return min(installed, ours) >> 20


def _allowance(sandbox: SandboxSettings, network: NetworkSetting) -> CommandLimits:
    memory_mb = memory_of_machine_mb() * 3 // 4 if sandbox.memory_mb is None else sandbox.memory_mb
    disk_mb = _DISK_MB if sandbox.disk_mb is None and not sandbox.container else sandbox.disk_mb
    bounds = Bounds(memory_mb=memory_mb, processes=sandbox.processes, disk_mb=disk_mb)
    return CommandLimits(network=network_of(network), bounds=bounds)
