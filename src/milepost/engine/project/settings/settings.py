"""All settings of a project."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, Field

from milepost.core.budget import Budget
from milepost.engine.project.settings.agents import AgentSection, McpSection, PatternSettings, RouterSettings
from milepost.engine.project.settings.budget import BudgetSettings
from milepost.engine.project.settings.memory import MemorySettings
from milepost.engine.project.settings.model import ModelSettings
from milepost.engine.project.settings.package import PackageSettings
from milepost.engine.project.settings.plan import ContextSettings, PlanSettings, RoadmapSettings
from milepost.engine.project.settings.run import (
    Limits,
    RunSettings,
    StateSettings,
    SurroundingsSettings,
    TelemetrySettings,
    WorkspaceSettings,
)
from milepost.engine.project.settings.sandbox import SandboxSettings
from milepost.engine.project.settings.section import SettingsSection
from milepost.engine.project.settings.targets import TargetSection, are_target_names
from milepost.engine.project.settings.terminal import TerminalSettings
from milepost.engine.project.settings.verify import RepairSettings, VerifySettings
from milepost.engine.project.settings.watch import WatchSettings
from milepost.engine.project.settings.workers import WorkerSettings


class Settings(SettingsSection):
    """All of milepost.toml."""

    run: RunSettings = RunSettings()
    limits: Limits = Limits()
    agents: dict[str, AgentSection] = Field(default_factory=dict)
    model: ModelSettings = ModelSettings()
    mcp: dict[str, McpSection] = Field(default_factory=dict)
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
    package: PackageSettings = PackageSettings()
    sandbox: SandboxSettings = SandboxSettings()
    terminal: TerminalSettings = TerminalSettings()
    surroundings: SurroundingsSettings = SurroundingsSettings()
    state: StateSettings = StateSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    worker: WorkerSettings = WorkerSettings()
    watch: WatchSettings = WatchSettings()
    targets: Annotated[dict[str, TargetSection], AfterValidator(are_target_names)] = Field(default_factory=dict)

    @property
    def named_agents(self) -> frozenset[str]:
        """All agents that are named here, for whatever they are to do."""
        named = (self.run.agent, self.verify.agent, self.verify.tester)
        return frozenset((*named, *self.router.agents, *self.router.fixed.values(), *self.repair.fallback))

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
