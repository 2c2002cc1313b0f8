"""Settings: flag over environment over milepost.toml over default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from milepost.core.commands import TrustLevel
from milepost.core.errors import SettingInvalid

FILE = "milepost.toml"


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunSettings(Section):
    agent: str = Field("", description="Who does the work: any name of an agent. Empty: each task must name its own.")
    parallel: int = Field(2, ge=1, le=64, description="How many attempts may be under way at once.")
    trust: TrustLevel | None = Field(
        None, description="Trust level for agents and checks. Absent: the strongest that this machine holds."
    )


class Limits(Section):
    attempts: int = Field(3, ge=1, le=20, description="Failed attempts at a task before it is left.")
    task_timeout_s: float = Field(1800, gt=0, description="Seconds for one attempt of an agent.")
    idle_timeout_s: float = Field(300, gt=0, description="Seconds that an agent may be silent.")
    check_timeout_s: float = Field(900, gt=0, description="Seconds for one command of a check.")


class AgentSection(Section):
    env: dict[str, str] = Field({}, description="Variables for this agent alone.")
    env_from: list[str] = Field([], description="Names of variables passed through from your own environment.")
    args: list[str] = Field([], description="Arguments added to its command line.")


class VerifySettings(Section):
    python: str = Field(
        "",
        description="Interpreter for the project's tests. "
        "Empty: its .venv or venv, else $VIRTUAL_ENV, else python3 on PATH.",
    )
    level: Literal["files", "syntax", "imports", "runtime", "tests", "types"] = Field(
        "tests", description="How far the checks go: each level includes those before it."
    )
    mode: Literal["auto", "pytest", "agent", "skip"] = Field(
        "auto",
        description="auto: every check that fits. pytest: the project's tests by pytest alone. agent: auto, and a "
        "further opinion that may refuse and never decides. skip: nothing is run, and nothing can pass.",
    )
    agent: str = Field("", description="Whose opinion mode agent asks for: any name of an agent.")
    environment: Literal["auto", "own", "off"] = Field(
        "auto",
        description="The environment of the project's commands. auto: its own, or one made from its lock files. "
        "own: only one that is there. off: the plain interpreter.",
    )
    runners: list[str] = Field([], description="Test runners to use. Empty: those that the project's files tell of.")
    reruns: int = Field(2, ge=0, le=10, description="How often a test that newly fails is run again before it counts.")
    lint: bool = Field(False, description="Whether findings of the project's linter fail a task.")
    most_files: int = Field(0, ge=0, description="Files that one task may change. 0: no bound.")
    largest_bytes: int = Field(0, ge=0, description="Size of the largest file that a task may leave. 0: no bound.")
    coverage: float | None = Field(
        None, ge=0, le=1, description="Share of the changed lines that the tests must run. Absent: not asked."
    )


class RepairSettings(Section):
    mode: Literal["no-adapt", "suggest", "auto-fix"] = Field(
        "auto-fix",
        description="auto-fix: mend and try again. suggest: end the task with a proposal. no-adapt: one attempt.",
    )
    recipes: bool = Field(True, description="Whether what can be mended without an agent is mended first.")
    packages: list[str] = Field([], description="Packages that may be added to the project, beside those known to it.")
    fallback: list[str] = Field([], description="Agents to go on with, in this order, when one does not get further.")
    task_usd: float | None = Field(None, gt=0, description="Cost of one task before it is left. Absent: no bound.")


class SandboxSettings(Section):
    readable: list[str] = Field([], description="Further paths that agents and checks may read.")


class Settings(Section):
    """All of milepost.toml."""

    run: RunSettings = RunSettings()
    limits: Limits = Limits()
    agents: dict[str, AgentSection] = {}
    verify: VerifySettings = VerifySettings()
    repair: RepairSettings = RepairSettings()
    sandbox: SandboxSettings = SandboxSettings()


# Settings that the environment may give, for CI and containers.
VARIABLES = {"MILEPOST_AGENT": "agent", "MILEPOST_PARALLEL": "parallel", "MILEPOST_TRUST": "trust"}


def load(folder: Path, flags: Mapping[str, object] | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings for a roadmap in `folder`; `flags` are those of [run] that were given by hand."""
    path = folder / FILE
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingInvalid(f"{FILE} cannot be read: {error}", "it must be a readable UTF-8 file") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingInvalid(f"{FILE} is not valid TOML: {error}", "mend the line it names") from error
    run = table.get("run", {})
    if not isinstance(run, dict):
        raise SettingInvalid(f"run in {FILE} must be a table", "write it as [run]")
    given = {key: environ[name] for name, key in VARIABLES.items() if environ.get(name)}
    given_by_hand = {key: value for key, value in (flags or {}).items() if value is not None}
    try:
        return Settings.model_validate(table | {"run": run | given | given_by_hand})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        problem = "is not a setting of this version" if first["type"] == "extra_forbidden" else first["msg"]
        may_hold_a_key = first["loc"][0] == "agents" or first["type"] == "extra_forbidden"
        value = "" if may_hold_a_key else f": {first['input']!r}"
        raise SettingInvalid(f"{where} {problem}{value}", f"see [{where.partition('.')[0]}] in {FILE}") from error
