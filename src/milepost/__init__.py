"""Milepost turns a ROADMAP.md into verified commits.

The library is this page: what is listed in `__all__`, and nothing else, is kept stable. Nothing
is imported before it is asked for.

    import milepost

    plan = milepost.plan("ROADMAP.md")
    ending = milepost.run("ROADMAP.md", agent="command:./agent.sh", on_event=print)
    proof = milepost.proof("1.1")
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milepost.agents.command import CommandAgent
    from milepost.agents.patterns.agent import PatternAgent
    from milepost.agents.replay import ReplayAgent
    from milepost.api import (
        agent,
        bench,
        bench_rows,
        bench_to_json,
        demo,
        doctor,
        event_to_json,
        evidence_to_json,
        execute,
        failures,
        find_roadmap,
        init,
        log,
        logs,
        plan,
        plan_to_json,
        preview,
        proof,
        proof_to_json,
        replay,
        resume,
        run,
        sample_roadmap,
        status,
        stop,
        undo,
        verify,
    )
    from milepost.bench.report import Report, TaskReport
    from milepost.core.attempt import Assignment, Attempt, Outcome, Workspace
    from milepost.core.commands import Command, CommandResult, ExecutionLimits, ExecutionResult, Line, TrustLevel
    from milepost.core.errors import MilepostError
    from milepost.core.events import (
        AgentSaid,
        AttemptFinished,
        BudgetReached,
        CheckFinished,
        Event,
        ForecastMade,
        GateAnswered,
        GateOpened,
        MilepostMade,
        ModelCalled,
        RunFinished,
        RunResumed,
        RunStarted,
        RunStopping,
        StageStarted,
        Steered,
        TaskFinished,
        TaskSummary,
        ToolUsed,
        WorkerChanged,
    )
    from milepost.core.ports import Agent, Executor, Tools
    from milepost.core.task import Plan, Problem, Task
    from milepost.core.verdict import CheckResult, Evidence, Verdict
    from milepost.engine.doctor import Finding
    from milepost.engine.look import Proof, Status
    from milepost.engine.prepare import NothingToDo
    from milepost.engine.proving import Replayed, Verified
    from milepost.engine.start import Ending, Stopped
    from milepost.engine.undo import Undone
    from milepost.repair.failures import FailureStats
    from milepost.sandbox.executor import IsolatedExecutor
    from milepost.workspace.mileposts import Milepost

_HOMES = {
    "milepost.api": "agent bench bench_rows bench_to_json demo doctor event_to_json evidence_to_json execute failures "
    "find_roadmap init log logs plan plan_to_json preview proof proof_to_json replay resume run sample_roadmap status "
    "stop undo verify",
    "milepost.agents.command": "CommandAgent",
    "milepost.agents.patterns.agent": "PatternAgent",
    "milepost.agents.replay": "ReplayAgent",
    "milepost.bench.report": "Report TaskReport",
    "milepost.core.attempt": "Assignment Attempt Outcome Workspace",
    "milepost.core.commands": "Command CommandResult ExecutionLimits ExecutionResult Line TrustLevel",
    "milepost.core.errors": "MilepostError",
    "milepost.core.events": "AgentSaid AttemptFinished BudgetReached CheckFinished Event ForecastMade GateAnswered "
    "GateOpened MilepostMade ModelCalled RunFinished RunResumed RunStarted RunStopping "
    "StageStarted Steered TaskFinished TaskSummary ToolUsed WorkerChanged",
    "milepost.core.ports": "Agent Executor Tools",
    "milepost.core.task": "Plan Problem Task",
    "milepost.core.verdict": "CheckResult Evidence Verdict",
    "milepost.engine.doctor": "Finding",
    "milepost.engine.look": "Proof Status",
    "milepost.engine.prepare": "NothingToDo",
    "milepost.engine.proving": "Replayed Verified",
    "milepost.engine.start": "Ending Stopped",
    "milepost.engine.undo": "Undone",
    "milepost.repair.failures": "FailureStats",
    "milepost.sandbox.executor": "IsolatedExecutor",
    "milepost.workspace.mileposts": "Milepost",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentSaid",
    "Assignment",
    "Attempt",
    "AttemptFinished",
    "BudgetReached",
    "CheckFinished",
    "CheckResult",
    "Command",
    "CommandAgent",
    "CommandResult",
    "Ending",
    "Event",
    "Evidence",
    "ExecutionLimits",
    "ExecutionResult",
    "Executor",
    "FailureStats",
    "Finding",
    "ForecastMade",
    "GateAnswered",
    "GateOpened",
    "IsolatedExecutor",
    "Line",
    "Milepost",
    "MilepostError",
    "MilepostMade",
    "ModelCalled",
    "NothingToDo",
    "Outcome",
    "PatternAgent",
    "Plan",
    "Problem",
    "Proof",
    "ReplayAgent",
    "Replayed",
    "Report",
    "RunFinished",
    "RunResumed",
    "RunStarted",
    "RunStopping",
    "StageStarted",
    "Status",
    "Steered",
    "Stopped",
    "Task",
    "TaskFinished",
    "TaskReport",
    "TaskSummary",
    "ToolUsed",
    "Tools",
    "TrustLevel",
    "Undone",
    "Verdict",
    "Verified",
    "WorkerChanged",
    "Workspace",
    "agent",
    "bench",
    "bench_rows",
    "bench_to_json",
    "demo",
    "doctor",
    "event_to_json",
    "evidence_to_json",
    "execute",
    "failures",
    "find_roadmap",
    "init",
    "log",
    "logs",
    "plan",
    "plan_to_json",
    "preview",
    "proof",
    "proof_to_json",
    "replay",
    "resume",
    "run",
    "sample_roadmap",
    "status",
    "stop",
    "undo",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'milepost' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__


class _Library(ModuleType):
    """Where a call has the name of a room, such as `plan`, the call has it: importing the room does not take it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Library
