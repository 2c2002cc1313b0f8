"""What holds commands: a trust level, or containers for who asks for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from milepost.core.commands import ExecutionLimits, Network, TrustLevel
from milepost.core.errors import SandboxRefused, SettingInvalid
from milepost.engine.project.network_setting import network_of
from milepost.engine.project.settings.sandbox import SandboxSettings
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.run_spec import RunSpec
from milepost.engine.terminals.wrappers import DOWNGRADED
from milepost.sandbox import levels
from milepost.sandbox.container import engines, open_container
from milepost.sandbox.container.commands import Container, container_named
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.terminal import WalledTerminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """A level or containers; `downgraded` says that the level is weaker than the one asked for."""

    by: TrustLevel | Container
    downgraded: bool = False

    def __str__(self) -> str:
        return f"{self.by} ({DOWNGRADED})" if self.downgraded else str(self.by)

    @property
    def level(self) -> str:
        """The name of the trust level, empty for containers."""
        return self.by.value if isinstance(self.by, TrustLevel) else ""

    def open_terminal(
        self, *, held_fds: tuple[int, ...] = (), extra_readable: tuple[Path, ...] = (), in_checkouts: bool = False
    ) -> WalledTerminal:
        """A terminal whose commands are held so. Containers keep no descriptors: what is left is removed at a start."""
        if isinstance(self.by, TrustLevel):
            return levels.open_terminal(
                self.by, held_fds=held_fds, extra_readable=extra_readable, in_checkouts=in_checkouts
            )
        return open_container.open_terminal(self.by, extra_readable=extra_readable, in_checkouts=in_checkouts)

    def open_interpreter(self, folder: Path, limits: ExecutionLimits, network: Network) -> WalledExecutor:
        """An interpreter whose code changes a folder directly, as commands do; a container does not bound its disk."""
        if isinstance(self.by, TrustLevel):
            return levels.open_executor(self.by, limits, workspace=folder, network=network, direct=True)
        usual = ExecutionLimits()
        bounded = replace(limits, disk_mb=usual.disk_mb, inodes=usual.inodes)
        return open_container.open_executor(self.by, bounded, workspace=folder, network=network, direct=True)


def hold_for(settings: Settings) -> Isolation:
    """What is to hold commands by the settings; refuses what this machine, or a container, cannot hold."""
    wanted, sandbox = settings.run.trust, settings.sandbox
    if container := container_named(sandbox.container, sandbox.image):
        if wanted is not None:
            what = f"commands are held by {container}, or at trust level {wanted.value!r}, but not both"
            raise SettingInvalid(what, "remove either container from [sandbox], or trust")
        _refuse_what_no_container_holds(settings)
        return Isolation(by=engines.require(container))
    if wanted is None:
        return Isolation(by=levels.strongest())
    levels.require_programs(wanted)
    level, downgraded = levels.level_for(wanted, allow_downgrade=sandbox.allow_downgrade)
    return Isolation(by=level, downgraded=downgraded)


def hold_of(order: RunSpec) -> Isolation:
    """What holds the commands of a run, as it was ordered."""
    if order.trust:
        return Isolation(by=TrustLevel(order.trust), downgraded=order.downgraded)
    sandbox = SandboxSettings.model_validate(order.sandbox)
    container = container_named(sandbox.container, sandbox.image)
    assert container is not None, "an order without a trust level has a container"
    return Isolation(by=container)


def _refuse_what_no_container_holds(settings: Settings) -> None:
    sandbox = settings.sandbox
    networks = {"[sandbox] network": sandbox.network, "[sandbox] install_network": sandbox.install_network}
    networks |= {f"[agents.{name}] network": one.network for name, one in settings.agents.items() if one.network}
    for where, network in networks.items():
        if network_of(network).mode == "hosts":
            fix = f"let {where} be none, loopback or open, or leave out container"
            raise SandboxRefused(f"a container cannot restrict the network to single hosts, as {where} requires", fix)
    if sandbox.disk_mb is not None:
        fix = "leave out disk_mb of [sandbox], or container"
        raise SandboxRefused("a container cannot limit the disk, as disk_mb in [sandbox] requires", fix)
