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
        raise ValueError("is no address of a web server, such as http://127.0.0.1:8080/v1")
    return given


Address = Annotated[str, AfterValidator(_is_an_address)]


class SettingsSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunSettings(SettingsSection):
    agent: str = Field(
        "",
        description="Who does the work: any name of an agent, or `auto`: whom [router] chooses. "
        "Empty: each task must name its own.",
    )
    parallel: int = Field(2, ge=1, le=64, description="How many attempts may be under way at once.")
    trust: TrustLevel | None = Field(
        None, description="Trust level for agents and checks. Absent: the strongest that this machine holds."
    )
    database: str = Field(
        "",
        repr=False,
        description="The PostgreSQL database where workers take runs from. Empty: runs are done here. "
        "A password belongs into ~/.pgpass or the environment.",
    )
    remote: str = Field(
        "", repr=False, description="The git remote that workers share, a name or an address. Empty: origin."
    )
    budget_usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="What a run may cost, in USD. Absent: what usd of [budget] says."
    )
    approve: Literal["each", "risky", "never"] = Field(
        "never",
        description="When a person is asked. each: before and after every task. risky: where a task, a command or a "
        "change could do harm. never: only where a task says so.",
    )
    ordered: bool = Field(
        False, description="Mileposts land in the order of the plan. Off: in the order in which they are ready."
    )


class Limits(SettingsSection):
    attempts: int = Field(3, ge=1, le=20, description="Failed attempts at a task before it is left.")
    task_timeout_s: float = Field(1800, gt=0, description="Seconds for one attempt of an agent.")
    idle_timeout_s: float = Field(300, gt=0, description="Seconds that an agent may be silent.")
    check_timeout_s: float = Field(900, gt=0, description="Seconds for one command of a check.")


class AgentSection(SettingsSection):
    env: dict[str, str] = Field({}, description="Variables for this agent alone.")
    env_from: list[str] = Field([], description="Names of variables passed through from your own environment.")
    args: list[str] = Field([], description="Arguments added to its command line.")
    program: str = Field("", description="The file to start. Empty: the one of its name on PATH.")
    model: str = Field("", description="The model it asks, as it names models itself. Empty: its own choice.")
    base_url: Address = Field("", description="Address of the service that it asks. Empty: its own.")
    max_turns: int | None = Field(None, ge=1, description="How often it may ask its model. Absent: 100; 50 for code.")
    max_usd: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="What one attempt of it may cost, in USD. Absent: as [budget] says.",
    )
    network: NetworkSetting | None = Field(
        None,
        description="What it may reach, and the commands that it asks for. "
        "Absent: its service alone for a program such as claude, else as [sandbox] says.",
    )


class ModelSettings(SettingsSection):
    name: str = Field("", description="The model that the agents `tool` and `code` ask, as provider:model.")
    base_url: Address = Field("", description="Address of the service. Empty: the provider's own.")
    max_tokens: int = Field(8192, ge=1, le=1_000_000, description="Tokens that one answer may have.")
    window_tokens: int = Field(
        200_000,
        ge=4_000,
        description="Tokens of two bytes that one question may have: what was said in between is then shortened.",
    )
    timeout_s: float = Field(
        300, gt=0, allow_inf_nan=False, description="Seconds that an answer may take before it is asked for again."
    )
    patience_s: float = Field(
        300,
        ge=0,
        allow_inf_nan=False,
        description="Seconds that a service without an answer is asked again, before the task waits.",
    )
    stream: bool = Field(
        True,
        description="Whether answers are streamed, so that a stalled one is noticed. Off: for servers that cannot.",
    )
    stall_s: float = Field(
        120,
        gt=0,
        allow_inf_nan=False,
        description="Seconds without a piece of a streamed answer before it is asked for again.",
    )
    fallback: list[str] = Field(
        [],
        description="Models to ask, in this order, when the first rejects, or does not answer within its patience. "
        "base_url and stated prices are of the first alone. Empty: none.",
    )
    input_usd_per_mtok: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="USD for a million tokens of input. Absent: as genai-prices has it.",
    )
    output_usd_per_mtok: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="USD for a million tokens of output. Absent: as genai-prices has it.",
    )


class McpSection(SettingsSection):
    command: list[str] = Field([], description="The program to start, and its words. Empty: there is a url.")
    url: str = Field("", description="The address to ask, by streamable HTTP. Empty: there is a command.")
    env: dict[str, str] = Field({}, description="Variables for this program alone.")
    env_from: list[str] = Field([], description="Names of variables passed through from your own environment.")
    bearer_from: str = Field("", description="The variable of yours with the token that a url is asked with.")
    tools: list[str] | None = Field(None, description="Its tools that are offered. Absent: all. Empty: none.")
    readable: list[str] = Field([], description="Further paths that the program may read.")
    start_s: float = Field(60, gt=0, description="Seconds to start and to list its tools.")
    timeout_s: float = Field(60, gt=0, description="Seconds for one call.")


class PatternSettings(SettingsSection):
    folders: list[str] = Field(
        [],
        description="Folders with patterns of your own, beside .milepost/patterns. They start at the roadmap's.",
    )


class VerifySettings(SettingsSection):
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


class RepairSettings(SettingsSection):
    mode: Literal["no-adapt", "suggest", "auto-fix"] = Field(
        "auto-fix",
        description="auto-fix: mend and try again. suggest: end the task with a proposal. no-adapt: one attempt.",
    )
    recipes: bool = Field(True, description="Whether what can be mended without an agent is mended first.")
    packages: list[str] = Field([], description="Packages that may be added to the project, beside those known to it.")
    fallback: list[str] = Field([], description="Agents to go on with, in this order, when one does not get further.")


class RouterSettings(SettingsSection):
    mode: Literal["fixed", "round-robin", "measured"] = Field(
        "measured",
        description="How the agent `auto` chooses. fixed: the first of agents. round-robin: each in its turn. "
        "measured: who did most tasks of the kind here, of equals the cheapest; new ones are tried first.",
    )
    agents: list[str] = Field(
        [],
        description="Agents that `auto` chooses among, in this order; those that cannot work here are left out. "
        "Empty: there is nobody to choose, and `auto` is refused.",
    )
    fixed: dict[Trait, str] = Field(
        {},
        description="Agents for some tasks, whatever the mode: by `risky`, else by kind (code, tests, docs, config, "
        "fix, refactor, dependency), else by size (`small`, `large`).",
    )
    explore: float = Field(
        0.1,
        ge=0,
        le=1,
        description="Share of tasks that measured gives to the agent with the fewest of the kind, so that it is "
        "measured, too; never risky ones. 0: nobody is tried out.",
    )


class BudgetSettings(SettingsSection):
    usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="What a run may cost, in USD. Absent: no bound."
    )
    tokens: int | None = Field(None, gt=0, description="Tokens that a run may take, in and out. Absent: no bound.")
    minutes: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Minutes that a run may be at work. Absent: no bound."
    )
    attempts: int | None = Field(None, gt=0, description="Attempts that a run may make. Absent: no bound.")
    task_usd: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="What one task may cost, in USD. Absent: no bound."
    )
    task_tokens: int | None = Field(None, gt=0, description="Tokens that one task may take. Absent: no bound.")
    task_minutes: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Minutes that one task may be worked on. Absent: no bound."
    )
    task_attempts: int | None = Field(None, gt=0, description="Attempts at one task. Absent: no bound.")


class SecretSection(SettingsSection):
    programs: list[str] = Field(
        [],
        description="Programs whose commands are given the value of this variable of yours in the place of "
        "{{secret:NAME}}. Empty: none; the value is only kept out of all that is printed.",
    )


class SandboxSettings(SettingsSection):
    readable: list[str] = Field([], description="Further paths that agents and checks may read.")
    network: NetworkSetting = Field(
        "loopback",
        description="What agents and checks may reach: none, loopback (their own), open, or a list of hosts such as "
        '["example.org", "*.example.org", "127.0.0.1:5432"]. Empty: loopback.',
    )
    install_network: NetworkSetting = Field(
        "open", description="The same for what fetches packages: environments, lock files, repairs."
    )
    memory_mb: int | None = Field(
        None,
        ge=64,
        description="Megabytes of memory for a command and all that it starts. "
        "Absent: three quarters of what the machine has.",
    )
    processes: int = Field(4096, ge=1, description="Processes and threads of one command.")
    disk_mb: int | None = Field(
        None,
        ge=1,
        description="Megabytes that one command may add to its folders. Absent: 20000; no bound in containers.",
    )
    allow_downgrade: bool = Field(
        False, description="Whether a weaker trust level is taken when this machine cannot hold the one asked for."
    )
    container: Literal["", "podman", "docker"] = Field(
        "", description="The program in whose containers commands run. Empty: no containers, but a trust level."
    )
    image: str = Field(
        "", description="The image of those containers; their commands use its programs. It is never fetched unasked."
    )
    secrets: dict[str, SecretSection] = Field(
        {}, description="Variables of yours that commands may be given, and nobody sees."
    )


class TerminalSettings(SettingsSection):
    allow: list[str] = Field(
        [],
        description="Commands of agents that may run: a program, or with arguments as `git push --force`. What could "
        "do harm is allowed only where it is named with what makes it so. Empty: as the built-in rules say.",
    )
    ask: list[str] = Field(
        [], description="Commands about which a person is always asked. Empty: as [run] approve says."
    )
    deny: list[str] = Field([], description="Commands that never run. Empty: as the built-in rules say.")
    unlisted: Literal["allow", "ask", "deny"] = Field(
        "allow", description="What holds for harmless programs that are in no list."
    )
    shell: Literal["never", "read", "any"] = Field(
        "read",
        description="Text for a shell, as `bash -c`. never: refused. read: each part of it is judged, and where it "
        "cannot be told what runs, it is asked about. any: only what can be told is judged.",
    )
    quick_s: float = Field(60, gt=0, description="Seconds for commands that only look, as `git status`.")
    medium_s: float = Field(600, gt=0, description="Seconds for commands in no other class, as `pytest`.")
    long_s: float = Field(1800, gt=0, description="Seconds for builds and installations, as `npm ci`.")
    background_s: float = Field(60, gt=0, description="Seconds for what never ends by itself, as `npm run dev`.")

    @field_validator("allow", "ask", "deny")
    @classmethod
    def _can_be_read(cls, given: list[str]) -> list[str]:
        for text in given:
            clause_of(text)
        return given


class SurroundingsSettings(SettingsSection):
    database_name: str = Field(
        "",
        description="Name of a database that nobody else uses meanwhile, as `app_{slot}`; commands find it in "
        "MILEPOST_DATABASE_NAME. Empty: none.",
    )
    env: dict[str, str] = Field(
        {},
        description="Variables of all agents and checks. {slot}, {port}, {port_0} to {port_9} and {database_name} "
        "are filled in, differently for all that runs at once.",
    )

    @field_validator("database_name", "env")
    @classmethod
    def _can_be_filled(cls, given: str | dict[str, str]) -> str | dict[str, str]:
        templates = [given] if isinstance(given, str) else list(given.values())
        if unknown := [name for template in templates for name in unknown_places(template)]:
            raise ValueError(f"has {{{unknown[0]}}}, which nothing fills in")
        return given


class TelemetrySettings(SettingsSection):
    endpoint: str = Field(
        "",
        description="Where spans and metrics are sent, in OTLP over HTTP, such as http://localhost:4318. "
        "Empty: nowhere, unless OTEL_EXPORTER_OTLP_ENDPOINT says so.",
    )


class WorkerSettings(SettingsSection):
    name: str = Field("", description="What a worker is called. Empty: the name of its machine.")
    capacity: int = Field(2, ge=1, le=256, description="Attempts and proofs that a worker has under way at once.")
    labels: list[str] = Field([], description="What a worker offers beside the usual: a task that needs it says so.")
    lease_s: float = Field(
        20, ge=1, le=3600, description="Seconds of silence after which the others take over from a worker."
    )


class StateSettings(SettingsSection):
    keep_days: float = Field(
        30,
        ge=0,
        description="Days that attempts, recorded steps and logs of a run stay after its end. "
        "Mileposts and their proofs always stay.",
    )


class RoadmapSettings(SettingsSection):
    dialect: Dialect = Field(
        "auto",
        description="How the roadmap says what is a task and what is done. auto: the surest that it is written in; "
        "`milepost plan --explain` tells which.",
    )
    tick_parents: bool = Field(True, description="Whether a box above others is ticked when all boxes below it are.")


class PlanSettings(SettingsSection):
    order: Sequence = Field(
        "free",
        description="free: a task waits only for what it depends on. outline: also for what stands before it, unless "
        "both are marked [P].",
    )
    group: Grouping = Field(
        "none",
        description="Which small tasks are done in one attempt. section: those of a section. smart: those of a "
        "section that share a file, a name or most words of their titles.",
    )
    unit: Unit = Field(
        "task",
        description="task: a task with its subtasks is one attempt. subtask: each of the innermost boxes is.",
    )
    imports: bool = Field(
        True, description="Whether a task waits for those that change what its files import (Python, JavaScript)."
    )


class ContextSettings(SettingsSection):
    tokens: int = Field(
        50_000,
        ge=0,
        le=1_000_000,
        description="Tokens of the repository that a model is shown with its task: hinted files, related symbols, "
        "facts of the project. At most half of the model's window, and 4000 for programs. 0: none.",
    )


class MemorySettings(SettingsSection):
    mode: Literal["on", "off", "read-only"] = Field(
        "on",
        description="on: attempts are remembered, and told what earlier ones taught. read-only: they are told, and "
        "kept for forecasts, but nothing is learnt; they are shared at the next sync. off: neither, and nothing is "
        "written.",
    )
    holdout: float = Field(
        0.2,
        ge=0,
        le=0.9,
        allow_inf_nan=False,
        description="Share of attempts that a lesson is not shown to, though it fits, so that its effect is measured.",
    )
    project: str = Field(
        "",
        description="What the project is called in the memory. Empty: the repository's first commit, which is the "
        "same in every clone, with the roadmap's folder.",
    )
    primary: str = Field(
        "",
        repr=False,
        description="A memory that machines, people and projects share: libsql://…, http(s)://…, postgresql://… or "
        "the path of a file. Nothing is sent there before you ran `milepost memory sync` once. Empty: the memory stays "
        "here.",
    )
    primary_token_from: str = Field(
        "", description="The variable of yours with the token for the primary. Empty: none is needed."
    )
    semantic: bool = Field(
        False, description="Whether lessons are also found by meaning; needs the extra milepost[semantic]."
    )
    distil_with: str = Field(
        "",
        description="The model that is asked once after each task for at most three further lessons, as "
        "provider:model. Empty: lessons are made without a model.",
    )


class WorkspaceSettings(SettingsSection):
    members: list[str] = Field(
        [],
        description="Folders of several projects that are planned as one, relative to this file; `*` stands for any "
        "name. Empty: this project, and those that its manifests declare.",
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
        raise SettingInvalid(f"{FILE} is not valid TOML: {error}", "mend the line it names") from error
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
                raise SettingInvalid(f"{variable} {problem}{value}", f"it stands for {where}: mend it") from error
        raise SettingInvalid(f"{where} {problem}{value}", f"see [{where.partition('.')[0]}] in {FILE}") from error
