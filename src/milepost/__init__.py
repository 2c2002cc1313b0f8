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
    from milepost.agents.patterns.trial import PatternEntry, PatternTrial
    from milepost.agents.replay import ReplayAgent
    from milepost.api import (
        agent,
        answer_gate,
        assignment,
        attempt_logs,
        attempt_story,
        attempts,
        bench,
        bench_rows,
        bench_to_json,
        changed_files,
        chaos,
        chaos_findings,
        chaos_rows,
        chaos_to_json,
        choices,
        clean,
        context,
        costs,
        critical_path,
        demo,
        diff,
        doctor,
        edit_task,
        entry_to_json,
        event_to_json,
        events,
        evidence_to_json,
        execute,
        explain,
        explain_roadmap,
        failures,
        file_at,
        find_roadmap,
        forecast,
        init,
        last_agent,
        log,
        logs,
        mark,
        marks,
        memory_to_json,
        names_projects,
        new_roadmap,
        normalise,
        open_executor,
        open_stream,
        pattern,
        patterns,
        plan,
        plan_projects,
        plan_to_graph,
        plan_to_json,
        preview,
        projects,
        projects_plan_to_json,
        projects_run_to_json,
        projects_to_json,
        proof,
        proof_to_json,
        proposals,
        renamed,
        replay,
        replay_run,
        report,
        report_place,
        report_to_html,
        report_to_markdown,
        restore,
        resume,
        resume_detached,
        retry,
        retry_detached,
        roadmap_templates,
        run,
        run_files,
        run_plan,
        run_projects,
        run_replayed_to_json,
        running,
        sample_roadmap,
        sh,
        start_detached,
        state_folder,
        status,
        steer,
        stop,
        sync,
        task_text,
        together,
        together_to_json,
        try_pattern,
        undo,
        unmark,
        verify,
        waiting_gates,
        why_it_ended,
        work,
        write_report,
    )
    from milepost.bench.report import Report, TaskReport
    from milepost.core.attempt import Assignment, Attempt, Outcome, Workspace
    from milepost.core.commands import Command, CommandResult, ExecutionLimits, ExecutionResult, Line, TrustLevel
    from milepost.core.errors import (
        EditRefused,
        GateChanged,
        GateClosed,
        GateUnknown,
        MilepostError,
        Misuse,
        RunUnknown,
        TaskChanged,
        TaskUnknown,
    )
    from milepost.core.events import (
        AgentChosen,
        AgentSaid,
        AgentSignalled,
        AttemptFinished,
        BudgetReached,
        CheckFinished,
        CommandFinished,
        CommandPrinted,
        CommandStarted,
        Event,
        EventsTakenBack,
        ForecastMade,
        GateAnswered,
        GateOpened,
        LessonsTold,
        MemoryWaits,
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
    from milepost.core.memories import (
        Assessment,
        Episode,
        EpisodeEnd,
        EpisodeStart,
        EpisodeStep,
        Heuristic,
        Lesson,
        LessonStanding,
        Pattern,
    )
    from milepost.core.ports import Agent, Executor, Tools
    from milepost.core.task import Plan, Problem, Remark, Task, Wait
    from milepost.core.verdict import CheckResult, Evidence, Verdict
    from milepost.detached import Begun
    from milepost.engine.agreement import Mismatch
    from milepost.engine.anywhere import Ending
    from milepost.engine.arriving import MemberEnding, TogetherEnding
    from milepost.engine.by_hand import ByHand
    from milepost.engine.changed import FileChange, FilesChanged
    from milepost.engine.chaos.report import ChaosReport
    from milepost.engine.chaos.run import ChaosProgress
    from milepost.engine.composing import Composed
    from milepost.engine.context_now import TaskContext
    from milepost.engine.costs import Costs, Expense
    from milepost.engine.doctor import Finding
    from milepost.engine.editing import TaskText
    from milepost.engine.forecast import Forecast
    from milepost.engine.gates import Gate
    from milepost.engine.history import Difference, Tried
    from milepost.engine.in_turn import InTurnEnding, ProjectEnding
    from milepost.engine.journal import Entry
    from milepost.engine.lease import Worker
    from milepost.engine.look import Proof, Status
    from milepost.engine.marks import Mark
    from milepost.engine.normalising import Normalised
    from milepost.engine.prepare import NothingToDo
    from milepost.engine.progress import Progress
    from milepost.engine.proving import Replayed, Verified
    from milepost.engine.recollections import (
        LessonStory,
        MemoryFinding,
        MemoryStats,
        MemorySynced,
        Recollection,
        Unsynced,
    )
    from milepost.engine.remembering import ProjectMemory, open_memory
    from milepost.engine.renamed import Renamed
    from milepost.engine.replaying import RunReplayed, TaskReplayed
    from milepost.engine.report.facts import AttemptStory, CheckStory, NothingRun, RunStory, TaskAttempt
    from milepost.engine.restore import Restored
    from milepost.engine.retention import Remains
    from milepost.engine.reverting import TakenBack
    from milepost.engine.router import Choice
    from milepost.engine.run_files import FileText, RunFile, RunFiles
    from milepost.engine.run_plan import PlanFinding, PlannedTask, RunPlan
    from milepost.engine.start import Stopped
    from milepost.engine.submit import Elsewhere
    from milepost.engine.sync import Synced
    from milepost.engine.tail import EventStream, Opening, Row, RunGlance
    from milepost.engine.undo import Undone
    from milepost.memory.catalogue import Move, Told
    from milepost.memory.forgetting import Forgotten
    from milepost.memory.intake import Imported
    from milepost.memory.lift import Lift
    from milepost.memory.recall.search import Found
    from milepost.plan.family.joint import FamilyPlan, ProjectPlan, ProjectProblem
    from milepost.plan.family.kinship import Family, Sibling
    from milepost.plan.proposals import Proposal
    from milepost.repair.failures import FailureStats
    from milepost.roadmap.explain import Explanation
    from milepost.roadmap.templates import Template
    from milepost.sandbox.changes import Change, Changes
    from milepost.sandbox.executor import WalledExecutor
    from milepost.sandbox.local import LocalExecutor
    from milepost.sandbox.policy import Decision
    from milepost.sandbox.typescript.executor import TypeScriptExecutor
    from milepost.workspace.mileposts import Milepost

_HOMES = {
    "milepost.api": "agent assignment bench bench_rows bench_to_json chaos chaos_findings chaos_rows chaos_to_json "
    "choices clean "
    "context costs critical_path demo doctor entry_to_json event_to_json events evidence_to_json execute explain "
    "explain_roadmap failures find_roadmap forecast init log logs open_executor plan plan_to_graph plan_to_json "
    "open_stream preview proof proof_to_json proposals renamed replay "
    "replay_run run_replayed_to_json "
    "report report_place report_to_html report_to_markdown resume run sample_roadmap sh state_folder status "
    "steer stop sync together together_to_json "
    "names_projects plan_projects projects projects_plan_to_json projects_run_to_json projects_to_json run_projects "
    "undo verify answer_gate gate_to_json running waiting_gates work write_report "
    "attempts diff mark marks pattern patterns restore try_pattern unmark new_roadmap normalise roadmap_templates "
    "memory_to_json task_text edit_task start_detached resume_detached retry_detached why_it_ended last_agent "
    "retry attempt_story attempt_logs changed_files run_files file_at run_plan",
    "milepost.agents.command": "CommandAgent",
    "milepost.agents.patterns.agent": "PatternAgent",
    "milepost.agents.patterns.trial": "PatternEntry PatternTrial",
    "milepost.agents.replay": "ReplayAgent",
    "milepost.bench.report": "Report TaskReport",
    "milepost.core.attempt": "Assignment Attempt Outcome Workspace",
    "milepost.core.commands": "Command CommandResult ExecutionLimits ExecutionResult Line TrustLevel",
    "milepost.core.errors": "MilepostError Misuse EditRefused TaskChanged GateChanged GateClosed GateUnknown "
    "RunUnknown TaskUnknown",
    "milepost.core.events": "AgentChosen AgentSaid AgentSignalled AttemptFinished BudgetReached CheckFinished Event "
    "CommandFinished CommandPrinted CommandStarted EventsTakenBack "
    "ForecastMade GateAnswered GateOpened LessonsTold MemoryWaits MilepostMade ModelCalled RunFinished RunResumed "
    "RunStarted RunStopping StageStarted Steered TaskFinished TaskSummary ToolUsed WorkerChanged",
    "milepost.core.memories": "Assessment Episode EpisodeEnd EpisodeStart EpisodeStep Heuristic Lesson LessonStanding "
    "Pattern",
    "milepost.core.ports": "Agent Executor Tools",
    "milepost.core.task": "Plan Problem Remark Task Wait",
    "milepost.core.verdict": "CheckResult Evidence Verdict",
    "milepost.engine.arriving": "MemberEnding TogetherEnding",
    "milepost.engine.by_hand": "ByHand",
    "milepost.engine.chaos.report": "ChaosReport",
    "milepost.engine.chaos.run": "ChaosProgress",
    "milepost.engine.context_now": "TaskContext",
    "milepost.engine.composing": "Composed",
    "milepost.engine.costs": "Costs Expense",
    "milepost.engine.doctor": "Finding",
    "milepost.engine.forecast": "Forecast",
    "milepost.engine.gates": "Gate",
    "milepost.engine.history": "Difference Tried",
    "milepost.engine.in_turn": "InTurnEnding ProjectEnding",
    "milepost.engine.journal": "Entry",
    "milepost.engine.lease": "Worker",
    "milepost.engine.look": "Proof Status",
    "milepost.engine.marks": "Mark",
    "milepost.engine.normalising": "Normalised",
    "milepost.engine.prepare": "NothingToDo",
    "milepost.engine.progress": "Progress",
    "milepost.engine.proving": "Replayed Verified",
    "milepost.engine.recollections": "LessonStory MemoryFinding MemoryStats MemorySynced Recollection Unsynced",
    "milepost.engine.remembering": "ProjectMemory open_memory",
    "milepost.engine.replaying": "RunReplayed TaskReplayed",
    "milepost.engine.report.facts": "NothingRun RunStory AttemptStory CheckStory TaskAttempt",
    "milepost.engine.restore": "Restored",
    "milepost.engine.retention": "Remains",
    "milepost.engine.reverting": "TakenBack",
    "milepost.engine.router": "Choice",
    "milepost.engine.anywhere": "Ending",
    "milepost.engine.start": "Stopped",
    "milepost.engine.submit": "Elsewhere",
    "milepost.engine.agreement": "Mismatch",
    "milepost.engine.renamed": "Renamed",
    "milepost.engine.sync": "Synced",
    "milepost.engine.tail": "EventStream Opening Row RunGlance",
    "milepost.engine.undo": "Undone",
    "milepost.memory.catalogue": "Move Told",
    "milepost.memory.forgetting": "Forgotten",
    "milepost.memory.intake": "Imported",
    "milepost.memory.lift": "Lift",
    "milepost.memory.recall.search": "Found",
    "milepost.plan.proposals": "Proposal",
    "milepost.plan.family.joint": "FamilyPlan ProjectPlan ProjectProblem",
    "milepost.plan.family.kinship": "Family Sibling",
    "milepost.repair.failures": "FailureStats",
    "milepost.roadmap.explain": "Explanation",
    "milepost.roadmap.templates": "Template",
    "milepost.sandbox.changes": "Change Changes",
    "milepost.sandbox.executor": "WalledExecutor",
    "milepost.sandbox.local": "LocalExecutor",
    "milepost.sandbox.policy": "Decision",
    "milepost.sandbox.typescript.executor": "TypeScriptExecutor",
    "milepost.workspace.mileposts": "Milepost",
    "milepost.engine.editing": "TaskText",
    "milepost.detached": "Begun",
    "milepost.engine.changed": "FileChange FilesChanged",
    "milepost.engine.run_files": "FileText RunFile RunFiles",
    "milepost.engine.run_plan": "PlanFinding PlannedTask RunPlan",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentChosen",
    "AgentSaid",
    "AgentSignalled",
    "Assessment",
    "Assignment",
    "Attempt",
    "AttemptFinished",
    "AttemptStory",
    "Begun",
    "BudgetReached",
    "ByHand",
    "Change",
    "Changes",
    "ChaosProgress",
    "ChaosReport",
    "CheckFinished",
    "CheckResult",
    "CheckStory",
    "Choice",
    "Command",
    "CommandAgent",
    "CommandFinished",
    "CommandPrinted",
    "CommandResult",
    "CommandStarted",
    "Composed",
    "Costs",
    "Decision",
    "Difference",
    "EditRefused",
    "Elsewhere",
    "Ending",
    "Entry",
    "Episode",
    "EpisodeEnd",
    "EpisodeStart",
    "EpisodeStep",
    "Event",
    "EventStream",
    "EventsTakenBack",
    "Evidence",
    "ExecutionLimits",
    "ExecutionResult",
    "Executor",
    "Expense",
    "Explanation",
    "FailureStats",
    "Family",
    "FamilyPlan",
    "FileChange",
    "FileText",
    "FilesChanged",
    "Finding",
    "Forecast",
    "ForecastMade",
    "Forgotten",
    "Found",
    "Gate",
    "GateAnswered",
    "GateChanged",
    "GateClosed",
    "GateOpened",
    "GateUnknown",
    "Heuristic",
    "Imported",
    "InTurnEnding",
    "Lesson",
    "LessonStanding",
    "LessonStory",
    "LessonsTold",
    "Lift",
    "Line",
    "LocalExecutor",
    "Mark",
    "MemberEnding",
    "MemoryFinding",
    "MemoryStats",
    "MemorySynced",
    "MemoryWaits",
    "Milepost",
    "MilepostError",
    "MilepostMade",
    "Mismatch",
    "Misuse",
    "ModelCalled",
    "Move",
    "Normalised",
    "NothingRun",
    "NothingToDo",
    "Opening",
    "Outcome",
    "Pattern",
    "PatternAgent",
    "PatternEntry",
    "PatternTrial",
    "Plan",
    "PlanFinding",
    "PlannedTask",
    "Problem",
    "Progress",
    "ProjectEnding",
    "ProjectMemory",
    "ProjectPlan",
    "ProjectProblem",
    "Proof",
    "Proposal",
    "Recollection",
    "Remains",
    "Remark",
    "Renamed",
    "ReplayAgent",
    "Replayed",
    "Report",
    "Restored",
    "Row",
    "RunFile",
    "RunFiles",
    "RunFinished",
    "RunGlance",
    "RunPlan",
    "RunReplayed",
    "RunResumed",
    "RunStarted",
    "RunStopping",
    "RunStory",
    "RunUnknown",
    "Sibling",
    "StageStarted",
    "Status",
    "Steered",
    "Stopped",
    "Synced",
    "TakenBack",
    "Task",
    "TaskAttempt",
    "TaskChanged",
    "TaskContext",
    "TaskFinished",
    "TaskReplayed",
    "TaskReport",
    "TaskSummary",
    "TaskText",
    "TaskUnknown",
    "Template",
    "TogetherEnding",
    "Told",
    "ToolUsed",
    "Tools",
    "Tried",
    "TrustLevel",
    "TypeScriptExecutor",
    "Undone",
    "Unsynced",
    "Verdict",
    "Verified",
    "Wait",
    "WalledExecutor",
    "Worker",
    "WorkerChanged",
    "Workspace",
    "agent",
    "answer_gate",
    "assignment",
    "attempt_logs",
    "attempt_story",
    "attempts",
    "bench",
    "bench_rows",
    "bench_to_json",
    "changed_files",
    "chaos",
    "chaos_findings",
    "chaos_rows",
    "chaos_to_json",
    "choices",
    "clean",
    "context",
    "costs",
    "critical_path",
    "demo",
    "diff",
    "doctor",
    "edit_task",
    "entry_to_json",
    "event_to_json",
    "events",
    "evidence_to_json",
    "execute",
    "explain",
    "explain_roadmap",
    "failures",
    "file_at",
    "find_roadmap",
    "forecast",
    "gate_to_json",
    "init",
    "last_agent",
    "log",
    "logs",
    "mark",
    "marks",
    "memory_to_json",
    "names_projects",
    "new_roadmap",
    "normalise",
    "open_executor",
    "open_memory",
    "open_stream",
    "pattern",
    "patterns",
    "plan",
    "plan_projects",
    "plan_to_graph",
    "plan_to_json",
    "preview",
    "projects",
    "projects_plan_to_json",
    "projects_run_to_json",
    "projects_to_json",
    "proof",
    "proof_to_json",
    "proposals",
    "renamed",
    "replay",
    "replay_run",
    "report",
    "report_place",
    "report_to_html",
    "report_to_markdown",
    "restore",
    "resume",
    "resume_detached",
    "retry",
    "retry_detached",
    "roadmap_templates",
    "run",
    "run_files",
    "run_plan",
    "run_projects",
    "run_replayed_to_json",
    "running",
    "sample_roadmap",
    "sh",
    "start_detached",
    "state_folder",
    "status",
    "steer",
    "stop",
    "sync",
    "task_text",
    "together",
    "together_to_json",
    "try_pattern",
    "undo",
    "unmark",
    "verify",
    "waiting_gates",
    "why_it_ended",
    "work",
    "write_report",
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
