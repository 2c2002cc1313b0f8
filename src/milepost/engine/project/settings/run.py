"""The sections about a run: [run], [limits], [state], [telemetry], [surroundings], [workspace]."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from milepost.core.commands import TrustLevel
from milepost.engine.project.env_templates import unknown_places
from milepost.engine.project.settings.reach import AGENT_NAMES, SAFE, Asks, at_most, is_below, one_of
from milepost.engine.project.settings.section import SettingsSection
from milepost.workspace.local_files import is_plain


class RunSettings(SettingsSection):
    agent: Annotated[str, AGENT_NAMES] = Field(
        "",
        description="The agent that does the work, by any agent name, or `auto`: chosen per task, see [router]. "
        "Empty: each task must name its own.",
    )
    parallel: Annotated[int, SAFE] = Field(2, ge=1, le=64, description="How many attempts may run at the same time.")
    trust: Annotated[
        TrustLevel | None, Asks("isolates agents and checks less", unless=one_of(TrustLevel.SANDBOXED))
    ] = Field(
        None, description="Trust level for agents and checks. Absent: the strongest level available on this machine."
    )
    database: Annotated[str, Asks("connects to this database, whose workers do the runs")] = Field(
        "",
        repr=False,
        description="The PostgreSQL database from which workers take runs. Empty: runs are done on this machine. Put "
        "a password into ~/.pgpass or the environment.",
    )
    remote: Annotated[str, Asks("pushes work to this git remote")] = Field(
        "", repr=False, description="The git remote that workers share, by name or address. Empty: origin."
    )
    budget_usd: Annotated[float | None, SAFE] = Field(
        None, gt=0, allow_inf_nan=False, description="Cost limit of a run in USD. Absent: usd in [budget]."
    )
    approve: Annotated[Literal["each", "risky", "never"], SAFE] = Field(
        "never",
        description="When to ask a person. each: before and after every task. risky: when a task, a command or a "
        "change could do harm. never: only when a task asks for it.",
    )
    ordered: Annotated[bool, SAFE] = Field(
        False,
        description="Whether tasks are merged in the order of the plan. Off: in the order in which they are ready.",
    )


class Limits(SettingsSection):
    attempts: Annotated[int, SAFE] = Field(
        3, ge=1, le=20, description="Failed attempts at a task before it is given up."
    )
    task_timeout_s: Annotated[float, SAFE] = Field(1800, gt=0, description="Seconds an agent has for one attempt.")
    idle_timeout_s: Annotated[float, SAFE] = Field(300, gt=0, description="Seconds an agent may be silent.")
    check_timeout_s: Annotated[float, SAFE] = Field(900, gt=0, description="Seconds for one command of a check.")
    check_stall_s: Annotated[float, SAFE] = Field(
        180, gt=0, description="Seconds a command of a check may print nothing and use no processor time."
    )
    service_wait_s: Annotated[float, SAFE] = Field(
        21_600,
        gt=0,
        description="Seconds a run keeps asking a service that does not answer, or that does not say when its limit "
        "ends. After that the run stops, and milepost resume continues it. A stated time is always waited for.",
    )
    file_mb: Annotated[int, Asks("lets an attempt leave files this large", unless=at_most(100))] = Field(
        100, ge=1, description="Megabytes of the largest file that an attempt may add or change."
    )
    change_mb: Annotated[int, Asks("lets an attempt leave this much", unless=at_most(1000))] = Field(
        1000, ge=1, description="Megabytes of all files together that an attempt adds or changes."
    )
    change_files: Annotated[int, Asks("lets an attempt change this many files", unless=at_most(50_000))] = Field(
        50_000, ge=1, description="How many files an attempt may add, change or remove."
    )
    checkout_files: Annotated[int, Asks("lets an attempt leave this many files", unless=at_most(2_000_000))] = Field(
        2_000_000, ge=1, description="How many files a checkout may have after an attempt, those that git ignores too."
    )


class SurroundingsSettings(SettingsSection):
    database_name: Annotated[str, SAFE] = Field(
        "",
        description="Name of a database that no other attempt uses at the same time, such as `app_{slot}`; commands "
        "find it in MILEPOST_DATABASE_NAME. Empty: none.",
    )
    env: Annotated[dict[str, str], Asks("gives agents and checks these environment variables")] = Field(
        {},
        description="Environment variables of all agents and checks. {slot}, {port}, {port_0} to {port_9} and "
        "{database_name} are filled in, with different values for everything that runs at the same time.",
    )

    @field_validator("database_name", "env")
    @classmethod
    def _can_be_filled(cls, given: str | dict[str, str]) -> str | dict[str, str]:
        templates = [given] if isinstance(given, str) else list(given.values())
        if unknown := [name for template in templates for name in unknown_places(template)]:
            raise ValueError(f"has {{{unknown[0]}}}, which is not a known placeholder")
        return given


class TelemetrySettings(SettingsSection):
    endpoint: Annotated[str, Asks("sends spans and metrics of runs, and what is watched, to this address")] = Field(
        "",
        description="Where to send spans and metrics (OTLP over HTTP), such as http://localhost:4318. Empty: nowhere, "
        "unless OTEL_EXPORTER_OTLP_ENDPOINT is set.",
    )


class StateSettings(SettingsSection):
    keep_days: Annotated[float, SAFE] = Field(
        30,
        ge=0,
        description="Days that a run's attempts, recorded steps and logs are kept after its end. Mileposts and their "
        "proofs are always kept.",
    )


class WorkspaceSettings(SettingsSection):
    members: Annotated[list[str], Asks("plans these folders outside the repository, too", unless=is_below)] = Field(
        [],
        description="Folders of projects that are planned together, relative to this file; `*` matches any name. "
        "Empty: this project and those its manifests declare.",
    )
    copied: Annotated[list[str], Asks("lets agents and checks read these files, which git ignores")] = Field(
        [],
        alias="copy",
        description='Files that git ignores and tests need, such as [".env", "config/local.json"], relative to the '
        "top of the repository: copied from your working tree into every checkout, never into a commit or a prompt.",
    )
    checkouts: Annotated[str, Asks("writes checkouts into this folder")] = Field(
        "",
        description="Folder for the checkouts in which agents and checks work. Empty: in the user's cache, or in "
        "/var/tmp where the cache lies in a folder that begins with a dot, which some tests cannot stand.",
    )

    @field_validator("copied")
    @classmethod
    def _is_inside(cls, given: list[str]) -> list[str]:
        if outside := [name for name in given if not is_plain(name)]:
            raise ValueError(f"has {outside[0]!r}, which is not a file inside the repository")
        return given
