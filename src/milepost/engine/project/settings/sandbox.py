"""The section [sandbox]: isolation, network, resources and secrets of commands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from milepost.engine.project.network_setting import NetworkSetting
from milepost.engine.project.settings.reach import Asks, at_most, one_of
from milepost.engine.project.settings.section import SettingsSection


class SecretSection(SettingsSection):
    programs: Annotated[list[str], Asks("gives these programs the value of your environment variable")] = Field(
        [],
        description="Programs whose commands get the value of this environment variable in place of {{secret:NAME}}. "
        "Empty: none; the value is only removed from all output.",
    )


class SandboxSettings(SettingsSection):
    readable: Annotated[list[str], Asks("lets agents and checks read these paths")] = Field(
        [], description="Additional paths agents and checks may read."
    )
    network: Annotated[
        NetworkSetting, Asks("lets agents and checks reach this network", unless=one_of("none", "loopback", []))
    ] = Field(
        "loopback",
        description="Network access of agents and checks: none, loopback (their own), open, or a list of hosts such "
        'as ["example.org", "*.example.org", "127.0.0.1:5432"]. Empty: loopback.',
    )
    install_network: Annotated[
        NetworkSetting, Asks("lets installers reach these hosts", unless=one_of("none", "loopback", "open", []))
    ] = Field("open", description="The same for commands that install packages: environments, lock files, repairs.")
    memory_mb: Annotated[int | None, Asks("lets a command use this much memory", unless=at_most(4096))] = Field(
        None,
        ge=64,
        description="Memory limit in megabytes for a command and everything it starts. Absent: three quarters of the "
        "machine's memory.",
    )
    processes: Annotated[int, Asks("lets a command start this many processes", unless=at_most(4096))] = Field(
        4096, ge=1, description="Maximum number of processes and threads of one command."
    )
    disk_mb: Annotated[int | None, Asks("lets a command write this much", unless=at_most(20_000))] = Field(
        None,
        ge=1,
        description="Megabytes one command may add to its folders. Absent: 20000; no limit in containers.",
    )
    allow_downgrade: Annotated[bool, Asks("isolates less where this machine cannot do more")] = Field(
        False, description="Whether to use a weaker trust level if this machine cannot provide the requested one."
    )
    container: Annotated[Literal["", "podman", "docker"], Asks("runs commands in containers of this program")] = Field(
        "", description="Run commands in containers of this program. Empty: no containers; a trust level is used."
    )
    image: Annotated[str, Asks("runs commands in this container image")] = Field(
        "", description="The container image; commands use its programs. It is never pulled automatically."
    )
    secrets: dict[str, SecretSection] = Field(
        {}, description="Your environment variables that commands may use without anyone seeing their values."
    )
