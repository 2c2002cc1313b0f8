"""Settings: flag over environment over milepost.toml over default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from milepost.core.budget import Budget
from milepost.core.commands import TrustLevel
from milepost.core.errors import SettingInvalid
from milepost.engine.project.env_templates import unknown_places
from milepost.engine.project.network_setting import NetworkSetting
from milepost.plan.advice.traits import Trait
from milepost.plan.options import Grouping, Sequence, Unit
from milepost.roadmap.reading.options import Dialect
from milepost.sandbox.policy.rule import clause_of

FILE = "milepost.toml"


def _is_an_address(given: str) -> str:
    try:
        address = urlsplit(given)
        usable = not given or (address.scheme in ("http", "https") and address.hostname and address.port != 0)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("is not a web address such as http://127.0.0.1:8080/v1")
    return given


Address = Annotated[str, AfterValidator(_is_an_address)]


class SettingsSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunSettings(SettingsSection):
    agent: str = Field(
        "",
        description="The agent that does the work, by any agent name, or `auto`: chosen per task, see [router]. "
        "Empty: each task must name its own.",
    )
    parallel: int = Field(2, ge=1, le=64, description="How many attempts may run at the same time.")
    trust: TrustLevel | None = Field(
        None, description="Trust level for agents and checks. Absent: the strongest level available on this machine."
    )
    database: str = Field(
        "",
        repr=False,
        description="The PostgreSQL database from which workers take runs. Empty: runs are done on this machine. Put "
        "a password into ~/.pgpass or the environment.",
    )
    remote: str = Field(
        "", repr=False, description="The git remote that workers share, by name or address. Empty: origin."
    )
    budget_usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Cost limit of a run in USD. Absent: usd in [budget]."
    )
    approve: Literal["each", "risky", "never"] = Field(
        "never",
        description="When to ask a person. each: before and after every task. risky: when a task, a command or a "
        "change could do harm. never: only when a task asks for it.",
    )
    ordered: bool = Field(
        False,
        description="Whether tasks are merged in the order of the plan. Off: in the order in which they are ready.",
    )


class Limits(SettingsSection):
    attempts: int = Field(3, ge=1, le=20, description="Failed attempts at a task before it is given up.")
    task_timeout_s: float = Field(1800, gt=0, description="Seconds an agent has for one attempt.")
    idle_timeout_s: float = Field(300, gt=0, description="Seconds an agent may be silent.")
    check_timeout_s: float = Field(900, gt=0, description="Seconds for one command of a check.")


class AgentSection(SettingsSection):
    env: dict[str, str] = Field({}, description="Environment variables for this agent only.")
    env_from: list[str] = Field([], description="Names of variables to pass through from your own environment.")
    args: list[str] = Field([], description="Arguments to add to its command line.")
    program: str = Field("", description="The program to start. Empty: the one with its name on PATH.")
    model: str = Field("", description="The model it uses, by the agent's own name for it. Empty: the agent's default.")
    base_url: Address = Field("", description="Address of the API it calls. Empty: the agent's default.")
    max_turns: int | None = Field(None, ge=1, description="How often it may call its model. Absent: 100; 50 for code.")
    max_usd: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Cost limit of one attempt in USD. Absent: as in [budget].",
    )
    network: NetworkSetting | None = Field(
        None,
        description="Network access of the agent and its commands. Absent: only its own API for a program such as "
        "claude, else as in [sandbox].",
    )


class ModelSettings(SettingsSection):
    name: str = Field("", description="The model for the agents `tool` and `code`, as provider:model.")
    base_url: Address = Field("", description="Address of the API. Empty: the provider's own.")
    max_tokens: int = Field(8192, ge=1, le=1_000_000, description="Maximum tokens of one answer.")
    window_tokens: int = Field(
        200_000,
        ge=4_000,
        description="Maximum tokens of one request, counted as two bytes each. Beyond that the middle of the "
        "conversation is shortened.",
    )
    timeout_s: float = Field(
        300, gt=0, allow_inf_nan=False, description="Seconds an answer may take before the request is repeated."
    )
    patience_s: float = Field(
        300,
        ge=0,
        allow_inf_nan=False,
        description="Seconds to keep retrying an API that does not answer, before the task waits.",
    )
    stream: bool = Field(
        True,
        description="Whether answers are streamed, so that a stalled one is noticed. Turn off for servers that cannot "
        "stream.",
    )
    stall_s: float = Field(
        120,
        gt=0,
        allow_inf_nan=False,
        description="Seconds without a new piece of a streamed answer before the request is repeated.",
    )
    fallback: list[str] = Field(
        [],
        description="Models to use, in this order, when the first one rejects the request or does not answer within "
        "patience_s. base_url and the prices below apply only to the first. Empty: none.",
    )
    input_usd_per_mtok: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="USD per million input tokens. Absent: the price in genai-prices.",
    )
    output_usd_per_mtok: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="USD per million output tokens. Absent: the price in genai-prices.",
    )


class McpSection(SettingsSection):
    command: list[str] = Field([], description="The program to start, and its arguments. Empty: url is set.")
    url: str = Field("", description="The address of the server (streamable HTTP). Empty: command is set.")
    env: dict[str, str] = Field({}, description="Environment variables for this program only.")
    env_from: list[str] = Field([], description="Names of variables to pass through from your own environment.")
    bearer_from: str = Field("", description="Name of your environment variable with the bearer token for the url.")
    tools: list[str] | None = Field(None, description="The tools to offer. Absent: all. Empty: none.")
    readable: list[str] = Field([], description="Additional paths the program may read.")
    start_s: float = Field(60, gt=0, description="Seconds to start and list its tools.")
    timeout_s: float = Field(60, gt=0, description="Seconds for one call.")


class PatternSettings(SettingsSection):
    folders: list[str] = Field(
        [],
        description="Folders with your own patterns, in addition to .milepost/patterns. Relative to the roadmap's "
        "folder.",
    )


class VerifySettings(SettingsSection):
    python: str = Field(
        "",
        description="Python interpreter for the project's tests. Empty: its .venv or venv, else $VIRTUAL_ENV, else "
        "python3 on PATH.",
    )
    level: Literal["files", "syntax", "imports", "runtime", "tests", "types"] = Field(
        "tests", description="How far the checks go. Each level includes the ones before it."
    )
    mode: Literal["auto", "pytest", "agent", "skip"] = Field(
        "auto",
        description="auto: every check that applies. pytest: only the project's tests, with pytest. agent: auto, plus "
        "a review by an agent, which can reject a change but not accept one. skip: run nothing, so nothing can pass.",
    )
    agent: str = Field("", description="The reviewer for mode agent, by any agent name.")
    environment: Literal["auto", "own", "off"] = Field(
        "auto",
        description="The environment for the project's commands. auto: its own, or one created from its lock files. "
        "own: only an existing one. off: the plain interpreter.",
    )
    runners: list[str] = Field([], description="Test runners to use. Empty: detected from the project's files.")
    reruns: int = Field(
        2, ge=0, le=10, description="How often a newly failing test is rerun before the failure counts."
    )
    lint: bool = Field(False, description="Whether findings of the project's linter fail a task.")
    most_files: int = Field(0, ge=0, description="Maximum number of files a task may change. 0: no limit.")
    largest_bytes: int = Field(
        0, ge=0, description="Maximum size in bytes of a file that a task leaves behind. 0: no limit."
    )
    coverage: float | None = Field(
        None, ge=0, le=1, description="Share of the changed lines that tests must cover. Absent: not required."
    )


class RepairSettings(SettingsSection):
    mode: Literal["no-adapt", "suggest", "auto-fix"] = Field(
        "auto-fix",
        description="auto-fix: repair and try again. suggest: end the task with a proposal. no-adapt: one attempt "
        "only.",
    )
    recipes: bool = Field(
        True, description="Whether failures that can be fixed without an agent are fixed that way first."
    )
    packages: list[str] = Field(
        [], description="Packages that may be added to the project, in addition to those it already knows."
    )
    fallback: list[str] = Field([], description="Agents to continue with, in this order, when one makes no progress.")


class RouterSettings(SettingsSection):
    mode: Literal["fixed", "round-robin", "measured"] = Field(
        "measured",
        description="How the agent `auto` chooses. fixed: the first of agents. round-robin: each in turn. measured: "
        "the agent that completed most tasks of this kind here, the cheapest if equal; new agents are tried first.",
    )
    agents: list[str] = Field(
        [],
        description="The agents `auto` chooses from, in this order; agents that cannot work here are skipped. Empty: "
        "`auto` cannot be used.",
    )
    fixed: dict[Trait, str] = Field(
        {},
        description="Agents for certain tasks, whatever the mode: by `risky`, else by kind (code, tests, docs, "
        "config, fix, refactor, dependency), else by size (`small`, `large`).",
    )
    explore: float = Field(
        0.1,
        ge=0,
        le=1,
        description="Share of tasks that mode measured gives to the agent with the fewest tasks of this kind, so that "
        "it is measured too; never risky tasks. 0: none.",
    )


class BudgetSettings(SettingsSection):
    usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Cost limit of a run in USD. Absent: no limit."
    )
    tokens: int | None = Field(None, gt=0, description="Token limit of a run, input and output. Absent: no limit.")
    minutes: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Minutes a run may work; time while it is stopped does not count. Absent: no limit.",
    )
    attempts: int | None = Field(None, gt=0, description="Limit on the attempts of a run. Absent: no limit.")
    task_usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Cost limit of one task in USD. Absent: no limit."
    )
    task_tokens: int | None = Field(None, gt=0, description="Token limit of one task. Absent: no limit.")
    task_minutes: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Minutes one task may be worked on. Absent: no limit."
    )
    task_attempts: int | None = Field(None, gt=0, description="Limit on the attempts at one task. Absent: no limit.")


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


class TerminalSettings(SettingsSection):
    allow: list[str] = Field(
        [],
        description="Commands agents may run: a program, or a program with arguments such as `git push --force`. A "
        "harmful command is allowed only if the entry includes the part that makes it harmful. Empty: the built-in "
        "rules.",
    )
    ask: list[str] = Field([], description="Commands for which a person is always asked. Empty: as approve in [run].")
    deny: list[str] = Field([], description="Commands that never run. Empty: the built-in rules.")
    unlisted: Literal["allow", "ask", "deny"] = Field(
        "allow", description="What happens to harmless programs that are in none of the lists."
    )
    shell: Literal["never", "read", "any"] = Field(
        "read",
        description="Shell commands such as `bash -c`. never: refused. read: each part is checked, and a person is "
        "asked when it is unclear what would run. any: only the parts that are clear are checked.",
    )
    quick_s: float = Field(
        60, gt=0, description="Timeout in seconds for commands that only read, such as `git status`."
    )
    medium_s: float = Field(600, gt=0, description="Timeout in seconds for all other commands, such as `pytest`.")
    long_s: float = Field(1800, gt=0, description="Timeout in seconds for builds and installations, such as `npm ci`.")
    background_s: float = Field(
        60, gt=0, description="Timeout in seconds for commands that do not end by themselves, such as `npm run dev`."
    )

    @field_validator("allow", "ask", "deny")
    @classmethod
    def _can_be_read(cls, given: list[str]) -> list[str]:
        for text in given:
            clause_of(text)
        return given


class SurroundingsSettings(SettingsSection):
    database_name: str = Field(
        "",
        description="Name of a database that no other attempt uses at the same time, such as `app_{slot}`; commands "
        "find it in MILEPOST_DATABASE_NAME. Empty: none.",
    )
    env: dict[str, str] = Field(
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
    endpoint: str = Field(
        "",
        description="Where to send spans and metrics (OTLP over HTTP), such as http://localhost:4318. Empty: nowhere, "
        "unless OTEL_EXPORTER_OTLP_ENDPOINT is set.",
    )


class WorkerSettings(SettingsSection):
    name: str = Field("", description="The worker's name. Empty: the host name.")
    capacity: int = Field(
        2, ge=1, le=256, description="Attempts and verifications that a worker runs at the same time."
    )
    labels: list[str] = Field([], description="What the worker offers, such as docker; a task can ask for it.")
    lease_s: float = Field(
        20, ge=1, le=3600, description="Seconds of silence after which other workers take over a worker's tasks."
    )


class StateSettings(SettingsSection):
    keep_days: float = Field(
        30,
        ge=0,
        description="Days that a run's attempts, recorded steps and logs are kept after its end. Mileposts and their "
        "proofs are always kept.",
    )


class RoadmapSettings(SettingsSection):
    dialect: Dialect = Field(
        "auto",
        description="The format of the roadmap: how it marks tasks and which are done. auto: detected; `milepost plan "
        "--explain` shows the result.",
    )
    tick_parents: bool = Field(True, description="Whether a parent box is ticked when all boxes below it are.")


class PlanSettings(SettingsSection):
    order: Sequence = Field(
        "free",
        description="free: a task waits only for its dependencies. outline: also for the tasks before it, unless both "
        "are marked [P].",
    )
    group: Grouping = Field(
        "none",
        description="Which small tasks are done in one attempt. section: those of the same section. smart: those of "
        "the same section that share a file, a name or most words of their titles.",
    )
    unit: Unit = Field(
        "task",
        description="task: a task and its subtasks are one attempt. subtask: each innermost box is its own attempt.",
    )
    imports: bool = Field(
        True, description="Whether a task waits for tasks that change modules its files import (Python, JavaScript)."
    )


class ContextSettings(SettingsSection):
    tokens: int = Field(
        50_000,
        ge=0,
        le=1_000_000,
        description="Tokens of repository context given to a model with its task: mentioned files, related symbols, "
        "facts about the project. At most half of the model's window, and 4000 for agent programs. 0: none.",
    )


class MemorySettings(SettingsSection):
    mode: Literal["on", "off", "read-only"] = Field(
        "on",
        description="on: attempts are recorded, and get the lessons of earlier ones. read-only: they get lessons and "
        "are recorded for forecasts, but no new lessons are learnt; the next sync shares them. off: neither, and "
        "nothing is written.",
    )
    holdout: float = Field(
        0.2,
        ge=0,
        le=0.9,
        allow_inf_nan=False,
        description="Share of attempts from which a matching lesson is withheld, to measure its effect.",
    )
    project: str = Field(
        "",
        description="The project's name in the memory. Empty: the repository's first commit, which is the "
        "same in every clone, plus the roadmap's folder.",
    )
    primary: str = Field(
        "",
        repr=False,
        description="A memory shared by machines, people and projects: libsql://…, http(s)://…, postgresql://… or a "
        "file path. Nothing is sent there before you run `milepost memory sync` once. Empty: the memory stays on this "
        "machine.",
    )
    primary_token_from: str = Field(
        "", description="Name of your environment variable with the token for the primary. Empty: no token is needed."
    )
    semantic: bool = Field(False, description="Whether lessons are also found by meaning; requires milepost[semantic].")
    distil_with: str = Field(
        "",
        description="The model that is asked once after each task for up to three more lessons, as provider:model. "
        "Empty: lessons are made without a model.",
    )


class WorkspaceSettings(SettingsSection):
    members: list[str] = Field(
        [],
        description="Folders of projects that are planned together, relative to this file; `*` matches any name. "
        "Empty: this project and those its manifests declare.",
    )


class Settings(SettingsSection):
    """All of milepost.toml."""

    run: RunSettings = RunSettings()
    limits: Limits = Limits()
    agents: dict[str, AgentSection] = {}
    model: ModelSettings = ModelSettings()
    mcp: dict[str, McpSection] = {}
    patterns: PatternSettings = PatternSettings()
    roadmap: RoadmapSettings = RoadmapSettings()
    plan: PlanSettings = PlanSettings()
    context: ContextSettings = ContextSettings()
    memory: MemorySettings = MemorySettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    verify: VerifySettings = VerifySettings()
    repair: RepairSettings = RepairSettings()
    router: RouterSettings = RouterSettings()
    budget: BudgetSettings = BudgetSettings()
    sandbox: SandboxSettings = SandboxSettings()
    terminal: TerminalSettings = TerminalSettings()
    surroundings: SurroundingsSettings = SurroundingsSettings()
    state: StateSettings = StateSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    worker: WorkerSettings = WorkerSettings()

    def of_agent(self, name: str) -> AgentSection:
        """What is said of an agent: in the section of its whole name, as `acp:goose`, else in that of its kind."""
        return self.agents.get(name) or self.agents.get(name.partition(":")[0]) or AgentSection()


def budget_of(settings: Settings) -> Budget:
    """The walls around a run and each of its tasks, as the settings put them."""
    given = settings.budget
    return Budget(
        usd=settings.run.budget_usd or given.usd,
        tokens=given.tokens,
        seconds=None if given.minutes is None else given.minutes * 60,
        attempts=given.attempts,
        task_usd=given.task_usd,
        task_tokens=given.task_tokens,
        task_seconds=None if given.task_minutes is None else given.task_minutes * 60,
        task_attempts=given.task_attempts,
    )


def budget_again(settings: Settings, ordered: Budget) -> Budget:
    """The walls of a run that is resumed: as the settings put them now, but for the money that it was given."""
    now = budget_of(settings)
    return replace(now, usd=now.usd if ordered.usd is None else ordered.usd)


# Settings that the environment may give, for CI and containers.
VARIABLES = {
    "MILEPOST_AGENT": "agent",
    "MILEPOST_PARALLEL": "parallel",
    "MILEPOST_TRUST": "trust",
    "MILEPOST_NETWORK": "network",
    "MILEPOST_BUDGET": "budget_usd",
    "MILEPOST_DATABASE": "database",
    "MILEPOST_REMOTE": "remote",
    "MILEPOST_MODEL": "model",
    "MILEPOST_MEMORY": "memory",
}
# Whatever else can be given by hand is of [run].
_ELSEWHERE = {
    "network": ("sandbox", "network"),
    "model": ("model", "name"),
    "order": ("plan", "order"),
    "group": ("plan", "group"),
    "dialect": ("roadmap", "dialect"),
    "memory": ("memory", "mode"),
}


def load(folder: Path, flags: Mapping[str, object] | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings for a roadmap in `folder`; `flags` are those that were given by hand."""
    path = folder / FILE
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingInvalid(f"{FILE} cannot be read: {error}", "it must be a readable UTF-8 file") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingInvalid(f"{FILE} is not valid TOML: {error}", "fix the line it names") from error
    given: dict[str, object] = {key: environ[name] for name, key in VARIABLES.items() if environ.get(name)}
    given |= {key: value for key, value in (flags or {}).items() if value is not None}
    for section in ("run", *(section for section, _ in _ELSEWHERE.values())):
        written = table.setdefault(section, {})
        if not isinstance(written, dict):
            raise SettingInvalid(f"{section} in {FILE} must be a table", f"write it as [{section}]")
    for key, value in given.items():
        section, name = _ELSEWHERE.get(key, ("run", key))
        table[section] |= {name: value}
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        problem = "is not a setting of this version" if first["type"] == "extra_forbidden" else first["msg"]
        may_hold_a_key = first["loc"][0] in ("agents", "mcp", "surroundings") or first["type"] == "extra_forbidden"
        value = "" if may_hold_a_key else f": {first['input']!r}"
        for variable, key in VARIABLES.items():
            is_it = _ELSEWHERE.get(key, ("run", key)) == first["loc"] and bool(environ.get(variable))
            if is_it and given[key] == environ[variable]:
                raise SettingInvalid(f"{variable} {problem}{value}", f"it sets {where}: correct it") from error
        raise SettingInvalid(f"{where} {problem}{value}", f"correct [{where.partition('.')[0]}] in {FILE}") from error
