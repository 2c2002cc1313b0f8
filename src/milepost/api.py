"""The library: everything that the command line does, as typed calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milepost.core.events import Event
from milepost.core.task import Plan
from milepost.core.verdict import CheckResult, Evidence

if TYPE_CHECKING:
    from milepost.bench.report import Report, TaskReport
    from milepost.core.commands import ExecutionLimits, ExecutionResult
    from milepost.core.ports import Agent
    from milepost.engine.doctor import Finding
    from milepost.engine.look import Proof, Status
    from milepost.engine.prepare import NothingToDo
    from milepost.engine.proving import Replayed, Verified
    from milepost.engine.start import Ending
    from milepost.engine.undo import Undone
    from milepost.repair.failures import FailureStats
    from milepost.workspace.mileposts import Milepost

OnEvent = Callable[[Event], None]
OnCheck = Callable[[CheckResult], None]


def find_roadmap(roadmap: Path | str | None = None) -> Path:
    """The file that a call means by `roadmap`: the one that is named, or the one of this folder or above it."""
    from milepost.engine.project import find_roadmap as find

    return find(_path(roadmap))


def plan(roadmap: Path | str | None = None) -> Plan:
    """Read a roadmap and plan it: tasks, waves, and what to look at before money is spent."""
    from milepost.engine.project import read_bytes
    from milepost.plan.graph import plan as make_plan
    from milepost.roadmap import read

    return make_plan(read(read_bytes(find_roadmap(roadmap))))


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan as `milepost plan --json` prints it."""
    from milepost.plan.wire import to_json

    return to_json(plan)


def event_to_json(event: Event) -> dict[str, Any]:
    """An event as one line of `milepost run --json`: its kind first."""
    from milepost.engine.journal import event_to_json as to_json

    return to_json(event)


def proof_to_json(proof: Proof) -> dict[str, Any]:
    """A proof as `milepost proof --json` prints it."""
    from milepost.verify.proof import to_json

    return to_json(task=proof.task, run=proof.run, attempt=proof.attempt, commit=proof.commit, evidence=proof.evidence)


def evidence_to_json(evidence: Evidence) -> dict[str, Any]:
    """Evidence as `milepost verify --json` prints it."""
    from milepost.verify.proof import evidence_to_json as to_json

    return to_json(evidence)


def run(
    roadmap: Path | str | None = None,
    *,
    agent: str | Agent | None = None,
    parallel: int | None = None,
    trust: str | None = None,
    tasks: tuple[str, ...] = (),
    max_tasks: int | None = None,
    new: bool = False,
    on_event: OnEvent | None = None,
) -> Ending:
    """Work on a roadmap until every open task has its milepost or its reason; goes on with an interrupted run.

    `agent` is a name, or an object with the `Agent` port's method; an object must be given again to `resume`.
    """
    from milepost.engine import start
    from milepost.engine.prepare import Wish

    wish = Wish(
        roadmap=_path(roadmap),
        agent=_name(agent),
        parallel=parallel,
        trust=trust,
        tasks=tasks,
        max_tasks=max_tasks,
        new=new,
    )
    return start.run(wish, on_event or _ignore, _given(agent))


def preview(
    roadmap: Path | str | None = None,
    *,
    agent: str | Agent | None = None,
    parallel: int | None = None,
    trust: str | None = None,
    tasks: tuple[str, ...] = (),
    max_tasks: int | None = None,
    new: bool = False,
) -> tuple[str, ...] | NothingToDo:
    """The tasks that `run` would work on, in the order they may start; refuses what `run` refuses, changes nothing."""
    from milepost.engine.prepare import Wish
    from milepost.engine.preview import preview as look_ahead

    wish = Wish(
        roadmap=_path(roadmap),
        agent=_name(agent),
        parallel=parallel,
        trust=trust,
        tasks=tasks,
        max_tasks=max_tasks,
        new=new,
    )
    return look_ahead(wish, _given(agent))


def resume(roadmap: Path | str | None = None, *, agent: Agent | None = None, on_event: OnEvent | None = None) -> Ending:
    """Go on with the run that was interrupted; its flags are recorded."""
    from milepost.engine import start

    return start.resume(_path(roadmap), on_event or _ignore, _given(agent))


def stop(roadmap: Path | str | None = None, *, at_once: bool = False) -> str | None:
    """Stop the run that is going on in another process, and wait until it has; gives its id, None without one."""
    from milepost.engine import start

    return start.stop(_path(roadmap), at_once=at_once)


def status(roadmap: Path | str | None = None) -> Status | None:
    """The newest run and all that happened in it."""
    from milepost.engine import look

    return look.status(_path(roadmap))


def log(roadmap: Path | str | None = None) -> tuple[Milepost, ...]:
    """The mileposts, newest first."""
    from milepost.engine import look

    return look.log(_path(roadmap))


def proof(task: str, roadmap: Path | str | None = None) -> Proof:
    """The evidence for a task's milepost, or for its last attempt where it has none."""
    from milepost.engine import look

    return look.proof(_path(roadmap), task)


def logs(task: str, roadmap: Path | str | None = None) -> tuple[tuple[str, str], ...]:
    """The whole output of each check behind a task's proof: its name and the text."""
    from milepost.engine import look

    return look.logs(_path(roadmap), task)


def verify(task: str | None = None, roadmap: Path | str | None = None, *, on_check: OnCheck | None = None) -> Verified:
    """Put the checks to the files as they are now, committed or not; `task` adds what that task asks for."""
    from milepost.engine.proving import verify_now

    return verify_now(_path(roadmap), task, on_check or _ignore_check)


def replay(task: str, roadmap: Path | str | None = None, *, on_check: OnCheck | None = None) -> Replayed:
    """Prove a milepost again on the tree that it recorded, and compare with the evidence that it carries."""
    from milepost.engine.proving import replay as prove_again

    return prove_again(_path(roadmap), task, on_check or _ignore_check)


def failures(roadmap: Path | str | None = None) -> tuple[FailureStats, ...]:
    """What failed here, most often first, and what mended it."""
    from milepost.engine import look

    return look.failures(_path(roadmap))


def undo(task: str, roadmap: Path | str | None = None) -> Undone:
    """Take the milepost of one task back and keep all others."""
    from milepost.engine.undo import undo as take_back

    return take_back(_path(roadmap), task)


def init(folder: Path | str | None = None) -> tuple[Path, ...]:
    """Write a first roadmap and settings where there are none; gives the files it made."""
    from milepost.engine.init import init as set_up

    return set_up(_path(folder) or Path.cwd())


def doctor(folder: Path | str | None = None) -> tuple[Finding, ...]:
    """What works on this machine and what is missing."""
    from milepost.engine.doctor import examine

    return examine(_path(folder) or Path.cwd())


def agent(name: str, folder: Path | str | None = None) -> Agent:
    """The agent of a name, as `--agent` takes it; relative paths in it start from `folder`, the roadmap's."""
    from milepost.agents.names import agent_named

    return agent_named(name, folder=_path(folder) or Path.cwd())


def execute(
    code: str, *, trust: str | None = None, limits: ExecutionLimits | None = None, workspace: Path | str | None = None
) -> ExecutionResult:
    """Run Python code in the sandbox, once."""
    from milepost.core.commands import ExecutionLimits, trust_named
    from milepost.sandbox.levels import open_executor, strongest

    level = trust_named(trust) if trust else strongest()
    with open_executor(level, limits or ExecutionLimits(), workspace=_path(workspace)) as executor:
        return executor.run(code)


def bench(agent: str, *, tasks: tuple[str, ...] = (), on_result: Callable[[TaskReport], None] | None = None) -> Report:
    """Let an agent do the benchmark's tasks, judged by checks that it never sees.

    `reference` is an agent that brings the solutions, `null` one that does nothing.
    """
    from milepost.bench import run_bench

    return run_bench(agent, tasks, None, on_result)


def bench_to_json(report: Report) -> dict[str, Any]:
    """The report of a benchmark as `milepost bench --json` prints it."""
    from milepost.bench import to_json

    return to_json(report)


def bench_rows(report: Report) -> list[tuple[str, ...]]:
    """The report of a benchmark as rows of words: headings, a row a task, the sums."""
    from milepost.bench import rows

    return rows(report)


def demo(folder: Path | str, *, on_event: OnEvent | None = None) -> Ending:
    """Make the sample repository in an empty folder and run its roadmap, with no key and no network."""
    from milepost.demo import run_demo

    return run_demo(Path(folder), on_event or _ignore)


def sample_roadmap() -> str:
    """The roadmap of the sample repository, as it is before the demonstration."""
    from milepost.demo import SAMPLE

    return (SAMPLE / "ROADMAP.md").read_text(encoding="utf-8")


def _path(path: Path | str | None) -> Path | None:
    return Path(path) if path is not None else None


def _given(agent: str | Agent | None) -> dict[str, Agent]:
    return {} if agent is None or isinstance(agent, str) else {f"object:{type(agent).__name__}": agent}


def _name(agent: str | Agent | None) -> str | None:
    return agent if agent is None or isinstance(agent, str) else next(iter(_given(agent)))


def _ignore(_: Event) -> None:
    pass


def _ignore_check(_: CheckResult) -> None:
    pass
