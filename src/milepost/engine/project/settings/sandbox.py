"""The section [sandbox]: isolation, network, resources and secrets of commands."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from milepost.engine.project.network_setting import NetworkSetting
from milepost.engine.project.settings.section import SettingsSection


class SecretSection(SettingsSection):
    programs: list[str] = Field(
        [],
        description="Programs whose commands get the value of this environment variable in place of {{secret:NAME}}. "
        "Empty: none; the value is only removed from all output.",
    )


class SandboxSettings(SettingsSection):
    readable: list[str] = Field([], description="Additional paths agents and checks may read.")
    network: NetworkSetting = Field(
        "loopback",
        description="Network access of agents and checks: none, loopback (their own), open, or a list of hosts such "
        'as ["example.org", "*.example.org", "127.0.0.1:5432"]. Empty: loopback.',
    )
    install_network: NetworkSetting = Field(
        "open", description="The same for commands that install packages: environments, lock files, repairs."
    )
    memory_mb: int | None = Field(
        None,
        ge=64,
        description="Memory limit in megabytes for a command and everything it starts. Absent: three quarters of the "
        "machine's memory.",
    )
    processes: int = Field(4096, ge=1, description="Maximum number of processes and threads of one command.")
    disk_mb: int | None = Field(
        None,
        ge=1,
        description="Megabytes one command may add to its folders. Absent: 20000; no limit in containers.",
    )
    allow_downgrade: bool = Field(
        False, description="Whether to use a weaker trust level if this machine cannot provide the requested one."
    )
    container: Literal["", "podman", "docker"] = Field(
        "", description="Run commands in containers of this program. Empty: no containers; a trust level is used."
    )
    image: str = Field(
        "", description="The container image; commands use its programs. It is never pulled automatically."
    )
    secrets: dict[str, SecretSection] = Field(
        {}, description="Your environment variables that commands may use without anyone seeing their values."
    )
